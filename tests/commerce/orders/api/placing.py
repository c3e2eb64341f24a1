from tests import factories
from tests.storefront import checkout_in


def place(shop, *, payment_method="cod"):
    """Place an order of two out of five units; return it as in the admin API."""
    variant = factories.make_variant(shop, stock=5)
    checkout = checkout_in("completed", shop, (variant, 2), payment_method=payment_method)
    return get_order(shop, checkout["order_id"])


def get_order(shop, order_id):
    return shop.admin.get(f"orders/{order_id}.json").json()["order"]

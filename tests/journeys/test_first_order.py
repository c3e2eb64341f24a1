"""From an empty cart to an order, its stock, its event and its confirmation's dispatch."""

from commerce.events.models import Event
from commerce.inventory.models import InventoryLevel, Reservation
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from tests import factories
from tests.storefront import EMAIL, checkout_in


def test_order_of_a_gross_market_is_placed_whole(shop):
    factories.make_tax_rate(shop, 1900)
    book = factories.make_variant(shop, price_cents=1190, stock=10)
    pen = factories.make_variant(shop, price_cents=333, stock=10)
    rate = factories.make_rate(shop, price_cents=490, method=factories.make_method(shop, cod_fee_cents=150))

    checkout = checkout_in("completed", shop, (book, 2), (pen, 3), rate=rate)

    assert checkout["phase"] == "completed"
    assert checkout["totals"] == {
        "currency": "EUR",
        "subtotal_with_tax_cents": "3379",
        "subtotal_without_tax_cents": "2839",
        "discount_cents": "0",
        "shipping_cents": "490",
        "shipping_discount_cents": "0",
        "shipping_tax_cents": "78",
        "cod_fee_cents": "150",
        "cod_fee_tax_cents": "24",
        "tax_cents": "642",
        "total_cents": "4019",
        "gift_card_cents": "0",
        "amount_due_cents": "4019",
        "line_count": 2,
        "item_count": 5,
    }
    order = shop.storefront.get(f"orders/{checkout['order_token']}.json").json()["order"]
    assert order["number"] == "1001"
    assert order["totals"] == checkout["totals"]
    assert [(line["sku"], line["quantity"]) for line in order["line_items"]] == [(book.sku, 2), (pen.sku, 3)]
    with shop.scope():
        levels = {level.variant_id: level for level in InventoryLevel.objects.all()}
        assert (levels[book.pk].on_hand, levels[book.pk].reserved, levels[book.pk].committed) == (10, 0, 2)
        assert (levels[pen.pk].on_hand, levels[pen.pk].reserved, levels[pen.pk].committed) == (10, 0, 3)
        assert {r.status for r in Reservation.objects.all()} == {"committed"}
        assert [event.type for event in Event.objects.order_by("pk")] == [
            "checkout.created",
            "checkout.completed",
        ]
        dispatch = OutboxDispatch.objects.get()
        placed = Order.objects.get()
    assert dispatch.target == {"task_name": "send_email"}
    assert dispatch.payload["to_email"] == EMAIL
    assert dispatch.payload["ctx"]["order"]["totals"]["total_cents"] == "4019"
    assert placed.customer_id == int(checkout["customer_id"])
    cart = shop.storefront.get(f"carts/{checkout['cart_token']}.json").json()["cart"]
    assert cart["status"] == "converted"

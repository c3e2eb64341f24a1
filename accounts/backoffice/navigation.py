"""The sidebar: the pages that the member may see, grouped by what they are about."""

from collections.abc import Iterable
from typing import Any

# (title, [(model, icon)]) in the order of the day's work.
_GROUPS: list[tuple[str, list[tuple[str, str]]]] = [
    (
        "Sales",
        [
            ("orders.order", "receipt_long"),
            ("checkouts.checkout", "point_of_sale"),
            ("carts.cart", "shopping_cart"),
        ],
    ),
    (
        "Catalogue",
        [("catalog.product", "inventory_2"), ("catalog.variant", "style"), ("taxes.taxrate", "percent")],
    ),
    (
        "Inventory",
        [
            ("inventory.inventorylevel", "warehouse"),
            ("inventory.location", "pin_drop"),
            ("inventory.inventoryadjustment", "swap_vert"),
        ],
    ),
    ("Customers", [("customers.customer", "group"), ("customers.segment", "filter_alt")]),
    (
        "Promotions",
        [
            ("discounts.discount", "sell"),
            ("discounts.discountredemption", "redeem"),
            ("discounts.voucher", "card_giftcard"),
            ("discounts.voucherredemption", "history"),
        ],
    ),
    (
        "Shipping",
        [
            ("shipping.shippingzone", "public"),
            ("shipping.shippingmethod", "local_shipping"),
            ("shipping.pickuppoint", "storefront"),
        ],
    ),
    (
        "Messages",
        [("emails.emaildelivery", "mail"), ("outbox.outboxdispatch", "outbox"), ("events.event", "bolt")],
    ),
    (
        "Settings",
        [
            ("accounts.account", "store"),
            ("accounts.market", "language"),
            ("configuration.accountsetting", "tune"),
            ("accounts.apikey", "key"),
            ("accounts.staffmembership", "badge"),
            ("accounts.user", "person"),
            ("backoffice.staffaction", "list_alt"),
        ],
    ),
]


def groups(app_list: Iterable[dict[str, Any]], current_path: str) -> list[dict[str, Any]]:
    """Unfold's sidebar entries for the models of `app_list`, which holds those that the member may see."""
    pages = {model["model"]._meta.label_lower: model for app in app_list for model in app["models"]}
    return [
        {
            "title": title,
            "items": [_item(pages[label], icon, current_path) for label, icon in entries if label in pages],
        }
        for title, entries in _GROUPS
        if any(label in pages for label, _ in entries)
    ]


def _item(page: dict[str, Any], icon: str, current_path: str) -> dict[str, Any]:
    link = page["admin_url"]
    return {
        "title": page["name"],
        "icon": icon,
        "link": link,
        "has_permission": True,
        "active": current_path.startswith(link),
    }

"""The sidebar: the pages that the member may see, in groups."""

from collections.abc import Iterable, Iterator
from typing import Any

# Groups in the order of a day's work: (model or a page below its list, title, icon).
_GROUPS: dict[str, list[tuple[str, str, str]]] = {
    "Sales": [
        ("orders.order", "Orders", "receipt_long"),
        ("checkouts.checkout", "Checkouts", "point_of_sale"),
        ("carts.cart", "Carts", "shopping_cart"),
    ],
    "Catalogue": [
        ("catalog.product", "Products", "inventory_2"),
        ("catalog.variant", "Variants and prices", "style"),
        ("taxes.taxrate", "Tax rates", "percent"),
    ],
    "Inventory": [
        ("inventory.inventorylevel", "Stock", "warehouse"),
        ("inventory.inventoryadjustment", "Adjustments", "swap_vert"),
        ("inventory.location", "Locations", "pin_drop"),
    ],
    "Customers": [
        ("customers.customer", "Customers", "group"),
        ("customers.segment", "Segments", "filter_alt"),
    ],
    "Promotions": [
        ("discounts.discount", "Discounts", "sell"),
        ("checkouts.checkout/try-discounts/", "Try discounts", "percent"),
        ("discounts.discountredemption", "Discount ledger", "history"),
        ("discounts.voucher", "Gift cards", "card_giftcard"),
        ("discounts.voucherredemption", "Gift card ledger", "history"),
    ],
    "Shipping": [
        ("shipping.shippingzone", "Zones", "public"),
        ("shipping.shippingmethod", "Methods and rates", "local_shipping"),
        ("shipping.shippingzone/test/", "Test an address", "travel_explore"),
        ("shipping.pickuppoint", "Pickup points", "storefront"),
    ],
    "Messages": [
        ("emails.emaildelivery", "Emails", "mail"),
        ("emails.emailtemplateversion", "Email templates", "edit_note"),
        ("emails.senderdomain", "Sender domain", "dns"),
        ("outbox.outboxdispatch", "Outbox", "outbox"),
        ("events.event", "Events", "bolt"),
        ("webhooks.webhookendpoint", "Webhooks", "webhook"),
        ("webhooks.webhookdelivery", "Webhook deliveries", "history"),
    ],
    "Settings": [
        ("accounts.account", "Shop", "store"),
        ("accounts.market", "Markets", "language"),
        ("configuration.accountsetting", "Settings", "tune"),
        ("accounts.apikey", "API keys", "key"),
        ("accounts.staffmembership", "Staff", "badge"),
        ("accounts.staffinvitation", "Invitations", "person_add"),
        ("backoffice.staffaction", "Activity", "list_alt"),
        ("accounts.user", "Users", "person"),
    ],
}


def build_sidebar(app_list: Iterable[dict[str, Any]], current_path: str) -> list[dict[str, object]]:
    """Return Unfold's sidebar entries for the models in `app_list`, those that the member may see.

    Pages without a group, such as those of added apps, come last.
    """
    links = {page["model"]._meta.label_lower: page["admin_url"] for app in app_list for page in app["models"]}
    found = {
        group: [
            _make_item(title, icon, links[model] + path)
            for model, path, title, icon in _split_addresses(pages)
            if model in links
        ]
        for group, pages in _GROUPS.items()
    }
    listed = {model for pages in _GROUPS.values() for model, *_ in _split_addresses(pages)}
    found["More"] = [
        _make_item(page["name"], "table", page["admin_url"])
        for app in app_list
        for page in app["models"]
        if page["model"]._meta.label_lower not in listed
    ]
    # Pages may lie below others, such as the tester below the zones: the longest matching path is the current one.
    around = [item for items in found.values() for item in items if current_path.startswith(item["link"])]
    if around:
        max(around, key=lambda item: len(item["link"]))["active"] = True
    return [{"title": group, "items": items} for group, items in found.items() if items]


def _split_addresses(pages: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str, str]]:
    for address, title, icon in pages:
        model, _, path = address.partition("/")
        yield model, path, title, icon


def _make_item(title: str, icon: str, link: str) -> dict[str, Any]:
    # Django has left out of the app list what the member may not see.
    return {"title": title, "icon": icon, "link": link, "has_permission": True, "active": False}

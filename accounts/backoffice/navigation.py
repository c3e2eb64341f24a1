"""The sidebar: the day's tasks, then the pages that the member may see, grouped by kind of work."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from commerce.backoffice.figures import (
    MOST_IN_NAVIGATION,
    Task,
    count_tasks_for_navigation,
    list_tasks,
)
from commerce.tenancy.scope import account_in_scope

# Groups in the order of a day's work: (model or a page below its list, title, icon).
_GROUPS: dict[str | Promise, list[tuple[str, str | Promise, str]]] = {
    _("Sales"): [
        ("orders.order", _("Orders"), "receipt_long"),
        ("checkouts.checkout", _("Checkouts"), "point_of_sale"),
        ("carts.cart", _("Carts"), "shopping_cart"),
    ],
    _("Catalogue"): [
        ("catalog.product", _("Products"), "inventory_2"),
        ("catalog.variant", _("Variants and prices"), "style"),
        ("inventory.inventorylevel", _("Stock"), "warehouse"),
        ("inventory.inventoryadjustment", _("Changes of stock"), "swap_vert"),
    ],
    _("Customers"): [
        ("customers.customer", _("Customers"), "group"),
        ("customers.segment", _("Segments"), "filter_alt"),
        ("emails.emaildelivery", _("Emails"), "mail"),
    ],
    _("Promotions"): [
        ("discounts.discount", _("Discounts"), "sell"),
        ("checkouts.checkout/try-discounts/", _("Try discounts"), "percent"),
        ("discounts.voucher", _("Gift cards"), "card_giftcard"),
        ("discounts.discountredemption", _("Discount ledger"), "history"),
        ("discounts.voucherredemption", _("Gift card ledger"), "history"),
    ],
    _("Shop"): [
        ("accounts.account", _("Shop"), "store"),
        ("accounts.market", _("Markets"), "language"),
        ("configuration.accountsetting", _("Settings"), "tune"),
        ("taxes.taxrate", _("Tax rates"), "percent"),
        ("inventory.location", _("Locations"), "pin_drop"),
        ("emails.emailtemplateversion", _("Email templates"), "edit_note"),
        ("emails.senderdomain", _("Sender domain"), "dns"),
    ],
    _("Shipping"): [
        ("shipping.shippingzone", _("Zones"), "public"),
        ("shipping.shippingmethod", _("Methods and rates"), "local_shipping"),
        ("shipping.shippingzone/test/", _("Test an address"), "travel_explore"),
        ("shipping.pickuppoint", _("Pickup points"), "storefront"),
    ],
    _("People and keys"): [
        ("accounts.staffmembership", _("Staff"), "badge"),
        ("accounts.staffrole", _("Roles"), "shield_person"),
        ("accounts.staffinvitation", _("Invitations"), "person_add"),
        ("accounts.apikey", _("API keys"), "key"),
        ("backoffice.staffaction", _("Activity"), "list_alt"),
        ("accounts.user", _("Users"), "person"),
    ],
    _("Behind the scenes"): [
        ("outbox.outboxdispatch", _("Outbox"), "outbox"),
        ("events.event", _("Events"), "bolt"),
        ("webhooks.webhookendpoint", _("Webhooks"), "webhook"),
        ("webhooks.webhookdelivery", _("Webhook deliveries"), "history"),
    ],
}


def build_sidebar(request: HttpRequest, app_list: Iterable[dict[str, Any]]) -> list[dict[str, object]]:
    """Return Unfold's sidebar entries for the models in `app_list`, those that the member may see.

    Pages without a group, such as those of added apps, come last. Within a scope, the tasks are counted, with one
    statement.
    """
    pages = list_pages(app_list)
    today = [_make_item(_("Overview"), "home", reverse("admin:index"))]
    today += _list_tasks(request)
    groups: list[dict[str, Any]] = [{"title": _("Today"), "items": today}]
    groups += [
        {"title": group, "items": [_make_item(title, icon, link) for title, icon, link in items]}
        for group, items in pages.items()
        if items
    ]
    _mark_active(request, [item for group in groups for item in group["items"]])
    return groups


def list_pages(
    app_list: Iterable[dict[str, Any]],
) -> dict[str | Promise, list[tuple[str | Promise, str, str]]]:
    """Return title, icon and link of the pages by group, as far as their models are in `app_list`."""
    links = {page["model"]._meta.label_lower: page["admin_url"] for app in app_list for page in app["models"]}
    found = {
        group: [
            (title, icon, links[model] + path)
            for model, path, title, icon in _split_addresses(pages)
            if model in links
        ]
        for group, pages in _GROUPS.items()
    }
    listed = {model for pages in _GROUPS.values() for model, *_rest in _split_addresses(pages)}
    found[_("More")] = [
        (page["name"], "table", page["admin_url"])
        for app in app_list
        for page in app["models"]
        if page["model"]._meta.label_lower not in listed
    ]
    return found


def _list_tasks(request: HttpRequest) -> Iterator[dict[str, Any]]:
    # Pages that refuse something, or that call another service, are built outside of any scope.
    counts = {} if account_in_scope() is None else count_tasks_for_navigation(request)
    for task in list_tasks(request):
        item = _make_item(task.title, task.icon, task.link)
        count = counts.get(task.link, 0)
        if count:
            item["badge"] = f"{MOST_IN_NAVIGATION}+" if count > MOST_IN_NAVIGATION else str(count)
            item["badge_variant"] = "danger" if task.is_alarming else "primary"
        item["active"] = _is_shown(request, task)
        yield item


def _is_shown(request: HttpRequest, task: Task) -> bool:
    path = task.link.partition("?")[0]
    return request.path == path and all(request.GET.get(name) == value for name, value in task.query.items())


def _mark_active(request: HttpRequest, items: list[dict[str, Any]]) -> None:
    """Mark the page that is shown, unless a task's list is."""
    if any(item["active"] for item in items):
        return
    # Pages may lie below others, such as the tester below the zones: the longest matching path is the current one. All
    # lie below the overview.
    root = reverse("admin:index")
    around = [
        item
        for item in items
        if (request.path == root if item["link"] == root else request.path.startswith(item["link"]))
    ]
    if around:
        max(around, key=lambda item: len(item["link"]))["active"] = True


def _split_addresses(
    pages: Iterable[tuple[str, str | Promise, str]],
) -> Iterator[tuple[str, str, str | Promise, str]]:
    for address, title, icon in pages:
        model, _slash, path = address.partition("/")
        yield model, path, title, icon


def _make_item(title: str | Promise, icon: str, link: str) -> dict[str, Any]:
    # Django has left out of the app list what the member may not see.
    return {"title": title, "icon": icon, "link": link, "has_permission": True, "active": False}

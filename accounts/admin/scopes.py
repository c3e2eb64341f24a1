"""Names of scopes for people."""

from collections.abc import Iterable

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from accounts.roles import STAFF_AREA
from commerce.backoffice.display import StrOrPromise

_AREAS = {
    "accounts": _("Shop"),
    "markets": _("Markets"),
    "products": _("Products"),
    "inventory": _("Stock"),
    "customers": _("Customers"),
    "orders": _("Orders"),
    "shipping": _("Shipping"),
    "discounts": _("Discounts"),
    "vouchers": _("Gift cards"),
    "emails": _("Emails"),
    "settings": _("Settings"),
    "api_keys": _("API keys"),
    "events": _("Events"),
    STAFF_AREA: _("Staff"),
}


def title_scope(scope: str) -> StrOrPromise:
    """Return what a scope is called: `Orders: read` for `read_orders`. Another release may have scopes without a name."""
    access, _underscore, area = scope.partition("_")
    if area not in _AREAS:
        return scope
    sentence = _("{area}: read") if access == "read" else _("{area}: read and write")
    return format_lazy(sentence, area=_AREAS[area])


def list_choices(scopes: Iterable[str]) -> list[tuple[str, StrOrPromise]]:
    return [(scope, title_scope(scope)) for scope in scopes]


def join_titles(scopes: Iterable[str]) -> str:
    return "; ".join(str(title_scope(scope)) for scope in scopes)

"""Every route of both APIs, read from the URL resolver, so that new routes are tested automatically."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import models, transaction
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import ApiKey, Market
from carts.models import Cart, CartLineItem
from checkouts.models import Checkout, CheckoutPaymentAttempt
from commerce.catalog.models import Product, Variant
from commerce.customers.models import Customer, Segment
from commerce.inventory.models import Location
from commerce.orders.models import Order
from commerce.orders.snapshots import AppliedCode
from commerce.outbox.models import OutboxDispatch
from commerce.rest.views import SurfaceViewSet, access_of
from commerce.taxes.models import TaxRate
from commerce.webhooks.models import WebhookEndpoint
from discounts.models import Discount, Voucher
from emails.models import EmailDelivery, EmailTemplateVersion
from shipping.models import ShippingMethod, ShippingRate, ShippingZone
from tests.rows import make_rows
from tests.shops import Shop

# The rows that ids refer to, in paths (by placeholder) and in bodies (by field name).
MODELS_BY_ID_NAME: dict[str, type[models.Model]] = {
    "checkout_id": Checkout,
    "customer_id": Customer,
    "delivery_id": EmailDelivery,
    "discount_id": Discount,
    "dispatch_id": OutboxDispatch,
    "key_id": ApiKey,
    "line_id": CartLineItem,
    "location_id": Location,
    "market_id": Market,
    "method_id": ShippingMethod,
    "order_id": Order,
    "payment_id": CheckoutPaymentAttempt,
    "product_id": Product,
    "rate_id": ShippingRate,
    "segment_id": Segment,
    "shipping_method_id": ShippingMethod,
    "shipping_rate_id": ShippingRate,
    "tax_rate_id": TaxRate,
    "variant_id": Variant,
    "version_id": EmailTemplateVersion,
    "voucher_id": Voucher,
    "webhook_endpoint_id": WebhookEndpoint,
    "zone_id": ShippingZone,
}
# Path placeholders that aren't ids, with the row that has a value to try.
WORDS: dict[str, type[models.Model]] = {"template_key": EmailTemplateVersion, "locale": EmailTemplateVersion}
# The rows that tokens refer to, by the noun before them.
MODELS_BY_NOUN: dict[str, type[models.Model]] = {"carts": Cart, "checkouts": Checkout, "orders": Order}

_PLACEHOLDER = re.compile(r"(?:(?P<noun>\w+)/)?<(?P<converter>\w+):(?P<name>\w+)>")


@dataclass(frozen=True)
class Route:
    """One method of one path, such as `GET admin/2026-01/<handle:handle>/markets.json`."""

    method: str
    template: str
    view: Any
    action: str

    def __str__(self) -> str:
        return self.method + " " + re.sub(r"<\w+:(\w+)>", r"{\1}", self.template)

    @property
    def view_class(self) -> type[SurfaceViewSet]:
        return self.view.cls

    @property
    def surface(self) -> str:
        return self.view_class.surface

    @property
    def binding(self) -> str:
        return self.view_class.binding

    @property
    def scope(self) -> str:
        """The scope that a key needs."""
        return f"{access_of(self.view_class, self.action, self.method)}_{self.view_class.area}"

    @property
    def takes_body(self) -> bool:
        return self.method in {"POST", "PUT", "PATCH"}

    @property
    def placeholders(self) -> list[tuple[str, str]]:
        """Each placeholder except the account's handle, as the preceding noun and its name."""
        found = [(match["noun"] or "", match["name"]) for match in _PLACEHOLDER.finditer(self.template)]
        return [placeholder for placeholder in found if placeholder[1] != "handle"]

    def path(self, handle: str, values: dict[tuple[str, str], Any]) -> str:
        def fill(match: re.Match[str]) -> str:
            noun, name = match["noun"] or "", match["name"]
            value = handle if name == "handle" else values[noun, name]
            return f"{noun}/{value}" if noun else str(value)

        return "/" + _PLACEHOLDER.sub(fill, self.template)


def routes(*, surface: str | None = None) -> list[Route]:
    found = _walk(get_resolver().url_patterns, "")
    return [route for route in found if surface in {None, route.surface}]


def _walk(patterns: list[Any], prefix: str) -> Iterator[Route]:
    for pattern in patterns:
        template = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, template)
        elif isinstance(pattern, URLPattern) and _is_of_a_surface(pattern.callback):
            for method, action in pattern.callback.actions.items():
                yield Route(method.upper(), template, pattern.callback, action)


def _is_of_a_surface(view: Any) -> bool:
    view_class = getattr(view, "cls", None)
    return isinstance(view_class, type) and issubclass(view_class, SurfaceViewSet)


@contextmanager
def rolling_back() -> Iterator[None]:
    """Roll back everything done inside, so that one world serves many requests."""
    # A manual savepoint: within `atomic`, a scope would not be the outermost transaction and would refuse.
    savepoint = transaction.savepoint()
    yield
    transaction.savepoint_rollback(savepoint)


def _enter(checkout: Checkout, voucher: Voucher) -> None:
    """Enter the gift card's code in the checkout, so that it can be removed."""
    applied = AppliedCode(code=voucher.code, discount_id=None, voucher_id=voucher.pk, type="gift_card")
    Checkout.objects.filter(pk=checkout.pk).update(discount_codes=[applied])


@dataclass(frozen=True)
class World:
    """A shop with a row of every model, and the names of its rows in paths and bodies."""

    shop: Shop
    rows: dict[type[models.Model], Any]

    @classmethod
    def of(cls, shop: Shop) -> "World":
        with shop.scope():
            rows: dict[type[models.Model], Any] = dict(make_rows())
            rows[ApiKey] = ApiKey.objects.filter(kind="storefront").latest("pk")
            _enter(rows[Checkout], rows[Voucher])
            # Its redemption and its hold, so that the order of the former can be cancelled.
            Discount.objects.filter(pk=rows[Discount].pk).update(usage_count=2)
        return cls(shop, rows)

    def row_id(self, name: str) -> int:
        """Return the id of the row that an id with this name refers to."""
        if name not in MODELS_BY_ID_NAME:
            raise AssertionError(
                f"Say in MODELS_BY_ID_NAME of tests/rest/routes.py which row {name!r} stands for."
            )
        return self.rows[MODELS_BY_ID_NAME[name]].pk

    def value(self, noun: str, name: str) -> Any:
        """Return the value for a placeholder."""
        if name == "token" and noun not in MODELS_BY_NOUN:
            raise AssertionError(
                f"Say in MODELS_BY_NOUN of tests/rest/routes.py which row a token of {noun!r} names."
            )
        if name == "token":
            return self.rows[MODELS_BY_NOUN[noun]].token
        if name == "code":
            return self.rows[Voucher].code
        if name in WORDS:
            return getattr(self.rows[WORDS[name]], name)
        return self.shop.handle if name == "id_or_handle" else self.row_id(name)

    def path(self, route: Route, **others: Any) -> str:
        """Return the path of a route to this shop's rows; `others` overrides placeholders by name."""
        values = {
            (noun, name): others.get(name) or self.value(noun, name) for noun, name in route.placeholders
        }
        return route.path(self.shop.handle, values)

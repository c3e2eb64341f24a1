"""Factories of rows. Each runs in the scope of the given shop, or in the scope already open."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from datetime import timedelta
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.utils import timezone

from carts.models import Cart, CartLineItem
from commerce.catalog.models import Product, Variant, VariantPricing
from commerce.customers.models import Customer
from commerce.inventory.models import InventoryAdjustment, InventoryLevel, Location
from commerce.outbox.models import OutboxDispatch
from commerce.taxes.models import TaxRate
from commerce.tenancy.scope import account_in_scope
from commerce.tokens import generate_token
from discounts.models import Discount, Voucher
from discounts.vouchers.operations import issue_voucher
from emails.models import EmailDelivery
from shipping.models import PickupPoint, ShippingMethod, ShippingRate, ShippingZone
from tests.rowfactories import (
    CustomerFactory,
    DeliveryFactory,
    DiscountFactory,
    DispatchFactory,
    MethodFactory,
    PickupPointFactory,
    ProductFactory,
    RateFactory,
    VariantFactory,
    ZoneFactory,
)
from tests.shops import Shop

P = ParamSpec("P")
R = TypeVar("R")

# SHA-256 of `{}`: the hash of a line without custom attributes.
NO_ATTRIBUTES_HASH = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def in_shop(factory: Callable[Concatenate[Shop, P], R]) -> Callable[Concatenate[Shop, P], R]:
    """Run a factory in its shop's scope, unless the test has already opened it."""

    @wraps(factory)
    def scoped(shop: Shop, *args: P.args, **kwargs: P.kwargs) -> R:
        with shop.scope() if account_in_scope() is None else nullcontext():
            return factory(shop, *args, **kwargs)

    return scoped


@in_shop
def make_product(shop: Shop, **fields: Any) -> Product:
    """Create a product without variants."""
    return ProductFactory(**fields)


@in_shop
def make_variant(
    shop: Shop, *, price_cents: int | None = 1000, stock: int | None = 100, **fields: Any
) -> Variant:
    """Create a variant, priced in the shop's market and stocked at its first location, unless either is None."""
    variant = VariantFactory(**fields)
    if price_cents is not None:
        set_price(shop, variant, price_cents)
    if stock is not None:
        set_stock(shop, variant, stock)
    return variant


@in_shop
def set_price(shop: Shop, variant: Variant, price_cents: int, **fields: Any) -> VariantPricing:
    """Set the price of a variant in the shop's market, or in the given one."""
    fields = {"market": shop.market, "currency": shop.market.currency} | fields
    return VariantPricing.objects.create(variant=variant, price_cents=price_cents, **fields)


@in_shop
def set_stock(shop: Shop, variant: Variant, on_hand: int, **fields: Any) -> InventoryLevel:
    """Receive units of a variant at the shop's first location, or at the given one."""
    fields = {"location": Location.objects.order_by("priority", "pk")[0]} | fields
    allow_backorder = variant.allow_backorder or not variant.track_inventory
    level = InventoryLevel.objects.create(
        variant=variant, on_hand=on_hand, allow_backorder=allow_backorder, **fields
    )
    if on_hand:
        InventoryAdjustment.objects.create(
            level=level, delta=on_hand, reason="received", on_hand_after=on_hand
        )
    return level


@in_shop
def make_tax_rate(shop: Shop, rate_bp: int = 1900, **fields: Any) -> TaxRate:
    """Create the standard tax rate of the market's country, 19 % by default."""
    return TaxRate.objects.create(rate_bp=rate_bp, **{"country_code": shop.market.country_code} | fields)


@in_shop
def make_customer(shop: Shop, **fields: Any) -> Customer:
    return CustomerFactory(**fields)


@in_shop
def make_zone(shop: Shop, **fields: Any) -> ShippingZone:
    """Create a shipping zone of the market's country."""
    return ZoneFactory(**{"country_codes": [shop.market.country_code]} | fields)


@in_shop
def make_method(shop: Shop, **fields: Any) -> ShippingMethod:
    """Create a tiered shipping method, in a new zone unless one is given."""
    if not {"zone", "zone_id"} & fields.keys():
        fields["zone"] = make_zone(shop)
    return MethodFactory(**fields)


@in_shop
def make_rate(shop: Shop, **fields: Any) -> ShippingRate:
    """Create a shipping rate without bounds in the market's currency, of a new method unless one is given."""
    if "method" not in fields:
        fields["method"] = make_method(shop)
    return RateFactory(**{"currency": shop.market.currency} | fields)


@in_shop
def make_cart(shop: Shop, lines: Iterable[tuple[Variant, int]] = (), **fields: Any) -> Cart:
    """Create an active cart with lines of `(variant, quantity)` at their prices in the shop's market, without tax."""
    pinned = ("currency", "locale", "prices_include_tax")
    defaults = {name: getattr(shop.market, name) for name in pinned}
    defaults |= {"market": shop.market, "token": generate_token()}
    cart = Cart.objects.create(expires_at=timezone.now() + timedelta(days=30), **defaults | fields)
    for variant, quantity in lines:
        price = VariantPricing.objects.get(variant=variant, market_id=cart.market_id)
        CartLineItem.objects.create(
            cart=cart,
            variant=variant,
            quantity=quantity,
            custom_attributes_hash=NO_ATTRIBUTES_HASH,
            unit_price_cents=price.price_cents,
            tax_rate_bp=0,
            price_includes_tax=cart.prices_include_tax,
        )
    return cart


@in_shop
def make_discount(shop: Shop, **fields: Any) -> Discount:
    """Create a discount of 10 % off the order, automatic unless there is a code."""
    return DiscountFactory(**fields)


@in_shop
def make_voucher(shop: Shop, balance_cents: int = 5000, **fields: Any) -> Voucher:
    """Create a gift card in EUR with the first entry of its ledger."""
    return issue_voucher(
        initial_balance_cents=balance_cents,
        **{"currency": "EUR", "actor": "test", "now": timezone.now()} | fields,
    )


def make_pickup_point(**fields: Any) -> PickupPoint:
    """Create a carrier's pickup point, which belongs to no shop."""
    return PickupPointFactory(**fields)


@in_shop
def make_dispatch(shop: Shop, **fields: Any) -> OutboxDispatch:
    """Create a due dispatch, of a task without a handler unless one is given."""
    return DispatchFactory(**fields)


@in_shop
def make_delivery(shop: Shop, **fields: Any) -> EmailDelivery:
    """Create the delivery of a message that the provider has just accepted."""
    return DeliveryFactory(**fields)

"""The first steps of a checkout: address and shipping."""

from dataclasses import fields
from datetime import datetime
from typing import Any

from checkouts.errors import AddressIncomplete
from checkouts.models import Checkout
from checkouts.parcels import build_parcel
from checkouts.phases import Phase
from checkouts.queries import LoadedCheckout, lock_checkout_for
from commerce.errors import FieldError
from commerce.orders.snapshots import PickupPointSnapshot, ShippingSnapshot
from commerce.tenancy.instances import post_columns
from shipping.matching import Option
from shipping.models import PickupPoint
from shipping.operations import choose_option
from shipping.queries import choose_pickup_point

from .pricing import PRICED, reprice

_ADDRESS_COLUMNS = (
    "shipping_address",
    "same_as_shipping",
    "billing_address",
    "customer_note",
    "email",
    "phase",
    "updated_at",
    *PRICED,
)
_SHIPPING_COLUMNS = (
    "shipping_method",
    "shipping_method_id",
    "shipping_rate_id",
    "pickup_point_id",
    "pickup_point",
    "phase",
    "updated_at",
    *PRICED,
)
REQUIRED_ADDRESS_FIELDS = ("address1", "city", "country_code")


def set_address(*, token: str, address: dict[str, Any], now: datetime) -> LoadedCheckout:
    """Set contact and addresses. The destination may change who owes the tax.

    Raises `AddressIncomplete`, and whatever `lock_checkout_for` raises.
    """
    loaded = lock_checkout_for("address", token, now=now)
    checkout = loaded.checkout
    required = {"shipping_address": address["shipping_address"]}
    if not address["same_as_shipping"]:
        required["billing_address"] = address["billing_address"]
    missing = [
        FieldError(f"{name}.{field}", "required", "This field is required.")
        for name, fields_of_address in required.items()
        for field in REQUIRED_ADDRESS_FIELDS
        if not (fields_of_address or {}).get(field)
    ]
    if missing:
        raise AddressIncomplete(errors=tuple(missing))
    checkout.shipping_address = address["shipping_address"]
    checkout.same_as_shipping = address["same_as_shipping"]
    checkout.billing_address = None if checkout.same_as_shipping else address["billing_address"]
    checkout.customer_note = address.get("customer_note", checkout.customer_note) or ""
    checkout.email = address.get("email", checkout.email)
    checkout.phase = Phase.ADDRESS
    # Another email may belong to another customer, who is entitled to other discounts.
    reprice(checkout, loaded.lines, now=now)
    post_columns(checkout, _ADDRESS_COLUMNS)
    return loaded


def set_shipping(
    *, token: str, shipping_method_id: int, shipping_rate_id: int, pickup_point_id: int | None, now: datetime
) -> LoadedCheckout:
    """Choose one of the quote's options, and update the totals.

    Raises whatever `choose_option`, `choose_pickup_point` and `lock_checkout_for` raise.
    """
    loaded = lock_checkout_for("shipping", token, now=now)
    checkout = loaded.checkout
    parcel = build_parcel(loaded)
    # Quoted again, because the rate may have been changed or withdrawn since the shopper saw it.
    option = choose_option(parcel, method_id=shipping_method_id, rate_id=shipping_rate_id)
    point = choose_pickup_point(parcel, option=option, pickup_point_id=pickup_point_id)
    _snapshot_shipping(checkout, option, point)
    checkout.phase = Phase.SHIPPING
    reprice(checkout, loaded.lines, now=now)
    post_columns(checkout, _SHIPPING_COLUMNS)
    return loaded


def _snapshot_shipping(checkout: Checkout, option: Option, point: PickupPoint | None) -> None:
    method, rate = option.method, option.rate
    checkout.shipping_method = ShippingSnapshot(
        **{field.name: getattr(method, field.name) for field in fields(method)},
        rate_id=rate.id,
        price_cents=rate.price_cents,
        currency=rate.currency,
        is_free=rate.is_free,
        display_name=option.display_name,
    )
    checkout.shipping_method_id = method.id
    checkout.shipping_rate_id = rate.id
    checkout.pickup_point_id = point.pk if point else None
    checkout.pickup_point = (
        PickupPointSnapshot(
            **{field.name: getattr(point, field.name) for field in fields(PickupPointSnapshot)}
        )
        if point
        else None
    )

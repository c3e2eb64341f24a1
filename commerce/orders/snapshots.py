"""What checkouts and orders keep in JSON columns: it outlives the discount, method or point that it was taken from."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedCode:
    """A code that the shopper entered: a discount's, or a gift card's, which pays. Only one of the ids is set."""

    code: str
    discount_id: int | None
    voucher_id: int | None
    type: str
    amount_cents: int = 0

    def mask(self) -> Self:
        """Hide a gift card's code, which is as good as money, except its last four characters."""
        return self if self.voucher_id is None else replace(self, code=f"****-****-****-{self.code[-4:]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AutomaticDiscount:
    """A discount that applied without a code."""

    discount_id: int
    title: str
    type: str
    amount_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippingSnapshot:
    """The chosen method and rate; `cod_fee_cents` and `price_cents` are in `currency`."""

    id: int
    handle: str
    name: str
    # An identifier; an order's own `carrier` is a name for people.
    carrier: str
    service_code: str
    rate_mode: str
    requires_pickup_point: bool
    is_cod_compatible: bool
    estimated_days_min: int | None
    estimated_days_max: int | None
    cod_fee_cents: int
    rate_id: int
    price_cents: int
    currency: str
    is_free: bool
    display_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PickupPointSnapshot:
    id: int
    carrier: str
    external_id: str
    kind: str
    name: str
    address1: str
    city: str
    zip: str
    country_code: str
    is_cod_supported: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VatSnapshot:
    """The buyer's VAT number, and what is known of it. Under a reverse charge the buyer owes the tax."""

    country_code: str
    number: str
    status: str
    name: str | None = None
    validated_at: datetime | None = None
    reverse_charge: bool = False

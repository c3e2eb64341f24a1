"""A shop among several: its goods, its clients, and everything that its shoppers and staff have seen."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from commerce.inventory.models import Location
from discounts.models import Discount
from tests import factories
from tests.backoffice.clients import StaffClient
from tests.checkouts.books import Opening
from tests.shops import Shop, make_shop

STOCK = 3
PRICES = (999, 1750)
CARD_CENTS = (800, 6000)
COUNTRIES = ["DE", "AT"]


@dataclass(frozen=True)
class Form:
    """A form of the back office as it was opened; `changes` are what is filled in before it is sent."""

    path: str
    opened: dict[str, Any]
    changes: dict[str, str]


@dataclass
class Stall:
    """Carts, checkouts and rows are named by their place in a list; `secret` is in the text of all of its goods."""

    shop: Shop
    secret: str
    opening: Opening
    market_ids: list[int]
    variant_ids: list[int]
    tax_rate_id: int
    zone_id: int
    method_id: int
    rate_ids: list[int]
    location_ids: list[int]
    discount_ids: list[int]
    card_ids: list[int]
    codes: list[str]
    customer_ids: list[int] = field(default_factory=list)
    carts: list[str] = field(default_factory=list)
    checkouts: list[str] = field(default_factory=list)
    foreign_rate_ids: list[int] = field(default_factory=list)
    segment_ids: list[int] = field(default_factory=list)
    # Forms that staff opened in the back office and haven't saved yet.
    forms: list[Form] = field(default_factory=list)
    staff: StaffClient | None = None
    # What shoppers saw last: the totals of a checkout, and the lines of a cart.
    shown: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    is_archived: bool = False
    is_suspended: bool = False

    @property
    def names(self) -> list[str]:
        """Texts that only the shop's own shoppers and staff may see."""
        return [self.secret, *self.carts, *self.checkouts]


def open_stall(number: int, workspace_id: UUID | None, *, includes_tax: bool, reserve_at: str) -> Stall:
    """Open a shop with scarce stock, limited discounts and small gift cards."""
    secret = f"Only of stall {number}."
    shop = make_shop(workspace_id=workspace_id, prices_include_tax=includes_tax, name=secret)
    changed = {"commerce.payments.test_card": True, "commerce.checkout.reserve_at": reserve_at}
    assert shop.admin.put("settings.json", {"settings": changed}).status_code == 200
    tax_rate = factories.make_tax_rate(shop)
    variants = [
        factories.make_variant(
            shop, price_cents=cents, stock=STOCK, product=factories.make_product(shop, title=secret)
        )
        for cents in PRICES
    ]
    zone = factories.make_zone(shop, country_codes=COUNTRIES, name=secret)
    method = factories.make_method(shop, zone=zone, cod_fee_cents=150, name=secret)
    cards = [factories.make_voucher(shop, cents) for cents in CARD_CENTS]
    discounts = _make_discounts(shop)
    with shop.scope():
        location_ids = list(Location.objects.values_list("pk", flat=True))
    return Stall(
        shop=shop,
        secret=secret,
        opening=Opening(units=Counter({variant.pk: STOCK for variant in variants})),
        market_ids=[shop.market.pk],
        variant_ids=[variant.pk for variant in variants],
        tax_rate_id=tax_rate.pk,
        zone_id=zone.pk,
        method_id=method.pk,
        rate_ids=[factories.make_rate(shop, method=method).pk],
        location_ids=location_ids,
        discount_ids=[discount.pk for discount in discounts],
        card_ids=[card.pk for card in cards],
        codes=[*(row.code for row in discounts if row.code), *(card.code for card in cards)],
        customer_ids=[factories.make_customer(shop, first_name=secret).pk],
    )


def _make_discounts(shop: Shop) -> list[Discount]:
    def make(**fields: Any) -> Discount:
        return factories.make_discount(shop, stackable=True, **fields)

    free = {"type": "shipping_discount", "applies_to": "shipping", "value_mode": "free", "value_amount": None}
    return [
        make(usage_limit_total=4),
        make(code="C0", usage_limit_total=2),
        make(code="C1", usage_limit_per_customer=1),
        make(code="FREE", usage_limit_total=2, **free),
    ]


def any_of(rows: list[Any], index: int) -> Any:
    """Return one of the rows; -1 is the last one."""
    return rows[index % len(rows)]

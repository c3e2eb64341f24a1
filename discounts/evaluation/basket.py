from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from commerce.money import divide_half_up


@dataclass(frozen=True, slots=True)
class Line:
    """Units of one variant, and the price of all of them, in cents.

    It is gross in a market that shows gross prices, and net in the others. Without the tax that it included, it need
    not be a multiple of the quantity.
    """

    variant_id: int
    product_id: int
    quantity: int
    price_cents: int

    @property
    def unit_price(self) -> Fraction:
        """What one unit costs, exactly, to compare it with others."""
        return Fraction(self.price_cents, self.quantity)

    def price_of(self, units: int) -> int:
        """What some of the units cost together, in cents, rounded once."""
        # Not a multiple of a rounded unit price: that would be off by up to half a cent for each unit.
        return divide_half_up(self.price_cents * units, self.quantity)


@dataclass(frozen=True, slots=True)
class Basket:
    """What is bought. Shipping is None until it is chosen.

    `listed_cents` is the merchandise before discounts where that is not the sum of the lines: these may be charged
    without the tax that their prices include.
    """

    lines: tuple[Line, ...]
    currency: str
    market_id: int
    shipping_cents: int | None = None
    listed_cents: int | None = None

    @property
    def subtotal_cents(self) -> int:
        """The merchandise before discounts, which minimums are compared with."""
        if self.listed_cents is not None:
            return self.listed_cents
        return sum(line.price_cents for line in self.lines)


@dataclass(frozen=True, slots=True)
class Shopper:
    """Who buys, and how often they have used each discount: redeemed, or held by another of their checkouts."""

    customer_id: int | None = None
    tags: frozenset[str] = frozenset()
    segment_ids: frozenset[int] = frozenset()
    has_ordered: bool = False
    uses: Mapping[int, int] = field(default_factory=dict)

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from commerce.money import divide_half_up


@dataclass(frozen=True, slots=True)
class Line:
    """Units of one variant, and their total price in cents.

    The price is gross or net, like the market's prices. Under a reverse charge, it is the price without the tax that it
    included, which may not be divisible by the quantity.
    """

    variant_id: int
    product_id: int
    quantity: int
    price_cents: int

    @property
    def unit_price(self) -> Fraction:
        """The exact price of one unit in cents, for comparing lines."""
        return Fraction(self.price_cents, self.quantity)

    def price_of(self, units: int) -> int:
        """The price of some of the units together, in cents, rounded once."""
        # Not a multiple of a rounded unit price: that would be off by up to half a cent for each unit.
        return divide_half_up(self.price_cents * units, self.quantity)


@dataclass(frozen=True, slots=True)
class Basket:
    """The lines to evaluate, and the price of shipping in cents, None until a method is chosen.

    `listed_cents` is the subtotal in listed prices. It must be given under a reverse charge, when lines are charged
    without the tax that listed prices include. Otherwise it is the sum of the lines.
    """

    lines: tuple[Line, ...]
    currency: str
    market_id: int
    shipping_cents: int | None = None
    listed_cents: int | None = None

    @property
    def subtotal_cents(self) -> int:
        """The subtotal before discounts in cents, with which minimums are compared."""
        if self.listed_cents is not None:
            return self.listed_cents
        return sum(line.price_cents for line in self.lines)


@dataclass(frozen=True, slots=True)
class Shopper:
    """The customer's properties, and the number of uses of each discount by its id.

    Uses held by the customer's other checkouts count.
    """

    customer_id: int | None = None
    tags: frozenset[str] = frozenset()
    segment_ids: frozenset[int] = frozenset()
    has_ordered: bool = False
    uses: Mapping[int, int] = field(default_factory=dict)

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """Units of one variant. The price is that of all of them, in cents: unit price x quantity, without rounding.

    It is gross in a market that shows gross prices, and net in the others.
    """

    variant_id: int
    product_id: int
    quantity: int
    price_cents: int

    @property
    def unit_price_cents(self) -> int:
        return self.price_cents // self.quantity


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

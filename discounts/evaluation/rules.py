from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from .basket import Line
from .mechanic import SHARED_COLUMN, Mechanic


class ValueMode(StrEnum):
    PERCENTAGE = "percentage"
    FIXED_AMOUNT = "fixed_amount"
    SET_PRICE = "set_price"
    FREE = "free"


class AppliesTo(StrEnum):
    ORDER = "order"
    LINE_ITEMS = "line_items"
    SHIPPING = "shipping"


class Eligibility(StrEnum):
    ALL = "all"
    TAGGED = "tagged"
    SEGMENTS = "segments"
    SPECIFIC = "specific"
    FIRST_ORDER = "first_order"


@dataclass(frozen=True, slots=True)
class Target:
    """The lines of these products and of these variants; every line if there are neither."""

    product_ids: frozenset[int] = frozenset()
    variant_ids: frozenset[int] = frozenset()

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> Self:
        return cls(
            product_ids=frozenset(config.get("product_ids") or ()),
            variant_ids=frozenset(config.get("variant_ids") or ()),
        )

    @property
    def is_everything(self) -> bool:
        return not (self.product_ids or self.variant_ids)

    def covers(self, line: Line) -> bool:
        return (
            self.is_everything or line.product_id in self.product_ids or line.variant_id in self.variant_ids
        )

    def positions(self, lines: Sequence[Line]) -> list[int]:
        """The positions of the covered lines, counted from 0."""
        if self.is_everything:
            return list(range(len(lines)))
        return [position for position, line in enumerate(lines) if self.covers(line)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A row of `discounts`, under the names of its columns; `config` is what its mechanic has parsed."""

    id: int
    mechanic: Mechanic
    config: Any = None
    code: str | None = None
    title: str = ""
    value_mode: ValueMode | None = None
    value_amount: int | None = None
    currency: str | None = None
    applies_to: AppliesTo = AppliesTo.ORDER
    product_ids: frozenset[int] = frozenset()
    variant_ids: frozenset[int] = frozenset()
    market_ids: frozenset[int] = frozenset()
    stackable: bool = False
    minimum_order_subtotal_cents: int = 0
    customer_eligibility: Eligibility = Eligibility.ALL
    customer_tags: frozenset[str] = frozenset()
    segment_ids: frozenset[int] = frozenset()
    customer_ids: frozenset[int] = frozenset()
    first_order_only: bool = False
    usage_limit_total: int | None = None
    usage_limit_per_customer: int | None = None
    # Redeemed and held uses, which count towards the total limit.
    usage_count: int = 0
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    status: str = "active"

    @property
    def type(self) -> str:
        return self.mechanic.type

    @property
    def name(self) -> str:
        """The code that shoppers enter, or else the title."""
        return self.code or self.title

    @property
    def is_on_shipping(self) -> bool:
        return self.mechanic.is_on_shipping or self.applies_to == AppliesTo.SHIPPING

    @property
    def target(self) -> Target:
        """The lines whose prices it lowers: all of them for a discount on the order."""
        if self.applies_to == AppliesTo.ORDER and not self.mechanic.always_targets:
            return Target()
        return Target(product_ids=self.product_ids, variant_ids=self.variant_ids)


CONFIG_COLUMNS = ("bogo_config", "bulk_tiers", SHARED_COLUMN)
_OWN_COLUMNS = [field.name for field in fields(Rule) if field.name not in {"mechanic", "config"}]
COLUMNS = ("type", *_OWN_COLUMNS, *CONFIG_COLUMNS)

# Sets, because they are only searched: a shop may list a thousand products in a rule.
_TYPES: dict[str, Callable[[Any], Any]] = {
    "value_mode": ValueMode,
    "applies_to": AppliesTo,
    "customer_eligibility": Eligibility,
    "product_ids": frozenset,
    "variant_ids": frozenset,
    "market_ids": frozenset,
    "customer_tags": frozenset,
    "segment_ids": frozenset,
    "customer_ids": frozenset,
}


def build_rule(row: Mapping[str, Any], mechanic: Mechanic) -> Rule:
    """Build a rule from a row, which has at least `COLUMNS`, and the mechanic of its type."""
    config = row[mechanic.column] if mechanic.column else None
    own = {name: row[name] for name in _OWN_COLUMNS}
    for name, make in _TYPES.items():
        if own[name] is not None:
            own[name] = make(own[name])
    return Rule(
        mechanic=mechanic,
        config=None if config is None else mechanic.parse(config),
        **own,
    )

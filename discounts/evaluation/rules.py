from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Self

from .basket import Line


class RuleType(StrEnum):
    DISCOUNT_CODE = "discount_code"
    AUTOMATIC_DISCOUNT = "automatic_discount"
    GIFT_CARD = "gift_card"
    BUY_X_GET_Y = "buy_x_get_y"
    BULK_PRICING = "bulk_pricing"
    SHIPPING_DISCOUNT = "shipping_discount"


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


class Scope(StrEnum):
    LINE = "line"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Target:
    """The lines of these products and of these variants; every line when neither is named."""

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
        """Where the covered lines stand among all, counted from 0."""
        if self.is_everything:
            return list(range(len(lines)))
        return [position for position, line in enumerate(lines) if self.covers(line)]


@dataclass(frozen=True, slots=True)
class Bogo:
    """Whoever buys some units gets others for less. The value is for each unit got: basis points or cents."""

    buy_quantity: int
    get_quantity: int
    value_mode: ValueMode
    value_amount: int | None = None
    buy: Target = Target()
    get: Target = Target()
    max_applications: int | None = None

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> Self:
        return cls(
            buy_quantity=config["buy"]["quantity"],
            get_quantity=config["get"]["quantity"],
            value_mode=ValueMode(config["value_mode"]),
            value_amount=config.get("value_amount"),
            buy=Target.from_json(config["buy"]),
            get=Target.from_json(config["get"]),
            max_applications=config.get("max_applications"),
        )


@dataclass(frozen=True, slots=True)
class Tier:
    """What each unit is worth from a quantity on: basis points or cents, by value mode."""

    min_quantity: int
    value_mode: ValueMode
    value_amount: int | None = None

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> Self:
        return cls(
            min_quantity=config["min_quantity"],
            value_mode=ValueMode(config["value_mode"]),
            value_amount=config.get("value_amount"),
        )


@dataclass(frozen=True, slots=True)
class BulkTiers:
    """Tiers by the quantity of each line, or by that of all target lines together."""

    scope: Scope
    tiers: tuple[Tier, ...]

    @classmethod
    def from_json(cls, config: Mapping[str, Any]) -> Self:
        return cls(scope=Scope(config["scope"]), tiers=tuple(map(Tier.from_json, config["tiers"])))

    def reached(self, quantity: int) -> Tier | None:
        """The highest tier that a quantity reaches."""
        within = (tier for tier in self.tiers if tier.min_quantity <= quantity)
        return max(within, key=lambda tier: tier.min_quantity, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a row of `discounts` says, under the names of its columns."""

    id: int
    type: RuleType
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
    # What counts against the total limit. The caller leaves out what the checkout at hand holds itself.
    usage_count: int = 0
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    status: str = "active"
    bogo_config: Bogo | None = None
    bulk_tiers: BulkTiers | None = None

    @property
    def name(self) -> str:
        """What people call it: the code that they enter, else the title."""
        return self.code or self.title

    @property
    def is_on_shipping(self) -> bool:
        return self.type == RuleType.SHIPPING_DISCOUNT or self.applies_to == AppliesTo.SHIPPING

    @property
    def target(self) -> Target:
        """The lines whose price it lowers. A plain discount on the order is on all of them."""
        if self.applies_to == AppliesTo.ORDER and self.type != RuleType.BULK_PRICING:
            return Target()
        return Target(product_ids=self.product_ids, variant_ids=self.variant_ids)


COLUMNS = tuple(field.name for field in fields(Rule))

TYPES: dict[str, Callable[[Any], Any]] = {
    "type": RuleType,
    "value_mode": ValueMode,
    "applies_to": AppliesTo,
    "customer_eligibility": Eligibility,
    "product_ids": frozenset,
    "variant_ids": frozenset,
    "market_ids": frozenset,
    "customer_tags": frozenset,
    "segment_ids": frozenset,
    "customer_ids": frozenset,
    "bogo_config": Bogo.from_json,
    "bulk_tiers": BulkTiers.from_json,
}


def rule_of(row: Mapping[str, Any]) -> Rule:
    """The rule that a row says, which has at least the values of `COLUMNS`, JSON decoded."""
    return Rule(**{name: _typed(name, row[name]) for name in COLUMNS})


def _typed(name: str, value: Any) -> Any:
    return TYPES[name](value) if name in TYPES and value is not None else value

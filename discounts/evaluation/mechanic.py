"""The base class of the types of discounts. docs/extending.md shows how to add one."""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from commerce.errors import FieldError

from .config import Group
from .cuts import Cut, split_value

if TYPE_CHECKING:
    from .remaining import Remaining
    from .rules import Rule

# The column of types that have no column of their own.
SHARED_COLUMN = "config"


class Stage(IntEnum):
    """The order in which types apply, each to what remains after those before it."""

    DEALS = 10
    TIERS = 20
    AUTOMATIC = 30
    CODES = 40
    SHIPPING = 50
    PAYMENT = 60


class Terms(Protocol):
    """The fields of a discount that a mechanic may check before it is saved."""

    code: str | None
    value_mode: str | None
    value_amount: int | None
    applies_to: str
    status: str
    voucher_id: int | None


class Mechanic:
    """A type of discount. DISCOUNT_MECHANICS lists those of an installation; a new type subclasses this."""

    type: ClassVar[str]
    stage: ClassVar[Stage]
    # The settings of the type, and the column that stores them.
    config: ClassVar[Group | None] = None
    column: ClassVar[str | None] = None
    config_label: ClassVar[str] = ""
    config_help: ClassVar[str] = ""
    # Whether value_mode and value_amount say what the discount is worth. If not, its config does.
    has_value: ClassVar[bool] = True
    # Whether product_ids and variant_ids also restrict a discount that applies to the order.
    always_targets: ClassVar[bool] = False
    is_on_shipping: ClassVar[bool] = False
    # False for a type of stored discounts that the installation doesn't have any more.
    is_available: ClassVar[bool] = True
    # Why the discount takes nothing off; None for the general explanation.
    worth_nothing: ClassVar[str | None] = None
    # Defaults that differ from the columns' own.
    defaults: ClassVar[Mapping[str, Any]] = {}
    # Fields that must keep their default, with the reason.
    refused: ClassVar[Mapping[str, str]] = {}
    # Fields that never change after creation, and the reason.
    fixed: ClassVar[tuple[str, ...]] = ()
    fixed_reason: ClassVar[str] = ""
    # Inputs of the form that are hidden for this type, and values that are saved instead of what they contain.
    hidden: ClassVar[frozenset[str]] = frozenset()
    form_values: ClassVar[Mapping[str, Any]] = {}

    @property
    def label(self) -> str:
        return self.type.replace("_", " ").title()

    def parse(self, config: dict[str, Any]) -> Any:
        """Convert the stored config to what `cut` gets, usually a frozen dataclass."""
        return config

    def cut(self, rule: "Rule", config: Any, remaining: "Remaining") -> Cut:
        """Compute the cents to take off, by position of the line. The caller limits them to what remains of the line."""
        return split_value(rule, remaining.basket.lines, remaining.line_cents)

    def errors(self, terms: Terms) -> Iterator[FieldError]:
        """Yield the errors of fields that only this type checks."""
        yield from ()

    def values(self, config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each value_mode and value_amount of a config with its path, for the checks of percentages and money."""
        yield from ()


class ByQuantity(Mechanic):
    """A type whose config says what is taken off units of goods."""

    has_value = False
    hidden = frozenset({"value_mode", "value_amount"})

    def errors(self, terms: Terms) -> Iterator[FieldError]:
        # Shipping has no units.
        if terms.applies_to == "shipping":
            yield FieldError(
                "applies_to", "not_allowed", "Quantity discounts apply to products, not to shipping."
            )


class Unavailable(Mechanic):
    """Stands for a type of stored discounts that the installation doesn't have any more."""

    # The stage makes no difference: `find_obstacle` refuses every such rule.
    stage = Stage.PAYMENT
    is_available = False

    def __init__(self, discount_type: str) -> None:
        self.type = discount_type  # type: ignore[misc]

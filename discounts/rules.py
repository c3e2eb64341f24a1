"""Rules across the fields of a discount, for every interface."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from commerce.errors import FieldError, ValidationFailed
from commerce.wording import BasisPoints, Choice, Wording

from .evaluation import CONFIG_COLUMNS
from .models import Discount
from .registry import mechanics

ValueMode = Discount.ValueMode
Eligibility = Discount.Eligibility

MAX_BASIS_POINTS = 10_000

_IN_MONEY = (ValueMode.FIXED_AMOUNT, ValueMode.SET_PRICE)
_LISTS_OF_ELIGIBILITY = {
    Eligibility.TAGGED: "customer_tags",
    Eligibility.SEGMENTS: "segment_ids",
    Eligibility.SPECIFIC: "customer_ids",
}


def normalise_code(text: str) -> str:
    """Return a code in its stored form: trimmed, in NFC. The database ignores case when comparing."""
    return unicodedata.normalize("NFC", text.strip())


def is_same_code(one: str, other: str) -> bool:
    """Whether two codes are equal except for case, as the database compares them: ß and SS differ."""
    # Python makes SS of ß in capitals, PostgreSQL leaves it as it is.
    return len(one) == len(other) and one.upper() == other.upper()


def set_fields(discount: Discount, fields: Mapping[str, object]) -> None:
    """Set fields; null means a field's default. The discount's own value is cleared if its config has the value."""
    for name, value in fields.items():
        setattr(discount, name, _read_default(discount, name) if value is None else value)
    if not discount.mechanic.has_value:
        discount.value_mode = discount.value_amount = None


def require_sound(discount: Discount) -> None:
    """Raise `ValidationFailed` that names every field that contradicts others."""
    errors = (
        *_find_errors_of_type(discount),
        *_find_value_errors(discount),
        *_find_condition_errors(discount),
    )
    if errors:
        raise ValidationFailed(errors=errors)


def require_fixed_values(discount: Discount, changes: Mapping[str, object]) -> None:
    """Raise `ValidationFailed` for changes of fields that the type fixes at creation."""
    # The stored value is accepted, so that clients can send back what they have read.
    errors = tuple(
        FieldError(name, "can_not_change", discount.mechanic.fixed_reason)
        for name in discount.mechanic.fixed
        if changes.get(name, getattr(discount, name)) != getattr(discount, name)
    )
    if errors:
        raise ValidationFailed(errors=errors)


def _read_default(discount: Discount, name: str) -> Any:
    return discount.mechanic.defaults.get(name, getattr(Discount(), name))


def _find_errors_of_type(discount: Discount) -> Iterator[FieldError]:
    for name, detail in discount.mechanic.refused.items():
        if getattr(discount, name) != _read_default(discount, name):
            yield FieldError(name, "not_allowed", detail)
    yield from discount.mechanic.errors(discount)
    for name in CONFIG_COLUMNS:
        is_given = getattr(discount, name) is not None
        if discount.mechanic.column == name and not is_given:
            yield FieldError(
                name, "required", Wording("Required for the type %(type)s.", type=Choice(discount.type))
            )
        if discount.mechanic.column != name and is_given:
            owners = " or ".join(each.type for each in mechanics().values() if each.column == name)
            yield FieldError(
                name, "not_allowed", Wording("Only allowed for the type %(types)s.", types=owners)
            )


def has_amounts(discount: Discount) -> bool:
    """Whether a value of the discount is an amount of money, which needs a currency."""
    return any(value["value_mode"] in _IN_MONEY for _, value in _list_values(discount))


def _list_values(discount: Discount) -> list[tuple[str, dict[str, Any]]]:
    """Return the discount's own value and those in its config, each with the path to it."""
    mechanic = discount.mechanic
    values: list[tuple[str, dict[str, Any]]] = []
    if mechanic.has_value:
        values.append(("", {"value_mode": discount.value_mode, "value_amount": discount.value_amount}))
    if mechanic.column and (config := getattr(discount, mechanic.column)):
        values += [(f"{mechanic.column}.{path}", value) for path, value in mechanic.values(config)]
    return values


def _find_value_errors(discount: Discount) -> Iterator[FieldError]:
    for path, value in _list_values(discount):
        mode, amount = value["value_mode"], value["value_amount"]
        if mode is None:
            yield FieldError(f"{path}value_mode", "required", "Required: percentage or fixed_amount.")
        elif amount is None and mode != ValueMode.FREE:
            yield FieldError(f"{path}value_amount", "required", "In basis points or cents, by value_mode.")
        elif mode == ValueMode.PERCENTAGE and amount > MAX_BASIS_POINTS:
            yield FieldError(
                f"{path}value_amount",
                "max_value",
                Wording("Must be at most %(bound)s.", bound=BasisPoints(MAX_BASIS_POINTS)),
            )
    # Without one, 5.00 would be taken off in whatever currency the cart has.
    if discount.currency is None and has_amounts(discount):
        yield FieldError("currency", "required", "An amount needs a currency.")


def _find_condition_errors(discount: Discount) -> Iterator[FieldError]:
    # With an empty list, the discount would be for nobody.
    name = _LISTS_OF_ELIGIBILITY.get(Eligibility(discount.customer_eligibility))
    if name is not None and not getattr(discount, name):
        detail = Wording(
            "The eligibility %(eligibility)s needs at least one.", eligibility=discount.customer_eligibility
        )
        yield FieldError(name, "required", detail)
    if discount.starts_at and discount.ends_at and discount.ends_at <= discount.starts_at:
        yield FieldError("ends_at", "not_after_start", "Must be after starts_at.")

"""Rules across the fields of a discount, for every interface."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from commerce.errors import FieldError, ValidationFailed

from .models import Discount

Type = Discount.Type
AppliesTo = Discount.AppliesTo
ValueMode = Discount.ValueMode
Eligibility = Discount.Eligibility

BY_QUANTITY = (Type.BUY_X_GET_Y, Type.BULK_PRICING)
MAX_BASIS_POINTS = 10_000

_IN_MONEY = (ValueMode.FIXED_AMOUNT, ValueMode.SET_PRICE)
# Conditions of discounts, which a gift card never has.
_CONDITIONS = (
    "applies_to",
    "product_ids",
    "variant_ids",
    "market_ids",
    "minimum_order_subtotal_cents",
    "customer_eligibility",
    "customer_tags",
    "segment_ids",
    "customer_ids",
    "first_order_only",
    "usage_limit_total",
    "usage_limit_per_customer",
    "starts_at",
)
# Fields that were fixed when the gift card was issued.
_FIXED_BY_VOUCHER = ("code", "value_mode", "value_amount", "currency", "ends_at")
_HOLDERS = {
    Eligibility.TAGGED: "customer_tags",
    Eligibility.SEGMENTS: "segment_ids",
    Eligibility.SPECIFIC: "customer_ids",
}
# The type that requires each field; no other type has it.
_MECHANICS = {"bogo_config": Type.BUY_X_GET_Y, "bulk_tiers": Type.BULK_PRICING}


def normalise_code(text: str) -> str:
    """Return a code in its stored form: trimmed, in NFC. The database ignores case when comparing."""
    return unicodedata.normalize("NFC", text.strip())


def is_same_code(one: str, other: str) -> bool:
    """Whether two codes are equal except for case, as the database compares them: ß and SS differ."""
    return len(one) == len(other) and one.upper() == other.upper()


def settle(discount: Discount, fields: Mapping[str, object]) -> None:
    """Set fields; null means a field's default. For types by quantity, the discount's own value is cleared."""
    for name, value in fields.items():
        setattr(discount, name, _default(discount, name) if value is None else value)
    if discount.type in BY_QUANTITY:
        discount.value_mode = discount.value_amount = None


def require_sound(discount: Discount) -> None:
    """Raise `ValidationFailed` that names every field that contradicts others."""
    errors = (
        *_type_errors(discount),
        *_gift_card_errors(discount),
        *_code_errors(discount),
        *_mechanics_errors(discount),
        *_value_errors(discount),
        *_currency_errors(discount),
        *_eligibility_errors(discount),
        *_window_errors(discount),
    )
    if errors:
        raise ValidationFailed(errors=errors)


def _default(discount: Discount, name: str) -> object:
    if name == "applies_to" and discount.type == Type.SHIPPING_DISCOUNT:
        return AppliesTo.SHIPPING
    return getattr(Discount(), name)


def _type_errors(discount: Discount) -> Iterator[FieldError]:
    is_on_shipping = discount.applies_to == AppliesTo.SHIPPING
    if discount.type == Type.SHIPPING_DISCOUNT and not is_on_shipping:
        yield FieldError("applies_to", "not_allowed", "A shipping discount applies to shipping.")
    if discount.type in BY_QUANTITY and is_on_shipping:
        yield FieldError(
            "applies_to", "not_allowed", "Quantity discounts apply to products, not to shipping."
        )


def require_issued_values(discount: Discount, changes: Mapping[str, object]) -> None:
    """Raise `ValidationFailed` for changes of values that a gift card was issued with."""
    errors = tuple(
        FieldError(name, "can_not_change", "A gift card keeps what it was issued with.")
        for name in _FIXED_BY_VOUCHER
        if discount.type == Type.GIFT_CARD
        and changes.get(name, getattr(discount, name)) != getattr(discount, name)
    )
    if errors:
        raise ValidationFailed(errors=errors)


def _gift_card_errors(discount: Discount) -> Iterator[FieldError]:
    if discount.type != Type.GIFT_CARD:
        return
    for name in _CONDITIONS:
        if getattr(discount, name) != _default(discount, name):
            yield FieldError(name, "not_allowed", "A gift card pays for any product.")
    if discount.status == Discount.Status.DISABLED:
        yield FieldError("status", "not_allowed", "A gift card is ended by archiving it.")
    if discount.code is not None and discount.voucher_id is None:
        yield FieldError("code", "not_allowed", "A gift card gets its code when it is issued.")
    if discount.value_mode not in (None, ValueMode.FIXED_AMOUNT):
        yield FieldError("value_mode", "not_allowed", "A gift card is worth a fixed amount.")
    elif discount.value_amount == 0:
        yield FieldError("value_amount", "min_value", "Must be at least 1.")


def _code_errors(discount: Discount) -> Iterator[FieldError]:
    if discount.type == Type.DISCOUNT_CODE and discount.code is None:
        yield FieldError("code", "required", "A discount code needs a code.")
    if discount.type == Type.AUTOMATIC_DISCOUNT and discount.code is not None:
        yield FieldError("code", "not_allowed", "An automatic discount applies without a code.")


def _mechanics_errors(discount: Discount) -> Iterator[FieldError]:
    for name, owner in _MECHANICS.items():
        is_given = getattr(discount, name) is not None
        if discount.type == owner and not is_given:
            yield FieldError(name, "required", f"Required for the type {owner.value}.")
        if discount.type != owner and is_given:
            yield FieldError(name, "not_allowed", f"Only allowed for the type {owner.value}.")


def _value_errors(discount: Discount) -> Iterator[FieldError]:
    for path, value in _values(discount):
        mode, amount = value["value_mode"], value["value_amount"]
        if mode is None:
            yield FieldError(f"{path}value_mode", "required", "Required: percentage or fixed_amount.")
        elif amount is None and mode != ValueMode.FREE:
            yield FieldError(f"{path}value_amount", "required", "In basis points or cents, by value_mode.")
        elif mode == ValueMode.PERCENTAGE and amount > MAX_BASIS_POINTS:
            yield FieldError(f"{path}value_amount", "max_value", "Must be at most 10000, which is 100 %.")


def _currency_errors(discount: Discount) -> Iterator[FieldError]:
    if discount.currency is None and any(value["value_mode"] in _IN_MONEY for _, value in _values(discount)):
        yield FieldError("currency", "required", "An amount needs a currency.")


def _values(discount: Discount) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each value of the discount with its path: its own, or those of its mechanics."""
    if discount.type == Type.BUY_X_GET_Y and discount.bogo_config:
        yield "bogo_config.", discount.bogo_config
    elif discount.type == Type.BULK_PRICING and discount.bulk_tiers:
        for index, tier in enumerate(discount.bulk_tiers["tiers"]):
            yield f"bulk_tiers.tiers.{index}.", tier
    elif discount.type not in BY_QUANTITY:
        yield "", {"value_mode": discount.value_mode, "value_amount": discount.value_amount}


def _eligibility_errors(discount: Discount) -> Iterator[FieldError]:
    holder = _HOLDERS.get(Eligibility(discount.customer_eligibility))
    if holder is not None and not getattr(discount, holder):
        detail = f"The eligibility {discount.customer_eligibility} needs at least one."
        yield FieldError(holder, "required", detail)


def _window_errors(discount: Discount) -> Iterator[FieldError]:
    if discount.starts_at and discount.ends_at and discount.ends_at <= discount.starts_at:
        yield FieldError("ends_at", "not_after_start", "Must be after starts_at.")

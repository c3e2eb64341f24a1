"""What customers and segments must be like, whichever interface they come through."""

from collections.abc import Mapping
from typing import Any

from commerce.errors import FieldError, ValidationFailed
from commerce.formats import timestamp as timestamp_text
from commerce.mail import email_folders
from commerce.rules import (
    Fields,
    Rule,
    boolean,
    cents,
    choice,
    country,
    domain,
    each_once,
    email,
    errors_below,
    handle,
    integer,
    items,
    locale,
    nullable,
    refuse,
    text,
    timestamp,
    within_bytes,
)
from commerce.wording import Wording

from .segments import FIELDS

MAX_NAME = 100
MAX_PHONE = 40
MAX_TAG = 64
MAX_TAGS = 100
MAX_SEGMENT_NAME = 200
MAX_CONDITIONS = 20
MAX_VALUES = 100
# Checkouts compare their customers with filters, so these must stay quick to load.
MAX_FILTER_BYTES = 64 * 1024
OPERATORS = ("eq", "neq", "in", "gte", "lte")

CUSTOMER = Fields(
    required={"email": email},
    optional={
        "first_name": text(MAX_NAME, may_be_blank=True),
        "last_name": text(MAX_NAME, may_be_blank=True),
        "phone": text(MAX_PHONE, may_be_blank=True),
        "locale": nullable(locale),
        "country_code": nullable(country),
        "tags": each_once(items(text(MAX_TAG), max_length=MAX_TAGS)),
    },
)

_VALUES: dict[str, Rule] = {
    "tag": text(MAX_TAG),
    "email_domain": domain,
    "country_code": country,
    "orders_count": integer(),
    "total_spent_cents": cents(),
    # Kept as text, in the form in which timestamps are answered.
    "created_at": lambda value: timestamp_text(timestamp(value)),
}


def _require_value(value: object) -> object:
    """Refuse null. The value's type depends on another field: `_check_condition` checks it once that one is known."""
    if value is None:
        refuse("null", "This field may not be null.")
    return value


def _check_condition(condition: dict[str, Any]) -> dict[str, object]:
    """Check that the field takes the operator, and that the value has the field's type."""
    # Tags have no order, for example, so they can't be compared by `gte`.
    operators = FIELDS[condition["field"]]
    if condition["op"] not in operators:
        raise ValidationFailed.of(
            "op",
            "op_not_allowed",
            Wording("This field takes: %(operators)s.", operators=", ".join(operators)),
        )
    rule = _VALUES[condition["field"]]
    if condition["op"] == "in":
        rule = items(rule, max_length=MAX_VALUES, may_be_empty=False)
    try:
        return condition | {"value": rule(condition["value"])}
    except ValidationFailed as refusal:
        raise ValidationFailed(errors=tuple(errors_below("value", refusal))) from None


_CONDITION = Fields(
    required={"field": choice(FIELDS), "op": choice(OPERATORS), "value": _require_value},
    then=_check_condition,
)
FILTER = within_bytes(
    Fields(required={"all": items(_CONDITION, max_length=MAX_CONDITIONS)}), MAX_FILTER_BYTES
)
SEGMENT = Fields(required={"handle": handle, "name": text(MAX_SEGMENT_NAME), "filter": FILTER})


def check_preferences(preferences: Mapping[str, object]) -> dict[str, bool]:
    """Check which emails a customer wants, by the keys of templates.

    Raises `ValidationFailed` for unknown keys and for values other than true and false.
    """
    checked: dict[str, bool] = {}
    errors: list[FieldError] = []
    for key, value in preferences.items():
        try:
            if key not in email_folders():
                refuse("unknown_template", "There is no such template.")
            checked[key] = boolean(value)
        except ValidationFailed as refusal:
            errors += errors_below(f"notification_preferences.{key}", refusal)
    if errors:
        raise ValidationFailed(errors=tuple(errors))
    return checked

"""Rules of each field of a discount. Rules across fields are in `discounts.rules`."""

import re
from operator import itemgetter

from commerce.errors import ValidationFailed
from commerce.rules import (
    Fields,
    Rule,
    boolean,
    cents,
    choice,
    currency,
    errors_below,
    filled_text,
    integer,
    items,
    json_object,
    moment,
    nullable,
    refuse,
    row_id,
    text,
    within_bytes,
)

from .evaluation import SHARED_COLUMN, Choice, Ids, Mechanic, Number, Part, Rows
from .evaluation.config import MAX_COUNT, Group
from .mechanics.bulk_pricing import BULK_TIERS
from .mechanics.buy_x_get_y import BOGO
from .models import Discount
from .registry import mechanics
from .rules import normalise_code

MAX_CODE = 64
MAX_TITLE = 200
MAX_TAG = 64
MAX_IDS = 1000
MAX_TAGS = 100
MAX_CONFIG_BYTES = 128 * 1024
MAX_CONFIG_NODES = 10_000
# Not "archived": archiving is a separate operation.
STATUSES = (Discount.Status.ACTIVE, Discount.Status.DISABLED)

# Characters that people print on leaflets. Codes are part of paths, so no slash, no space and nothing invisible.
_CODE = re.compile(r"(?=.*[^\W_])[\w.%+&!*@$€£-]+")


def discount_code(value: object) -> str:
    """Check a discount code, and return it as typed, in NFC."""
    code = normalise_code(filled_text(value))
    if not _CODE.fullmatch(code):
        refuse(
            "invalid_code",
            "Letters, digits and any of - _ . % + & ! * @ $ € £, at least one letter or digit.",
        )
    return text(MAX_CODE)(code)


def config_rule(group: Group) -> Rule:
    """The rule for a config of a mechanic."""
    return within_bytes(_make_rule(group), MAX_CONFIG_BYTES)


def check_config(fields: dict[str, object], mechanic: Mechanic) -> dict[str, object]:
    """Return the fields with the config of the shared column as it is stored. The type decides which rule checks it.

    Raises `ValidationFailed`.
    """
    if mechanic.column != SHARED_COLUMN or mechanic.config is None or fields.get(SHARED_COLUMN) is None:
        return fields
    try:
        return fields | {SHARED_COLUMN: config_rule(mechanic.config)(fields[SHARED_COLUMN])}
    except ValidationFailed as refusal:
        raise ValidationFailed.of_errors(errors_below(SHARED_COLUMN, refusal)) from None


def _make_rule(part: Part) -> Rule:
    match part:
        case Number():
            rule = integer(min_value=part.min_value, max_value=part.max_value)
            return rule if part.is_required else nullable(rule)
        case Choice():
            return choice(part.values)
        case Ids():
            return _ids
        case Rows():
            return _make_rule_of_rows(part)
    # Errors of single values are named before those of objects and lists.
    required = sorted(filter(is_required, part.parts), key=lambda each: isinstance(each, Group | Rows))
    optional = [each for each in part.parts if not is_required(each)]
    return Fields(
        required={each.name: _make_rule(each) for each in required},
        optional={each.name: _make_rule(each) for each in optional},
        defaults={each.name: list if isinstance(each, Ids) else lambda: None for each in optional},
    )


def is_required(part: Part) -> bool:
    return part.is_required if isinstance(part, Number) else not isinstance(part, Ids)


def _make_rule_of_rows(part: Rows) -> Rule:
    rule = items(_make_rule(part.row), max_length=part.max_length, may_be_empty=False)

    def check(value: object) -> list[dict[str, object]]:
        rows = rule(value)
        keys = [row[part.key] for row in rows]
        for index, key in enumerate(keys):
            if key in keys[:index]:
                raise ValidationFailed.of(
                    f"{index}.{part.key}", "duplicate", "Another entry has the same value."
                )
        # Clients may send them in any order.
        return sorted(rows, key=itemgetter(part.key))

    return check


def discount_type(value: object) -> str:
    return choice(mechanics())(value)


_count = nullable(integer(min_value=1, max_value=MAX_COUNT))
_ids = items(row_id, max_length=MAX_IDS)
_tags = items(text(MAX_TAG), max_length=MAX_TAGS)

# Null resets an optional field to its default.
DISCOUNT = Fields(
    required={"type": discount_type, "title": text(MAX_TITLE)},
    optional={
        name: nullable(rule)
        for name, rule in {
            "code": discount_code,
            "value_mode": choice(Discount.ValueMode.values),
            "value_amount": integer(),
            "currency": currency,
            "applies_to": choice(Discount.AppliesTo.values),
            "product_ids": _ids,
            "variant_ids": _ids,
            "market_ids": _ids,
            "stackable": boolean,
            "minimum_order_subtotal_cents": cents(),
            "customer_eligibility": choice(Discount.Eligibility.values),
            "customer_tags": _tags,
            "segment_ids": _ids,
            "customer_ids": _ids,
            "first_order_only": boolean,
            "usage_limit_total": _count,
            "usage_limit_per_customer": _count,
            "starts_at": moment,
            "ends_at": moment,
            "bogo_config": config_rule(BOGO),
            "bulk_tiers": config_rule(BULK_TIERS),
            "config": json_object(max_bytes=MAX_CONFIG_BYTES, max_nodes=MAX_CONFIG_NODES),
            "status": choice(STATUSES),
        }.items()
    },
)

"""Rules of each field of a discount. Rules across fields are in `discounts.rules`."""

import re
from operator import itemgetter

from commerce.errors import ValidationFailed
from commerce.rules import (
    Fields,
    boolean,
    cents,
    choice,
    currency,
    filled_text,
    integer,
    items,
    moment,
    nullable,
    refuse,
    row_id,
    text,
    within_bytes,
)

from .models import Discount
from .rules import normalise_code

MAX_CODE = 64
MAX_TITLE = 200
MAX_TAG = 64
MAX_IDS = 1000
MAX_TAGS = 100
MAX_QUANTITY = 9999
MAX_TIERS = 20
MAX_COUNT = 2**31 - 1
MAX_MECHANICS_BYTES = 128 * 1024
SCOPES = ("line", "order")
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


def _tiers(value: object) -> list[dict[str, object]]:
    """Check tiers in any order, and return them by rising quantity."""
    tiers = items(_TIER, max_length=MAX_TIERS, may_be_empty=False)(value)
    quantities = [tier["min_quantity"] for tier in tiers]
    for index, quantity in enumerate(quantities):
        if quantity in quantities[:index]:
            raise ValidationFailed.of(f"{index}.min_quantity", "duplicate", "Another tier has it.")
    return sorted(tiers, key=itemgetter("min_quantity"))


_count = nullable(integer(min_value=1, max_value=MAX_COUNT))
_ids = items(row_id, max_length=MAX_IDS)
_tags = items(text(MAX_TAG), max_length=MAX_TAGS)

_MODE = {"value_mode": choice(Discount.ValueMode.values)}
_AMOUNT = {"value_amount": nullable(integer())}
_TARGET = Fields(
    required={"quantity": integer(min_value=1, max_value=MAX_QUANTITY)},
    optional={"product_ids": _ids, "variant_ids": _ids},
    defaults={"product_ids": list, "variant_ids": list},
)
_TIER = Fields(
    required=_MODE | {"min_quantity": integer(min_value=1, max_value=MAX_QUANTITY)},
    optional=_AMOUNT,
    defaults={"value_amount": lambda: None},
)
BOGO_CONFIG = within_bytes(
    Fields(
        required=_MODE | {"buy": _TARGET, "get": _TARGET},
        optional=_AMOUNT | {"max_applications": _count},
        defaults={"value_amount": lambda: None, "max_applications": lambda: None},
    ),
    MAX_MECHANICS_BYTES,
)
BULK_TIERS = within_bytes(Fields(required={"scope": choice(SCOPES), "tiers": _tiers}), MAX_MECHANICS_BYTES)

# Null resets an optional field to its default.
DISCOUNT = Fields(
    required={"type": choice(Discount.Type.values), "title": text(MAX_TITLE)},
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
            "bogo_config": BOGO_CONFIG,
            "bulk_tiers": BULK_TIERS,
            "status": choice(STATUSES),
        }.items()
    },
)

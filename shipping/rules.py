"""Validation rules of zones, methods and rates, used by every interface."""

from commerce.rules import (
    Fields,
    boolean,
    cents,
    choice,
    country,
    currency,
    each_once,
    filled_text,
    handle,
    integer,
    items,
    json_object,
    nullable,
    refuse,
    row_id,
    text,
    token,
)
from shipping.matching import normalise_zip
from shipping.models import ShippingMethod

MAX_NAME = 200
# All of ISO 3166-1.
MAX_COUNTRIES = 249
MAX_ZIP_PATTERN = 16
MAX_ZIP_PATTERNS = 500
# PostgreSQL's smallint.
MAX_DAYS = 32_767

_zip_text = text(MAX_ZIP_PATTERN)


def zip_pattern(value: object) -> str:
    """Check a postcode pattern: a postcode, or a prefix followed by `*`."""
    kept = filled_text(value)
    # Checked in the form that is compared, in which a pattern of spaces and hyphens alone would be empty.
    pattern = normalise_zip(kept)
    if not pattern or "*" in pattern[:-1]:
        refuse("invalid_zip_pattern", "Must be a postcode, or a prefix followed by *.")
    return _zip_text(kept)


ZONE = Fields(
    required={
        "handle": handle,
        "name": text(MAX_NAME),
        "country_codes": each_once(items(country, max_length=MAX_COUNTRIES, may_be_empty=False)),
    },
    optional={
        "market_id": nullable(row_id),
        "zip_patterns": items(zip_pattern, max_length=MAX_ZIP_PATTERNS),
    },
)

METHOD = Fields(
    required={
        "handle": handle,
        "name": text(MAX_NAME),
        "zone_id": row_id,
        "carrier": token,
        "service_code": token,
        "rate_mode": choice(ShippingMethod.RateMode.values),
    },
    optional={
        "requires_pickup_point": boolean,
        "is_cod_compatible": boolean,
        "estimated_days_min": nullable(integer(max_value=MAX_DAYS)),
        "estimated_days_max": nullable(integer(max_value=MAX_DAYS)),
        "cod_fee_cents": cents(),
        "carrier_config": json_object(),
    },
)

RATE = Fields(
    required={"price_cents": cents(), "currency": currency},
    optional={
        "display_name": nullable(text(MAX_NAME)),
        "min_weight_grams": nullable(integer()),
        "max_weight_grams": nullable(integer()),
        "min_subtotal_cents": nullable(cents()),
        "max_subtotal_cents": nullable(cents()),
        "min_quantity": nullable(integer()),
        "max_quantity": nullable(integer()),
    },
)

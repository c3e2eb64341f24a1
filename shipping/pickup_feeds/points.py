"""Checks the fields of a feed's line, and converts them to the columns of a pickup point."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import orjson

from commerce.reference import countries
from shipping.matching import normalise_zip

from .errors import LineRefused

REQUIRED_FIELDS = ("external_id", "name", "country_code")

_MAX_OPENING_HOURS = 16_384
_MAX_ZIP = 16
_MAX_WEIGHT_GRAMS = 2_147_483_647
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_MICRODEGREE = Decimal("0.000001")


class Point(NamedTuple):
    """A row for the staging table, in the order of its columns. `opening_hours` is JSON text."""

    external_id: str
    kind: str
    name: str
    address1: str
    city: str
    zip: str
    normalised_zip: str
    country_code: str
    latitude: Decimal | None
    longitude: Decimal | None
    opening_hours: str | None
    is_cod_supported: bool
    max_weight_grams: int | None
    status: str


def point_of(fields: Mapping[str, object], *, carrier: str) -> Point:
    """Build the point that a line describes. Raises `LineRefused` with the first invalid field."""
    if fields.get("carrier") not in (None, carrier):
        raise LineRefused(f"carrier is not {carrier}")
    return Point(
        external_id=external_id_of(fields),
        kind=_choice(fields, "kind", ("point", "locker")),
        name=_required(fields, "name", max_length=255),
        address1=_text(fields, "address1", max_length=255),
        city=_text(fields, "city", max_length=128),
        zip=_text(fields, "zip", max_length=_MAX_ZIP),
        normalised_zip=_normalised_zip(fields),
        country_code=_country(fields),
        latitude=_degrees(fields, "latitude", limit=90),
        longitude=_degrees(fields, "longitude", limit=180),
        opening_hours=_opening_hours(fields),
        is_cod_supported=_boolean(fields, "is_cod_supported"),
        max_weight_grams=_grams(fields, "max_weight_grams"),
        status=_choice(fields, "status", ("active", "closed")),
    )


def external_id_of(fields: Mapping[str, object]) -> str:
    """Return the carrier's id of the point, which may also be a number. Raises `LineRefused`."""
    return _required(fields, "external_id", max_length=64)


def _text(fields: Mapping[str, object], name: str, *, max_length: int) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str):
        raise LineRefused(f"{name} isn't text")
    value = value.strip()
    if len(value) > max_length:
        raise LineRefused(f"{name} is longer than {max_length} characters")
    # Invalid UTF-8 was read as lone surrogates, which PostgreSQL can't store, and neither can it store NUL.
    if not (value.isascii() or _is_utf8(value)) or "\0" in value:
        raise LineRefused(f"{name} contains invalid characters")
    return value


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _required(fields: Mapping[str, object], name: str, *, max_length: int) -> str:
    value = _text(fields, name, max_length=max_length)
    if not value:
        raise LineRefused(f"{name} is missing")
    return value


def _choice(fields: Mapping[str, object], name: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices; the first if the line has no value."""
    value = _text(fields, name, max_length=16).lower() or choices[0]
    if value not in choices:
        raise LineRefused(f"{name} is not {' or '.join(choices)}")
    return value


def _country(fields: Mapping[str, object]) -> str:
    value = _required(fields, "country_code", max_length=2).upper()
    if value not in countries():
        raise LineRefused("country_code isn't an ISO 3166 country code")
    return value


def _normalised_zip(fields: Mapping[str, object]) -> str:
    value = normalise_zip(_text(fields, "zip", max_length=_MAX_ZIP))
    # Upper case can be longer: ß becomes SS.
    if len(value) > _MAX_ZIP:
        raise LineRefused(f"zip is longer than {_MAX_ZIP} characters in upper case")
    return value


def _boolean(fields: Mapping[str, object], name: str) -> bool:
    value = fields.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    found = _BOOLEANS.get(str(value).strip().lower())
    if found is None:
        raise LineRefused(f"{name} is not true or false")
    return found


def _number(fields: Mapping[str, object], name: str) -> Decimal | None:
    value = fields.get(name)
    if value is None or value == "":
        return None
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        raise LineRefused(f"{name} isn't a number") from None
    if not number.is_finite():
        raise LineRefused(f"{name} isn't a number")
    return number


def _degrees(fields: Mapping[str, object], name: str, *, limit: int) -> Decimal | None:
    number = _number(fields, name)
    if number is None:
        return None
    if abs(number) > limit:
        raise LineRefused(f"{name} is not within {limit} degrees")
    return number.quantize(_MICRODEGREE)


def _grams(fields: Mapping[str, object], name: str) -> int | None:
    number = _number(fields, name)
    if number is None:
        return None
    if not 0 <= number <= _MAX_WEIGHT_GRAMS or number != int(number):
        raise LineRefused(f"{name} isn't a whole number of grams")
    return int(number)


def _opening_hours(fields: Mapping[str, object]) -> str | None:
    """Return the JSON of an object or a list. In CSV, the cell contains JSON text."""
    value = fields.get("opening_hours")
    if value is None:
        return None
    try:
        return _json(orjson.loads(value) if isinstance(value, str) else value)
    except (TypeError, ValueError):
        raise LineRefused(
            f"opening_hours isn't a JSON object or list of at most {_MAX_OPENING_HOURS} characters"
        ) from None


def _json(value: object) -> str:
    """Serialise a value. Raises `ValueError` or `TypeError` for what jsonb can't store, such as an escaped NUL."""
    text = orjson.dumps(value).decode()
    if not isinstance(value, dict | list) or "\\u0000" in text or len(text) > _MAX_OPENING_HOURS:
        raise ValueError
    return text

"""Checks the fields of a feed's line, and converts them to the columns of a pickup point."""

import re
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import orjson

from commerce.reference import countries
from shipping.matching import normalise_zip

from .errors import LineRefused

REQUIRED_FIELDS = ("external_id", "name", "country_code")

_MAX_OPENING_HOURS = 16_384
_MAX_ZIP = 16
# PostgreSQL's integer.
_MAX_WEIGHT_GRAMS = 2_147_483_647
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
# The scale of the columns: eleven centimetres at most.
_MICRODEGREE = Decimal("0.000001")
# PostgreSQL can't store NUL, nor lone surrogates, as which invalid UTF-8 was read.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


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


def build_point(fields: Mapping[str, object], *, carrier: str) -> Point:
    """Build the point that a line describes. Raises `LineRefused` with the first invalid field."""
    # Somebody may have named the wrong carrier on the command line.
    if fields.get("carrier") not in (None, carrier):
        raise LineRefused(f"carrier is not {carrier}")
    return Point(
        external_id=read_external_id(fields),
        kind=_read_choice(fields, "kind", ("point", "locker")),
        name=_read_required_text(fields, "name", max_length=255),
        address1=_read_text(fields, "address1", max_length=255),
        city=_read_text(fields, "city", max_length=128),
        zip=_read_text(fields, "zip", max_length=_MAX_ZIP),
        normalised_zip=_read_normalised_zip(fields),
        country_code=_read_country(fields),
        latitude=_read_degrees(fields, "latitude", limit=90),
        longitude=_read_degrees(fields, "longitude", limit=180),
        opening_hours=_read_opening_hours(fields),
        is_cod_supported=_read_boolean(fields, "is_cod_supported"),
        max_weight_grams=_read_grams(fields, "max_weight_grams"),
        status=_read_choice(fields, "status", ("active", "closed")),
    )


def read_external_id(fields: Mapping[str, object]) -> str:
    """Return the carrier's id of the point, which may also be a number. Raises `LineRefused`."""
    return _read_required_text(fields, "external_id", max_length=64)


def _read_text(fields: Mapping[str, object], name: str, *, max_length: int) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    # JSON feeds have numbers for ids and postcodes. Not `isinstance`: a boolean is no text.
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str):
        raise LineRefused(f"{name} isn't text")
    value = value.strip()
    if len(value) > max_length:
        raise LineRefused(f"{name} is longer than {max_length} characters")
    if _UNSTORABLE.search(value):
        raise LineRefused(f"{name} contains invalid characters")
    return value


def _read_required_text(fields: Mapping[str, object], name: str, *, max_length: int) -> str:
    value = _read_text(fields, name, max_length=max_length)
    if not value:
        raise LineRefused(f"{name} is missing")
    return value


def _read_choice(fields: Mapping[str, object], name: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices; the first if the line has no value."""
    value = _read_text(fields, name, max_length=16).lower() or choices[0]
    if value not in choices:
        raise LineRefused(f"{name} is not {' or '.join(choices)}")
    return value


def _read_country(fields: Mapping[str, object]) -> str:
    value = _read_required_text(fields, "country_code", max_length=2).upper()
    if value not in countries():
        raise LineRefused("country_code isn't an ISO 3166 country code")
    return value


def _read_normalised_zip(fields: Mapping[str, object]) -> str:
    value = normalise_zip(_read_text(fields, "zip", max_length=_MAX_ZIP))
    # Upper case can be longer: ß becomes SS.
    if len(value) > _MAX_ZIP:
        raise LineRefused(f"zip is longer than {_MAX_ZIP} characters in upper case")
    return value


def _read_boolean(fields: Mapping[str, object], name: str) -> bool:
    value = fields.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    found = _BOOLEANS.get(str(value).strip().lower())
    if found is None:
        raise LineRefused(f"{name} is not true or false")
    return found


def _read_number(fields: Mapping[str, object], name: str) -> Decimal | None:
    value = fields.get(name)
    if value is None or value == "":
        return None
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        raise LineRefused(f"{name} isn't a number") from None
    # Decimal also parses NaN and Infinity.
    if not number.is_finite():
        raise LineRefused(f"{name} isn't a number")
    return number


def _read_degrees(fields: Mapping[str, object], name: str, *, limit: int) -> Decimal | None:
    number = _read_number(fields, name)
    if number is None:
        return None
    if abs(number) > limit:
        raise LineRefused(f"{name} is not within {limit} degrees")
    return number.quantize(_MICRODEGREE)


def _read_grams(fields: Mapping[str, object], name: str) -> int | None:
    number = _read_number(fields, name)
    if number is None:
        return None
    if not 0 <= number <= _MAX_WEIGHT_GRAMS or number != int(number):
        raise LineRefused(f"{name} isn't a whole number of grams")
    return int(number)


def _read_opening_hours(fields: Mapping[str, object]) -> str | None:
    """Return the JSON of an object or a list. In CSV, the cell contains JSON text."""
    value = fields.get("opening_hours")
    if value is None:
        return None
    text = ""
    with suppress(TypeError, ValueError):
        value = orjson.loads(value) if isinstance(value, str) else value
        text = orjson.dumps(value).decode()
    # jsonb can't store a NUL, which JSON can escape.
    is_storable = text and "\\u0000" not in text and len(text) <= _MAX_OPENING_HOURS
    if not is_storable or not isinstance(value, dict | list):
        raise LineRefused(
            f"opening_hours isn't a JSON object or list of at most {_MAX_OPENING_HOURS} characters"
        )
    return text

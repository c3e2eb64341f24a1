"""Rules for text in a format: handles, codes of countries and currencies, email addresses and URLs."""

import re
from datetime import UTC, datetime

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.utils.dateparse import parse_datetime

from commerce.reference import countries, currencies, time_zones
from commerce.wording import Wording

from .fields import refuse
from .values import filled_text, moment, text

MAX_URL = 2048
# RFC 5321, 4.5.3.1.3: a path has at most 256 characters, of which two are its angle brackets.
MAX_EMAIL = 254

_HANDLE = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_TOKEN = re.compile(r"[a-z0-9_-]{1,64}")
_HTTP_URL = re.compile(r"https?://[^\s/?#@]+([/?#]\S*)?")
_LANGUAGE_REGION = re.compile(r"[a-z]{2,3}-[A-Z]{2}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")
# RFC 1035, 2.3.4: labels of at most 63 characters.
_DOMAIN = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+")

_is_email = EmailValidator()


def handle(value: object, *, min_length: int = 1) -> str:
    """A name for use in URLs and imports."""
    kept = filled_text(value)
    if not _HANDLE.fullmatch(kept) or len(kept) < min_length:
        refuse("invalid_handle", "Use lower-case letters, digits and hyphens; don't begin with a hyphen.")
    return kept


def token(value: object) -> str:
    """A machine name, such as a carrier's code."""
    kept = filled_text(value)
    if not _TOKEN.fullmatch(kept):
        refuse("invalid_token", "Use at most 64 lower-case letters, digits, _ and -.")
    return kept


def http_url(value: object) -> str:
    kept = filled_text(value)
    if not _HTTP_URL.fullmatch(kept):
        refuse("invalid_url", "An absolute http or https URL is required.")
    return text(MAX_URL)(kept)


def currency(value: object) -> str:
    code = filled_text(value).upper()
    if code not in currencies():
        refuse("unknown_currency", "Not an ISO 4217 currency code.")
    return code


def country(value: object) -> str:
    code = filled_text(value).upper()
    if code not in countries():
        refuse("unknown_country", "Not an ISO 3166 country code.")
    return code


def locale(value: object, *, may_be_language: bool = False) -> str:
    """A locale such as de-AT. With `may_be_language`, also a language alone, such as de."""
    kept = filled_text(value)
    if not (_LANGUAGE if may_be_language else _LANGUAGE_REGION).fullmatch(kept):
        refuse("invalid_locale", "A locale has the form language-REGION, such as en-US.")
    return kept


def time_zone(value: object) -> str:
    kept = filled_text(value)
    if kept not in time_zones():
        refuse("unknown_time_zone", "Not a time zone of the tz database.")
    return kept


def domain(value: object) -> str:
    """A host name, stored in lower case."""
    kept = filled_text(value).lower()
    if len(kept) > 253 or not _DOMAIN.fullmatch(kept):
        refuse("invalid_domain", "Not a host name.")
    return kept


def email(value: object) -> str:
    """An email address, stored as typed."""
    kept = text(MAX_EMAIL)(value)
    # It is also stored in lower case, where some letters become two.
    text(MAX_EMAIL)(kept.lower())
    try:
        _is_email(kept)
    except ValidationError:
        refuse("invalid", "Enter a valid email address.")
    return kept


def timestamp(value: object) -> datetime:
    """ISO 8601 with an offset, as a point in time."""
    wanted = "YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]"
    try:
        parsed = parse_datetime(filled_text(value))
    except ValueError:
        parsed = None
    if parsed is None:
        refuse(
            "invalid",
            Wording(
                "Datetime has wrong format. Use one of these formats instead: %(formats)s.", formats=wanted
            ),
        )
    try:
        return moment(parsed).astimezone(UTC)
    # In the years 1 and 9999, UTC may be outside of Python's range.
    except OverflowError:
        refuse("overflow", "Datetime value out of range.")

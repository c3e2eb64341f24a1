"""Rules for values, the same whichever interface a value comes through. See `fields`."""

from .fields import Fields, Rule, each_once, errors_below, items, nullable, refuse
from .formats import country, currency, domain, email, handle, http_url, locale, time_zone, timestamp, token
from .objects import json_object, within_bytes
from .values import MAX_SAFE_INTEGER, boolean, cents, choice, filled_text, integer, moment, row_id, text

__all__ = [
    "MAX_SAFE_INTEGER",
    "Fields",
    "Rule",
    "boolean",
    "cents",
    "choice",
    "country",
    "currency",
    "domain",
    "each_once",
    "email",
    "errors_below",
    "filled_text",
    "handle",
    "http_url",
    "integer",
    "items",
    "json_object",
    "locale",
    "moment",
    "nullable",
    "refuse",
    "row_id",
    "text",
    "time_zone",
    "timestamp",
    "token",
    "within_bytes",
]

"""Custom attributes of a line: two lines are one when these are equal."""

import hashlib
import unicodedata
from typing import Any

import orjson


def canonical(attributes: Any) -> Any:
    """The same JSON with every text in Unicode's composed form."""
    if isinstance(attributes, str):
        return unicodedata.normalize("NFC", attributes)
    if isinstance(attributes, dict):
        return {canonical(key): canonical(value) for key, value in attributes.items()}
    if isinstance(attributes, list):
        return [canonical(value) for value in attributes]
    return attributes


def hash_attributes(attributes: dict[str, Any]) -> str:
    """SHA-256 (hex) of the compact, key-sorted JSON of canonical attributes."""
    return hashlib.sha256(orjson.dumps(attributes, option=orjson.OPT_SORT_KEYS)).hexdigest()

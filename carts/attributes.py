"""Custom attributes of a line. Lines of one variant with equal attributes are the same line."""

import hashlib
import unicodedata
from typing import Any

import orjson


def normalise_attributes(attributes: Any) -> Any:
    """Return the JSON with every text, also of keys, in Unicode's composed form (NFC).

    Otherwise texts that look the same could differ in their bytes, and make two lines.
    """
    if isinstance(attributes, str):
        return unicodedata.normalize("NFC", attributes)
    if isinstance(attributes, dict):
        return {normalise_attributes(key): normalise_attributes(value) for key, value in attributes.items()}
    if isinstance(attributes, list):
        return [normalise_attributes(value) for value in attributes]
    return attributes


def hash_attributes(attributes: dict[str, object]) -> str:
    """Return the SHA-256 (hex) of normalised attributes as compact, key-sorted JSON."""
    # Sorted, because the order of an object's keys has no meaning: clients send equal attributes in any order.
    return hashlib.sha256(orjson.dumps(attributes, option=orjson.OPT_SORT_KEYS)).hexdigest()

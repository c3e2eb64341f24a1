"""Custom attributes of a line. Lines of one variant with equal attributes are the same line."""

import hashlib
import unicodedata
from typing import Any

import orjson


def canonical(attributes: Any) -> Any:
    """Return the JSON with every text in Unicode's composed form (NFC)."""
    if isinstance(attributes, str):
        return unicodedata.normalize("NFC", attributes)
    if isinstance(attributes, dict):
        return {canonical(key): canonical(value) for key, value in attributes.items()}
    if isinstance(attributes, list):
        return [canonical(value) for value in attributes]
    return attributes


def hash_attributes(attributes: dict[str, Any]) -> str:
    """Return the SHA-256 (hex) of canonical attributes as compact, key-sorted JSON."""
    return hashlib.sha256(orjson.dumps(attributes, option=orjson.OPT_SORT_KEYS)).hexdigest()

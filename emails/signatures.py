"""Signatures of a provider's events: a hex HMAC, or the form of Svix, which Resend and others use."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta

HEADER = "provider-signature"

_TOLERANCE = timedelta(minutes=5)
# Standard Webhooks use the scheme of Svix with neutral header names.
_PREFIXES = ("svix", "webhook")


def is_signed(body: bytes, headers: Mapping[str, str], *, secret: str, now: datetime) -> bool:
    """Whether the headers hold a valid signature of the body."""
    signature = headers.get(HEADER)
    if signature is not None:
        return _is_hex_signature(signature, body, secret)
    return any(_is_svix_signature(prefix, body, headers, secret, now) for prefix in _PREFIXES)


def _is_hex_signature(signature: str, body: bytes, secret: str) -> bool:
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.strip().lower().encode())


def _is_svix_signature(
    prefix: str, body: bytes, headers: Mapping[str, str], secret: str, now: datetime
) -> bool:
    """HMAC-SHA-256 of `id.timestamp.body`. The header holds several signatures while a secret is rotated."""
    message_id, timestamp = headers.get(f"{prefix}-id", ""), headers.get(f"{prefix}-timestamp", "")
    key = _svix_key(secret)
    if key is None or not _is_recent(timestamp, now):
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get(f"{prefix}-signature", "").encode().split()
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


def _svix_key(secret: str) -> bytes | None:
    """The bytes encoded in `whsec_...`."""
    if not secret.startswith("whsec_"):
        return None
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def _is_recent(timestamp: str, now: datetime) -> bool:
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    return is_number and abs(now.timestamp() - int(timestamp)) <= _TOLERANCE.total_seconds()

"""Signatures of a provider's events: a hex HMAC, or the form of Svix, which Resend and others use."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta

HEADER = "provider-signature"

# As Svix and Standard Webhooks recommend, so that an event that was listened in on can't be sent again later.
_TOLERANCE = timedelta(minutes=5)
# Standard Webhooks use the scheme of Svix with neutral header names.
_PREFIXES = ("svix", "webhook")


def is_signed(body: bytes, headers: Mapping[str, str], *, secret: str, now: datetime) -> bool:
    """Whether the headers hold a valid signature of the body."""
    signature = headers.get(HEADER)
    if signature is not None:
        expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        # As bytes, since `compare_digest` refuses text beyond ASCII, which a header may hold.
        return hmac.compare_digest(expected.encode(), signature.strip().lower().encode())
    key = _decode_svix_key(secret)
    return key is not None and any(
        _is_signed_by_svix(prefix, body, headers, key, now) for prefix in _PREFIXES
    )


def _is_signed_by_svix(
    prefix: str, body: bytes, headers: Mapping[str, str], key: bytes, now: datetime
) -> bool:
    """Whether the headers with this prefix hold an HMAC-SHA-256 of `id.timestamp.body`."""
    message_id, timestamp = headers.get(f"{prefix}-id", ""), headers.get(f"{prefix}-timestamp", "")
    # `isdigit` alone accepts digits of any script, and Python limits the length of what it converts.
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
    if not is_number or abs(now.timestamp() - int(timestamp)) > _TOLERANCE.total_seconds():
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # The header holds several signatures while a secret is rotated.
    signatures = headers.get(f"{prefix}-signature", "").encode().split()
    return any(hmac.compare_digest(expected, signature) for signature in signatures)


def _decode_svix_key(secret: str) -> bytes | None:
    """The bytes encoded in `whsec_...`. None for another form of secret, which can't sign in this way."""
    if not secret.startswith("whsec_"):
        return None
    try:
        return base64.b64decode(secret.removeprefix("whsec_"), validate=True) or None
    except (binascii.Error, ValueError):
        return None

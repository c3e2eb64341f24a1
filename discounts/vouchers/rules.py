"""Rules of gift cards and of operations on them, used by every interface."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from commerce.errors import ValidationFailed
from commerce.rules import Fields, cents, currency, email, moment, nullable, row_id, text

# Longer than a code, because people type hyphens and spaces as they like.
MAX_CODE = 64
MAX_REASON = 1000

VOUCHER = Fields(
    required={"initial_balance_cents": cents(min_value=1), "currency": currency},
    optional={
        "recipient_email": nullable(email),
        "expires_at": nullable(moment),
        "order_id": nullable(row_id),
    },
)
REDEMPTION = Fields(required={"code": text(MAX_CODE), "amount_cents": cents(min_value=1)})
REVOCATION = Fields(required={"reason": text(MAX_REASON)})


def check_voucher(fields: Mapping[str, object], *, now: datetime) -> dict[str, Any]:
    """Check the fields of a new gift card. Raises `ValidationFailed`, also for an expiry in the past."""
    kept = VOUCHER.check(fields)
    if kept.get("expires_at") is not None and kept["expires_at"] <= now:
        raise ValidationFailed.of("expires_at", "in_the_past", "The expiry must be in the future.")
    return kept

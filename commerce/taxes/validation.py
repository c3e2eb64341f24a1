"""Validates VAT numbers with VIES, and caches the answers."""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import orjson
import redis
from django.conf import settings

from commerce.attempts import Counter, Limit, begin_attempt, digest
from commerce.errors import RateLimited, TooManyOutsideCalls
from commerce.formats import as_text
from commerce.redis import client
from commerce.waiting import Call, waiting_call

from . import vies
from .vat import VatNumber

logger = logging.getLogger(__name__)

WINDOW_S = 10 * 60
REMEMBERED_S = {"valid": 24 * 3600, "invalid": 3600}


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """`unavailable` says nothing about the number. `validated_at` is when VIES answered."""

    status: Literal["valid", "invalid", "unavailable"]
    name: str | None = None
    validated_at: datetime | None = None


UNAVAILABLE = Validation(status="unavailable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks: the checkout that the number is for, and the client's address."""

    account_id: int
    checkout_token: str
    address: str

    def counters(self) -> list[Counter]:
        shop = f"vat-checks:{self.account_id}"
        return [
            Counter(
                f"{shop}:checkout:{self.checkout_token}", Limit(settings.VAT_CHECKS_PER_CHECKOUT, WINDOW_S)
            ),
            Counter(
                f"{shop}:address:{digest(self.address)}", Limit(settings.VAT_CHECKS_PER_ADDRESS, WINDOW_S)
            ),
        ]


def validate(number: VatNumber, *, asker: Asker, now: datetime) -> Validation:
    """The cached answer, or else that of VIES. It may take seconds, so no transaction may be open.

    While too many numbers are being checked, further ones stay unchecked. Raises `RateLimited` after too many
    checks for one checkout or from one address, so that a stranger can't use up VIES for others.
    """
    remembered = _recall(number)
    if remembered is not None:
        return remembered
    try:
        with waiting_call(Call.VAT, asker.account_id, within_s=vies.TOTAL_TIMEOUT_S):
            # Counted once there is a place: a number that stays unchecked for want of one uses up no attempt.
            wait_s = begin_attempt(asker.counters())
            if wait_s:
                raise RateLimited(wait_s)
            reply = vies.check(number, url=settings.VIES_URL)
    except (vies.ViesUnavailable, TooManyOutsideCalls) as error:
        logger.warning("A VAT number was not validated: %s", error)
        # Not remembered, so VIES is asked again when the number is sent again.
        return UNAVAILABLE
    status: Literal["valid", "invalid"] = "valid" if reply.is_valid else "invalid"
    validation = Validation(status=status, name=reply.name, validated_at=now)
    _remember(number, validation)
    return validation


def _recall(number: VatNumber) -> Validation | None:
    try:
        remembered = client().get(_key(number))
    except redis.RedisError:
        return None
    if not remembered:
        return None
    # JSON has no timestamps, so this one was stored as text.
    fields = orjson.loads(remembered)
    return Validation(**fields | {"validated_at": datetime.fromisoformat(fields["validated_at"])})


def _remember(number: VatNumber, validation: Validation) -> None:
    try:
        client().set(_key(number), orjson.dumps(as_text(validation)), ex=REMEMBERED_S[validation.status])
    except redis.RedisError:
        # The answer is as good without being remembered.
        return


def _key(number: VatNumber) -> str:
    """Shared by all shops, since VIES's answers are public."""
    return f"vat:{number}"

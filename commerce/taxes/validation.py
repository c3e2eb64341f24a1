"""What is known of a VAT number: asked of VIES, and remembered for a while."""

import logging
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

import orjson
import redis
from django.conf import settings

from commerce.redis import client
from commerce.rest.errors import TooManyOutsideCalls
from commerce.rest.shapes import timestamp
from commerce.rest.waiting import waiting_call

from . import vies
from .vat import VatNumber

logger = logging.getLogger(__name__)

REMEMBERED_S = {"valid": 24 * 3600, "invalid": 3600}


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """`unavailable` says nothing about the number. `validated_at` is when VIES answered, in ISO 8601."""

    status: Literal["valid", "invalid", "unavailable"]
    name: str | None = None
    validated_at: str | None = None


UNAVAILABLE = Validation(status="unavailable")


def validate(number: VatNumber, *, account_id: int, now: datetime) -> Validation:
    """The remembered answer, else that of VIES. It may take seconds: no transaction may be open.

    A VIES that hangs must not take all threads of a process that sells, nor may one account's buyers: further
    numbers go unchecked meanwhile.
    """
    remembered = _recall(number)
    if remembered is not None:
        return remembered
    try:
        with waiting_call(account_id, within_s=vies.TOTAL_TIMEOUT_S):
            reply = vies.check(number, url=settings.VIES_URL)
    except (vies.ViesUnavailable, TooManyOutsideCalls) as error:
        logger.warning("A VAT number was not validated: %s", error)
        return UNAVAILABLE
    status: Literal["valid", "invalid"] = "valid" if reply.is_valid else "invalid"
    validation = Validation(status=status, name=reply.name, validated_at=timestamp(now))
    _remember(number, validation)
    return validation


def _recall(number: VatNumber) -> Validation | None:
    try:
        remembered = client().get(_key(number))
    except redis.RedisError:
        return None
    return Validation(**orjson.loads(remembered)) if remembered else None


def _remember(number: VatNumber, validation: Validation) -> None:
    try:
        client().set(_key(number), orjson.dumps(asdict(validation)), ex=REMEMBERED_S[validation.status])
    except redis.RedisError:
        return


def _key(number: VatNumber) -> str:
    """The same for all shops: what VIES says is public."""
    return f"vat:{number}"

"""Messages and their signatures, by Standard Webhooks (https://www.standardwebhooks.com)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from commerce.events.envelope import make_envelope
from commerce.events.models import Event
from commerce.formats import text_id
from commerce.versions import ApiVersion

PING = "webhook_endpoint.ping"

# The standard marks secrets with this prefix. It isn't part of the key.
_PREFIX = "whsec_"


@dataclass(frozen=True, slots=True)
class Message:
    """A message to an endpoint. Retries send the same bytes under the same id."""

    id: str
    type: str
    body: bytes


def make_secret() -> str:
    # The standard asks for 24 to 64 bytes.
    return _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def make_message(event: Event, version: ApiVersion) -> Message:
    return _pack(make_envelope(event, version))


def make_ping(
    *, message_id: str, account_id: int, endpoint_id: int, version: ApiVersion, now: datetime
) -> Message:
    """Make a message for trying an endpoint. It has an event's form, but no event is stored."""
    event = Event(
        account_id=account_id, type=PING, data={"webhook_endpoint_id": text_id(endpoint_id)}, occurred_at=now
    )
    return _pack(make_envelope(event, version) | {"id": message_id})


def make_signed_headers(message: Message, *, keys: Iterable[str], now: datetime) -> dict[str, str]:
    """Return the headers of one try, with a signature for each secret, in this order."""
    timestamp = str(int(now.timestamp()))
    signed = f"{message.id}.{timestamp}.".encode() + message.body
    signatures = []
    for key in keys:
        digest = hmac.new(base64.b64decode(key.removeprefix(_PREFIX)), signed, hashlib.sha256).digest()
        signatures.append("v1," + base64.b64encode(digest).decode())
    return {
        "webhook-id": message.id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }


def _pack(document: dict[str, Any]) -> Message:
    return Message(id=document["id"], type=document["type"], body=orjson.dumps(document))

"""Replaces what differs from run to run in recorded requests and answers: ids, secrets, times."""

import hashlib
import re
from collections import defaultdict
from typing import Any

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_RANDOM = re.compile(r"\b[0-9a-f]{32}\b")
_KEY = re.compile(r"key:(\d+)")
_GIFT_CARD = re.compile(r"[0-9A-Z]{4}(-[0-9A-Z]{4}){3}")
# Requests name times from this year on, which answers repeat.
_FIRST_YEAR_OF_REQUESTS = "2030"
_TIMES = {
    "due_at": "2026-01-15T09:30:00Z",
    "expires_at": "2026-01-15T10:30:00Z",
    "previous_secret_until": "2026-01-16T09:30:00Z",
}
_NOW = "2026-01-15T09:30:00Z"
# Names under which requests and answers mention the same kind of thing.
_KINDS = {
    "source": "cart",
    "shipping_method": "method",
    "shipping_rate": "rate",
    "line": "cart line",
    "email_delivery": "delivery",
    "webhook_endpoint": "endpoint",
    "key": "api_key",
    "email_deliverie": "delivery",
    "outbox_dispatche": "dispatch",
    "outbox_dispatch": "dispatch",
    "version": "email_template_version",
}
# Of fields whose texts are random, or differ between machines.
_WORDS = {
    "secret": "secret",
    "prefix": "prefix",
    "provider_message_id": "message",
    "provider_reference": "reference",
    "message_id": "message",
    "email_id": "message",
    "idempotency_key": "key",
}


# Ids of the object around them, or of one of its list.
_OWN_IDS = ("id", "next_cursor_id", "reference_id")
# Parts that several kinds of things have, each with ids of its own.
_PARTS = {"line_items": "line", "payment_attempts": "attempt"}


def _qualify(key: str, owner: str) -> str:
    return f"{owner.removesuffix('s')} {_PARTS[key]}" if key in _PARTS else key


def _find_owner(key: str, value: dict[str, Any], owner: str) -> str:
    """The kind of thing whose id a field is. For a cursor the list beside it tells, for a reference the type beside it."""
    if key == "next_cursor_id":
        return next(name for name, part in value.items() if isinstance(part, list))
    return str(value.get("reference_type", owner)) if key == "reference_id" else owner


class Mask:
    """Gives each thing the same substitute wherever it is mentioned, by the order of their first mention."""

    def __init__(self) -> None:
        self._substitutes: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = defaultdict(int)

    def hide(self, value: Any, name: str = "", inside: str = "") -> Any:
        """The value without what changes. `name` is the name of its field, `inside` that of the object around it."""
        if isinstance(value, dict):
            owner = name or inside
            return {
                key: self.hide(part, _qualify(key, owner), _find_owner(key, value, owner))
                for key, part in value.items()
            }
        if isinstance(value, list):
            return [
                self.hide(part, name.removesuffix("s") if name.endswith("_ids") else name, inside)
                for part in value
            ]
        if isinstance(value, bool) or value is None:
            return value
        if name == "id" or name.endswith("_id"):
            return self._hide_id(value, name, inside)
        if name == "duration_ms":
            return 42
        return self._hide_text(value, name) if isinstance(value, str) else value

    def _hide_id(self, value: str | int, name: str, inside: str) -> str | int:
        if not str(value).isdigit():
            return self._hide_text(str(value), name)
        kind = inside.removesuffix("s") if name in _OWN_IDS else name.removesuffix("_id")
        number = self._substitute(_KINDS.get(kind, kind), str(value))
        return int(number) if isinstance(value, int) else number

    def _hide_text(self, value: str, name: str) -> str:
        if name in _WORDS and value:
            return self._hide_word(value, _WORDS[name])
        if name == "token" or name.endswith("_token"):
            # A cart's, a checkout's and an order's token are different texts anyway.
            return self._make_token(value)
        if _TIME.fullmatch(value):
            return value if value >= _FIRST_YEAR_OF_REQUESTS else _TIMES.get(name, _NOW)
        if key := _KEY.fullmatch(value):
            return f"key:{self._substitute('api_key', key[1])}"
        if _GIFT_CARD.fullmatch(value):
            return f"G1FT-CARD-0000-{int(self._substitute('gift card', value)):04}"
        shown = _RANDOM.sub(lambda found: self._make_token(found[0]), value)
        return _UUID.sub(lambda found: self._make_uuid(found[0]), shown)

    def _hide_word(self, value: str, kind: str) -> str:
        number = self._substitute(kind, value)
        # The beginning of a key says what it is for.
        head = next((head for head in ("sk_", "pk_", "whsec_") if value.startswith(head)), "")
        return f"{head}example" if kind == "prefix" else f"{head}example_{kind}_{number}"

    def _make_token(self, value: str) -> str:
        number = self._substitute("token", value)
        return hashlib.sha256(f"token {number}".encode()).hexdigest()[:32]

    def _make_uuid(self, value: str) -> str:
        return f"00000000-0000-4000-8000-{int(self._substitute('uuid', value)):012}"

    def _substitute(self, kind: str, value: str) -> str:
        if (kind, value) not in self._substitutes:
            self._counts[kind] += 1
            self._substitutes[kind, value] = str(self._counts[kind])
        return self._substitutes[kind, value]

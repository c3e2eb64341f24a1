from collections.abc import Iterable
from datetime import datetime
from typing import Any

from commerce.events.models import Event
from commerce.events.types import EventType


def publish(*, type: str, data: dict[str, Any], now: datetime) -> Event:  # noqa: A002  the field's name
    """Add one event of the account in scope to its feed; it shows once the caller's scope commits."""
    return Event.objects.create(type=EventType(type).value, data=data, occurred_at=now)


def publish_many(*, occurrences: Iterable[tuple[str, dict[str, Any]]], now: datetime) -> list[Event]:
    """Add events, given as (type, data), in this order and in one statement."""
    return Event.objects.bulk_create(
        Event(type=EventType(name).value, data=data, occurred_at=now) for name, data in occurrences
    )

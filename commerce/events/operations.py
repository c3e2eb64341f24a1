from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial

from django.db import transaction

from commerce.events.models import Event
from commerce.events.types import EventType
from commerce.formats import as_text
from commerce.metrics import count_events
from commerce.tenancy.instances import LateText, post_rows


def publish(*, type: str, data: Mapping[str, object], now: datetime) -> None:  # noqa: A002  the field's name
    """Add an event to the feed of the account in scope. It is visible once the caller's transaction commits.

    Events are stored as clients read them: ids and cents become text here.
    """
    publish_many(occurrences=[(type, data)], now=now)


def publish_many(
    *,
    occurrences: Iterable[tuple[str, Mapping[str, object]]],
    now: datetime,
    late: LateText | None = None,
) -> None:
    """Add events, given as (type, data), in this order and in one statement. `late` is put into their data."""
    events = [
        Event(type=EventType(name).value, data=as_text(data), occurred_at=now) for name, data in occurrences
    ]
    post_rows(events, late=None if late is None else late.within("data"))
    # An event of a transaction that is rolled back has never happened.
    transaction.on_commit(partial(count_events, Counter(event.type for event in events)))

from django.db import connection
from django.db.models import QuerySet

from commerce.events.models import Event


def gapless_events(*, type: str | None = None) -> QuerySet[Event]:  # noqa: A002  the field's name
    """The events of the account in scope up to the first one that could still get a predecessor.

    While a transaction that has published is open, later events are held back, so that a client that
    follows the feed by ids misses none.
    """
    events = Event.objects.filter(pk__lte=_settled_event_id())
    return events if type is None else events.filter(type=type)


def _settled_event_id() -> int:
    # A statement of its own: the events must be read after the publishers' locks.
    with connection.cursor() as cursor:
        cursor.execute("SELECT settled_event_id()")
        return cursor.fetchone()[0]

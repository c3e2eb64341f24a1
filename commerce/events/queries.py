from django.db import connection
from django.db.models import QuerySet

from commerce.events.models import Event


def settled_events(*, type: str | None = None) -> QuerySet[Event]:  # noqa: A002  the field's name
    """The events of the account in scope that no event of a lower id can join any more.

    A transaction that is still open holds back what came after its first event, so that a client which
    follows the feed by its ids misses none.
    """
    events = Event.objects.filter(pk__lte=_settled_event_id())
    return events if type is None else events.filter(type=type)


def _settled_event_id() -> int:
    # A statement of its own: the events must be read after the locks of their publishers were.
    with connection.cursor() as cursor:
        cursor.execute("SELECT settled_event_id()")
        return cursor.fetchone()[0]

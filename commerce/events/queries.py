from django.db import connection
from django.db.models import QuerySet

from commerce.events.models import Event


def gapless_events(*, type: str | None = None) -> QuerySet[Event]:  # noqa: A002  the field's name
    """The events of the account in scope, up to the first gap that an open transaction may still fill.

    Ids are assigned before the commit, so an event may become visible after others with higher ids. Those are held back
    until then, as a client that follows the feed by ids would miss it otherwise.
    """
    # A statement of its own: the events must be read after the publishers' locks.
    with connection.cursor() as cursor:
        cursor.execute("SELECT settled_event_id()")
        (last_id,) = cursor.fetchone()
    events = Event.objects.filter(pk__lte=last_id)
    return events if type is None else events.filter(type=type)

"""An order's history for staff. Each app that knows a part of it registers a source."""

from collections.abc import Callable, Iterable, Iterator

from django.utils.translation import gettext as _

from commerce.backoffice.timeline import TimelineEntry, list_staff_entries

from .models import Order

# Its number of statements must not depend on how many entries there are.
TimelineSource = Callable[[Order], Iterable[TimelineEntry]]

_sources: list[TimelineSource] = []


def register_timeline_source(source: TimelineSource) -> TimelineSource:
    """Register a source. Apps import the registering module in their `ready()`."""
    _sources.append(source)
    return source


def build_timeline(order: Order) -> list[TimelineEntry]:
    """Return all entries, oldest first."""
    entries = [entry for source in _sources for entry in source(order)]
    return sorted(entries, key=lambda entry: entry.at)


@register_timeline_source
def _list_steps(order: Order) -> Iterator[TimelineEntry]:
    tracking = " ".join(filter(None, [order.carrier, order.tracking_number]))
    steps = [
        (order.placed_at, _("Placed"), order.email),
        (order.paid_at, _("Paid"), ""),
        (order.fulfilled_at, _("Fulfilled"), tracking),
        (order.cancelled_at, _("Cancelled"), order.cancel_reason or ""),
        (order.refunded_at, _("Refunded"), ""),
    ]
    return (TimelineEntry(at=at, title=title, detail=detail) for at, title, detail in steps if at is not None)


register_timeline_source(list_staff_entries)

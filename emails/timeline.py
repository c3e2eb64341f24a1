"""Timelines in the back office: of a delivery, and the emails in an order's."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from commerce.backoffice.timeline import TimelineEntry, list_staff_entries
from commerce.orders.models import Order
from commerce.orders.timeline import register_timeline_source
from commerce.outbox.queries import find_dispatch
from emails.models import EmailDelivery
from emails.queries import deliveries

# Titles in the timeline of the delivery, and of what the email is about.
_STEPS = {
    "sent_at": (gettext_lazy("Sent"), gettext_lazy("Email sent")),
    "delivered_at": (gettext_lazy("Delivered"), gettext_lazy("Email delivered")),
    "opened_at": (gettext_lazy("Opened"), gettext_lazy("Email opened")),
    "first_clicked_at": (gettext_lazy("Clicked"), gettext_lazy("Email clicked")),
    "bounced_at": (gettext_lazy("Bounced"), gettext_lazy("Email bounced")),
}


@register_timeline_source
def _list_emails(order: Order) -> Iterator[TimelineEntry]:
    for delivery in deliveries(reference_type="order", reference_id=order.pk):
        link = reverse("admin:emails_emaildelivery_change", args=[delivery.pk])
        for at, _short, title in _list_steps(delivery):
            yield TimelineEntry(at=at, title=title, detail=str(delivery), link=link)


def build_delivery_timeline(delivery: EmailDelivery) -> list[TimelineEntry]:
    """From the dispatch to the actions of staff, oldest first. Two statements."""
    steps = [TimelineEntry(at=at, title=title) for at, title, _long in _list_steps(delivery)]
    queued = TimelineEntry(at=delivery.queued_at, title=_("Queued"))
    # Dispatches are pruned, so an old message has none to link to.
    dispatch = find_dispatch(delivery.idempotency_key, key_space=delivery.key_space)
    if dispatch is not None:
        link = reverse("admin:outbox_outboxdispatch_change", args=[dispatch.pk])
        queued = replace(queued, detail=_("Dispatch %(id)s") % {"id": dispatch.pk}, link=link)
    return sorted([queued, *steps, *list_staff_entries(delivery)], key=lambda entry: entry.at)


def _list_steps(delivery: EmailDelivery) -> Iterator[tuple[datetime, str, str]]:
    for field, (short, long) in _STEPS.items():
        if at := getattr(delivery, field):
            yield at, str(short), str(long)

"""Emails on the overview: how many were sent, and how many of them came back."""

from collections.abc import Iterator

from django.db.models import Count
from django.utils.translation import gettext as _

from commerce.backoffice.days import Period
from commerce.backoffice.display import format_count
from commerce.backoffice.figures import Figure, Window, register_figures
from commerce.backoffice.filters import period_parameter
from emails.models import EmailDelivery

_PAGE = "emails.emaildelivery"


@register_figures(_PAGE)
def _make_figures(window: Window) -> Iterator[Figure]:
    sent, bounced = _count(window, window.period)
    sent_before, bounced_before = _count(window, window.period.previous())
    days = {period_parameter("sent_at"): str(window.period)}
    yield Figure(
        title=_("Emails sent"),
        text=format_count(sent),
        count=sent,
        page=_PAGE,
        query=days,
        before=format_count(sent_before),
    )
    yield Figure(
        title=_("Emails that bounced"),
        text=format_count(bounced),
        count=bounced,
        page=_PAGE,
        query={"bounced_at__isnull": "0"} | days,
        before=format_count(bounced_before),
    )


def _count(window: Window, period: Period) -> tuple[int, int]:
    """Count the emails sent in a period, and how many of them bounced, by an index-only scan."""
    first, end = period.bounds(window.zone)
    sent = EmailDelivery.objects.filter(sent_at__gte=first, sent_at__lt=end)
    counts = sent.aggregate(sent=Count("sent_at"), bounced=Count("bounced_at"))
    return counts["sent"], counts["bounced"]

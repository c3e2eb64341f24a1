"""Checkouts on the overview: the open ones, and those that were abandoned."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from checkouts.filters import ABANDONED, OPEN
from checkouts.models import Checkout
from commerce.backoffice.days import Period
from commerce.backoffice.display import format_count
from commerce.backoffice.figures import Figure, Window, register_figures
from commerce.backoffice.filters import period_parameter

_PAGE = "checkouts.checkout"


@register_figures(_PAGE)
def _make_figures(window: Window) -> Iterator[Figure]:
    are_open = Checkout.objects.filter(OPEN).count()
    yield Figure(
        title=_("Open checkouts"),
        text=format_count(are_open),
        count=are_open,
        page=_PAGE,
        query={"progress": "open"},
        note=_("now"),
    )
    abandoned = _count_abandoned(window, window.period)
    yield Figure(
        title=_("Abandoned checkouts"),
        text=format_count(abandoned),
        count=abandoned,
        page=_PAGE,
        query={"progress": "abandoned", period_parameter("created_at"): str(window.period)},
        before=format_count(_count_abandoned(window, window.period.previous())),
    )


def _count_abandoned(window: Window, period: Period) -> int:
    first, end = period.bounds(window.zone)
    return Checkout.objects.filter(ABANDONED, created_at__gte=first, created_at__lt=end).count()

"""Carts on the overview: how many were created, and how many became orders."""

from collections.abc import Iterator

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from carts.models import Cart
from commerce.backoffice.days import Period
from commerce.backoffice.display import format_count, format_share
from commerce.backoffice.figures import Figure, Window, register_figures
from commerce.backoffice.filters import period_parameter

_PAGE = "carts.cart"
_CONVERTED = Q(status=Cart.Status.CONVERTED)


@register_figures(_PAGE)
def _make_figures(window: Window) -> Iterator[Figure]:
    created, converted = _count(window, window.period)
    created_before, converted_before = _count(window, window.period.previous())
    days = {period_parameter("created_at"): str(window.period)}
    yield Figure(
        title=_("Carts created"),
        text=format_count(created),
        count=created,
        page=_PAGE,
        query=days,
        before=format_count(created_before),
    )
    yield Figure(
        title=_("Carts that became orders"),
        text=format_share(converted, created),
        count=converted,
        page=_PAGE,
        query={"status__exact": Cart.Status.CONVERTED.value} | days,
        before=format_share(converted_before, created_before),
        note=ngettext("%(number)s cart", "%(number)s carts", converted) % {"number": format_count(converted)},
    )


def _count(window: Window, period: Period) -> tuple[int, int]:
    """Count the carts created in a period, and how many of them became orders, each by an index-only scan."""
    first, end = period.bounds(window.zone)
    carts = Cart.objects.filter(created_at__gte=first, created_at__lt=end)
    return carts.count(), carts.filter(_CONVERTED).count()

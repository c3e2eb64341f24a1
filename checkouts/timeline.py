"""Payments in the timeline of an order."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from checkouts.models import CheckoutPaymentAttempt
from commerce.backoffice.display import format_money
from commerce.backoffice.timeline import TimelineEntry
from commerce.orders.models import Order
from commerce.orders.timeline import register_timeline_source


@register_timeline_source
def _list_payments(order: Order) -> Iterator[TimelineEntry]:
    link = reverse("admin:checkouts_checkout_change", args=[order.checkout_id])
    for attempt in CheckoutPaymentAttempt.objects.filter(checkout_id=order.checkout_id):
        detail = _("%(amount)s by %(method)s") % {
            "amount": format_money(attempt.amount_cents, attempt.currency),
            "method": attempt.payment_method,
        }
        yield TimelineEntry(at=attempt.created_at, title=_("Payment started"), detail=detail, link=link)
        if attempt.confirmed_at:
            reason = f", {attempt.failure_code}" if attempt.failure_code else ""
            title = _("Payment: %(status)s") % {"status": attempt.get_status_display()}
            yield TimelineEntry(at=attempt.confirmed_at, title=title, detail=detail + reason, link=link)

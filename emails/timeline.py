"""What the back office tells of an order's emails."""

from collections.abc import Iterator

from django.urls import reverse

from commerce.orders.models import Order
from commerce.orders.timeline import Moment, tells_of_orders
from emails.queries import deliveries

_MOMENTS = {
    "sent_at": "sent",
    "delivered_at": "delivered",
    "opened_at": "opened",
    "first_clicked_at": "clicked",
    "bounced_at": "bounced",
}


@tells_of_orders
def _emails(order: Order) -> Iterator[Moment]:
    for delivery in deliveries(reference_type="order", reference_id=order.pk):
        link = reverse("admin:emails_emaildelivery_change", args=[delivery.pk])
        for field, verb in _MOMENTS.items():
            if at := getattr(delivery, field):
                yield Moment(at=at, title=f"Email {verb}", detail=str(delivery), link=link)

"""What staff see first: how the shop is doing, and what waits for them."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Sum
from django.template.defaultfilters import pluralize

from commerce.backoffice.display import money
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.webhooks.models import WebhookEndpoint

_PERIOD = timedelta(days=30)
_SHOWN_ORDERS = 10


def overview(*, now: datetime) -> dict[str, Any]:
    """Figures of the account in scope and its latest orders, in a fixed number of statements."""
    return {"figures": _figures(now), "latest_orders": Order.objects.order_by("-pk")[:_SHOWN_ORDERS]}


def _figures(now: datetime) -> list[tuple[str, str]]:
    open_orders = Order.objects.filter(status=Order.Status.OPEN)
    unfulfilled = open_orders.filter(fulfillment_status=Order.FulfillmentStatus.UNFULFILLED)
    sold_out = InventoryLevel.objects.filter(
        allow_backorder=False, on_hand__lte=F("reserved") + F("committed"), variant__archived_at__isnull=True
    )
    failed = OutboxDispatch.objects.filter(status=OutboxDispatch.Status.DEAD)
    disabled = WebhookEndpoint.objects.filter(status=WebhookEndpoint.Status.DISABLED)
    return [
        *_sales(now),
        ("Orders to fulfil", str(unfulfilled.count())),
        ("Sold out", str(sold_out.count())),
        ("Failed dispatches", str(failed.count())),
        ("Disabled webhooks", str(disabled.count())),
    ]


def _sales(now: datetime) -> list[tuple[str, str]]:
    recent = Order.objects.filter(placed_at__gt=now - _PERIOD).exclude(status=Order.Status.CANCELLED)
    by_currency = recent.order_by("currency").values("currency")
    sales = by_currency.annotate(total_cents=Sum("total_cents"), number=Count("pk"))
    return [
        (
            f"{sale['number']} order{pluralize(sale['number'])} in 30 days",
            money(sale["total_cents"], sale["currency"]),
        )
        for sale in sales
    ]

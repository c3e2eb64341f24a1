"""The start page: how the shop is doing, and what needs attention."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Sum
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils.http import urlencode

from commerce.backoffice.display import format_money
from commerce.backoffice.panels import make_panels
from commerce.inventory.models import InventoryLevel
from commerce.orders.models import Order
from commerce.outbox.models import OutboxDispatch
from commerce.webhooks.models import WebhookEndpoint

_PERIOD = timedelta(days=30)
_SHOWN_ORDERS = 10


@dataclass(frozen=True, slots=True)
class Figure:
    """A number on the overview. `link` leads to what it counts; `is_alarming` if somebody should look into it."""

    title: str
    text: str
    link: str = ""
    is_alarming: bool = False


def load_overview(*, now: datetime) -> dict[str, object]:
    """Load figures and latest orders of the account in scope, in a fixed number of statements."""
    return {
        "figures": _load_figures(now),
        "latest_orders": Order.objects.order_by("-pk")[:_SHOWN_ORDERS],
        "panels": make_panels(now=now),
    }


def _load_figures(now: datetime) -> list[Figure]:
    recent = Order.objects.filter(placed_at__gt=now - _PERIOD).exclude(status=Order.Status.CANCELLED)
    by_currency = recent.order_by("currency").values("currency")
    sales = by_currency.annotate(total_cents=Sum("total_cents"), number=Count("pk"))
    open_orders = Order.objects.filter(status=Order.Status.OPEN)
    unfulfilled = open_orders.filter(fulfillment_status=Order.FulfillmentStatus.UNFULFILLED)
    # Units that are reserved by checkouts or committed to orders are still on hand, but can't be sold.
    sold_out = InventoryLevel.objects.filter(
        allow_backorder=False, on_hand__lte=F("reserved") + F("committed"), variant__archived_at__isnull=True
    )
    dead = OutboxDispatch.objects.filter(status=OutboxDispatch.Status.DEAD)
    disabled = WebhookEndpoint.objects.filter(status=WebhookEndpoint.Status.DISABLED)
    return [
        *(
            Figure(
                f"{sale['number']} order{pluralize(sale['number'])} in 30 days",
                format_money(sale["total_cents"], sale["currency"]),
            )
            for sale in sales
        ),
        Figure("Orders to fulfil", str(unfulfilled.count())),
        Figure("Sold out", str(sold_out.count())),
        _make_alarm("Dead dispatches", dead.count(), "outbox_outboxdispatch", OutboxDispatch.Status.DEAD),
        _make_alarm(
            "Disabled webhooks", disabled.count(), "webhooks_webhookendpoint", WebhookEndpoint.Status.DISABLED
        ),
    ]


def _make_alarm(title: str, number: int, page: str, status: str) -> Figure:
    """Build a figure that should be 0, with a link to what it counts."""
    query = urlencode({"status__exact": status})
    link = f"{reverse(f'admin:{page}_changelist')}?{query}"
    return Figure(title, str(number), link=link, is_alarming=number > 0)

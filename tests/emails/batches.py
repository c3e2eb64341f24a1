"""Runs batches of messages, and reads what became of them."""

from collections import Counter
from datetime import timedelta

from commerce.outbox.models import OutboxDispatch
from commerce.outbox.worker import run_due
from emails import handlers as email_handlers
from emails.models import EmailDelivery

MANY = email_handlers.AT_MOST


def run_once():
    """Run one batch."""
    run_due(within=timedelta(0))


def ends(shop):
    with shop.scope():
        return list(OutboxDispatch.objects.order_by("pk").values_list("status", "attempts"))


def deliveries(shop):
    with shop.scope():
        return list(EmailDelivery.objects.order_by("pk"))


def recipients(resend):
    return Counter(message["to"][0] for message in resend.received.values())

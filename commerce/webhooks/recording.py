"""The log of deliveries, and the health of endpoints that follows from it.

Logging a delivery takes no lock that another delivery would wait for: the endpoint's row is changed only if its state
changes, at the end of a transaction.
"""

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.db.models.functions import Coalesce

from commerce.events.operations import publish
from commerce.outside.http import Answer
from commerce.tenancy.scope import current_account_id

from .messages import Message
from .models import WebhookDelivery, WebhookEndpoint
from .queries import endpoints

# An endpoint that gets few events isn't disabled after only two failures.
MIN_FAILURES = 12
# Each try of an endpoint that doesn't answer takes a worker's time, so the tries become rarer.
FIRST_REST = timedelta(seconds=30)
LONGEST_REST = timedelta(minutes=10)
# An endpoint that takes this long to answer rests as well.
SLOW_MS = 5_000

Status = WebhookEndpoint.Status
Reason = WebhookEndpoint.DisabledReason

# Locks the key only: the endpoint can't be deleted meanwhile, but its state can change.
_LOG = """
    INSERT INTO webhook_deliveries (account_id, endpoint_id, message_id, event_type, attempt, status, response_status,
        response_excerpt, error, duration_ms, created_at)
    SELECT w.account_id, w.id, %s, %s, %s, %s, %s, %s, %s, %s, %s
      FROM webhook_endpoints w WHERE w.account_id = %s AND w.id = %s FOR KEY SHARE
"""


def record_delivery(
    *, endpoint_id: int, message: Message, attempt: int, answer: Answer, now: datetime
) -> None:
    """Log a try to deliver an event, and disable an endpoint that is gone or has failed for too long."""
    if not _log(endpoint_id, message, attempt=attempt, answer=answer, now=now):
        return
    if not answer.is_success:
        _note_failure(endpoint_id, answer, now=now)
        return
    # Filtered, so that the row of a healthy endpoint is neither written nor locked.
    active = endpoints().filter(pk=endpoint_id, status=Status.ACTIVE)
    active.filter(consecutive_failures__gt=0).update(
        consecutive_failures=0, failing_since=None, rests_until=None
    )
    if _is_slow(answer):
        active.update(rests_until=now + FIRST_REST)


def record_ping(*, endpoint_id: int, message: Message, answer: Answer, now: datetime) -> None:
    """Log a ping. It doesn't count for the endpoint's health, as paused endpoints are pinged too."""
    _log(endpoint_id, message, attempt=1, answer=answer, now=now)


def _log(endpoint_id: int, message: Message, *, attempt: int, answer: Answer, now: datetime) -> bool:
    """Insert a row into the log. Return False if the endpoint has been deleted meanwhile."""
    outcome = WebhookDelivery.Status.SUCCEEDED if answer.is_success else WebhookDelivery.Status.FAILED
    values: list[Any] = [
        *(message.id, message.type, attempt, outcome, answer.status),
        *(answer.excerpt, answer.error[:500], answer.duration_ms, now),
    ]
    with connection.cursor() as cursor:
        cursor.execute(_LOG, [*values, current_account_id(), endpoint_id])
        return cursor.rowcount == 1


def _note_failure(endpoint_id: int, answer: Answer, *, now: datetime) -> None:
    active = endpoints().filter(pk=endpoint_id, status=Status.ACTIVE)
    if not active.update(
        consecutive_failures=F("consecutive_failures") + 1, failing_since=Coalesce("failing_since", now)
    ):
        # It was paused or disabled while this message was on its way.
        return
    endpoint = endpoints().get(pk=endpoint_id)
    is_to_rest = answer.status is None or _is_slow(answer)
    rests_until = now + _choose_rest(endpoint.consecutive_failures) if is_to_rest else None
    if rests_until != endpoint.rests_until:
        active.update(rests_until=rests_until)
    patience = timedelta(hours=settings.WEBHOOKS_DISABLE_AFTER_HOURS)
    is_old = endpoint.failing_since is not None and now - endpoint.failing_since >= patience
    if answer.status == HTTPStatus.GONE:
        _disable(endpoint, Reason.GONE, now=now)
    elif is_old and endpoint.consecutive_failures >= MIN_FAILURES:
        _disable(endpoint, Reason.FAILING, now=now)


def _is_slow(answer: Answer) -> bool:
    return answer.duration_ms >= SLOW_MS


def _choose_rest(failures: int) -> timedelta:
    # Bounded, because a power of thousands of failures would overflow.
    doublings = min(failures - 1, 10)
    return min(FIRST_REST * 2**doublings, LONGEST_REST)


def _disable(endpoint: WebhookEndpoint, reason: Reason, *, now: datetime) -> None:
    endpoints().filter(pk=endpoint.pk).update(
        status=Status.DISABLED, disabled_reason=reason, paused_at=now, updated_at=now
    )
    data = {
        "webhook_endpoint_id": endpoint.pk,
        "url": endpoint.url,
        "reason": str(reason),
        "failing_since": endpoint.failing_since,
    }
    publish(type="webhook_endpoint.disabled", data=data, now=now)

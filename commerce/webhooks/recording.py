"""The log of deliveries, and what it makes of an endpoint's health."""

from datetime import datetime, timedelta

from django.conf import settings

from commerce.events.operations import publish
from commerce.outside.http import Answer
from commerce.rest.shapes import text_id, timestamp

from .messages import Message
from .models import WebhookDelivery, WebhookEndpoint
from .operations import lock_endpoint

# An endpoint with few events is not given up for two of them.
MIN_FAILURES = 12
# One that does not answer takes a worker's time for each try, so it is tried ever less often.
FIRST_REST = timedelta(seconds=30)
LONGEST_REST = timedelta(minutes=10)
_MAX_ERROR_LENGTH = 500
_GONE = 410
_HEALTH = ["consecutive_failures", "failing_since", "rests_until"]
_DISABLING = ["status", "disabled_reason", "paused_at", "updated_at"]

Reason = WebhookEndpoint.DisabledReason


def record_delivery(
    *, endpoint_id: int, message: Message, attempt: int, answer: Answer, now: datetime
) -> None:
    """Log a try to deliver an event, and pause an endpoint that is gone or has failed for too long."""
    endpoint = lock_endpoint(endpoint_id)
    if endpoint is None:
        return
    _log(endpoint, message, attempt=attempt, answer=answer, now=now)
    if endpoint.status != WebhookEndpoint.Status.ACTIVE:
        return
    if answer.is_success:
        _note_success(endpoint)
    else:
        _note_failure(endpoint, answer, now=now)


def record_ping(*, endpoint_id: int, message: Message, answer: Answer, now: datetime) -> None:
    """Log a ping, which says nothing about the health of an endpoint that may be paused."""
    endpoint = lock_endpoint(endpoint_id)
    if endpoint is not None:
        _log(endpoint, message, attempt=1, answer=answer, now=now)


def _log(endpoint: WebhookEndpoint, message: Message, *, attempt: int, answer: Answer, now: datetime) -> None:
    outcome = WebhookDelivery.Status.SUCCEEDED if answer.is_success else WebhookDelivery.Status.FAILED
    WebhookDelivery.objects.create(
        endpoint=endpoint,
        message_id=message.id,
        event_type=message.type,
        attempt=attempt,
        status=outcome,
        response_status=answer.status,
        response_excerpt=answer.excerpt,
        error=answer.error[:_MAX_ERROR_LENGTH],
        duration_ms=answer.duration_ms,
        created_at=now,
    )


def _note_success(endpoint: WebhookEndpoint) -> None:
    if endpoint.consecutive_failures:
        endpoint.consecutive_failures, endpoint.failing_since, endpoint.rests_until = 0, None, None
        endpoint.save(update_fields=_HEALTH)


def _note_failure(endpoint: WebhookEndpoint, answer: Answer, *, now: datetime) -> None:
    endpoint.failing_since = endpoint.failing_since or now
    endpoint.consecutive_failures += 1
    endpoint.rests_until = now + _rest_after(endpoint.consecutive_failures) if answer.status is None else None
    endpoint.save(update_fields=_HEALTH)
    reason = Reason.GONE if answer.status == _GONE else _failing(endpoint, now)
    if reason is not None:
        _disable(endpoint, reason, now=now)


def _rest_after(failures: int) -> timedelta:
    doublings = min(failures - 1, 10)
    return min(FIRST_REST * 2**doublings, LONGEST_REST)


def _failing(endpoint: WebhookEndpoint, now: datetime) -> Reason | None:
    patience = timedelta(hours=settings.WEBHOOKS_DISABLE_AFTER_HOURS)
    is_old = endpoint.failing_since is not None and now - endpoint.failing_since >= patience
    return Reason.FAILING if is_old and endpoint.consecutive_failures >= MIN_FAILURES else None


def _disable(endpoint: WebhookEndpoint, reason: Reason, *, now: datetime) -> None:
    endpoint.status = WebhookEndpoint.Status.DISABLED
    endpoint.disabled_reason, endpoint.paused_at = reason, now
    endpoint.save(update_fields=_DISABLING)
    data = {
        "webhook_endpoint_id": text_id(endpoint.pk),
        "url": endpoint.url,
        "reason": str(reason),
        "failing_since": timestamp(endpoint.failing_since),
    }
    publish(type="webhook_endpoint.disabled", data=data, now=now)

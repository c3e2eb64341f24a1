"""Merchants' endpoints. The dispatches to them are made by a trigger on `events`, see the first migration."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import F

from commerce.formats import timestamp
from commerce.outbox.operations import enqueue
from commerce.queries import get_or_not_found
from commerce.tenancy.locks import lock, lock_account
from commerce.tokens import generate_base62
from commerce.versions import ApiVersion

from .errors import TooManyEndpoints
from .messages import make_secret
from .models import WebhookDelivery, WebhookEndpoint
from .queries import endpoints, get_endpoint
from .rules import ENDPOINT, ROTATION

# Each event of an account may be sent to all of them.
MAX_ENDPOINTS = 20

Status = WebhookEndpoint.Status

_HEALTHY = {"consecutive_failures": 0, "failing_since": None, "rests_until": None}


def create_endpoint(*, fields: Mapping[str, object], version: ApiVersion) -> WebhookEndpoint:
    """Create an endpoint and its secret. Its messages will stay in this version of the API.

    Raises `ValidationFailed`, `TooManyEndpoints`, and `EndpointExists` through the unique key.
    """
    fields = ENDPOINT.check(fields)
    lock_account()
    if endpoints().count() >= MAX_ENDPOINTS:
        raise TooManyEndpoints(limit=MAX_ENDPOINTS)
    return WebhookEndpoint.objects.create(secret=make_secret(), api_version=version.name, **fields)


def update_endpoint(*, endpoint_id: int, changes: Mapping[str, object], now: datetime) -> WebhookEndpoint:
    """Change an endpoint. `status` may be active or paused. Raises `ValidationFailed`, `NotFound` and `EndpointExists`.

    Failures are reset when it becomes active again or gets another URL. Events that happen while it is paused aren't
    sent later; they are in the feed.
    """
    changes = ENDPOINT.check(changes, partial=True)
    endpoint = get_or_not_found(lock(endpoints()), pk=endpoint_id)
    if changes.get("status", endpoint.status) != endpoint.status:
        is_active = changes["status"] == Status.ACTIVE
        changes = changes | {"disabled_reason": "", "paused_at": None if is_active else now}
        if is_active:
            changes = changes | _HEALTHY
    # The earlier failures were those of another server.
    if changes.get("url", endpoint.url) != endpoint.url:
        changes = changes | _HEALTHY
    endpoint.save_changes(changes)
    return endpoint


def pause_endpoint(*, endpoint_id: int, now: datetime) -> WebhookEndpoint:
    """Send nothing until it is resumed, not even what is already waiting. Raises `NotFound`."""
    return update_endpoint(endpoint_id=endpoint_id, changes={"status": Status.PAUSED}, now=now)


def resume_endpoint(*, endpoint_id: int, now: datetime) -> WebhookEndpoint:
    """Send events from now on. Raises `NotFound`."""
    return update_endpoint(endpoint_id=endpoint_id, changes={"status": Status.ACTIVE}, now=now)


def delete_endpoint(*, endpoint_id: int) -> None:
    """Delete an endpoint with its log. Raises `NotFound`."""
    # Recording a delivery locks the endpoint's key, so that none can be added in between.
    endpoint = get_or_not_found(lock(endpoints(), keys_too=True), pk=endpoint_id)
    WebhookDelivery.objects.filter(endpoint_id=endpoint_id).delete()
    endpoint.delete()


def rotate_secret(*, endpoint_id: int, grace_seconds: int, now: datetime) -> WebhookEndpoint:
    """Replace the secret. During the grace period, messages are signed with the previous one as well.

    Raises `ValidationFailed` for a grace period that is too long, and `NotFound`.
    """
    ROTATION.check({"grace_seconds": grace_seconds})
    has_grace = grace_seconds > 0
    # One statement, so that the old secret that is kept is the one that is replaced.
    endpoints().filter(pk=endpoint_id).update(
        previous_secret=F("secret") if has_grace else "",
        previous_secret_until=now + timedelta(seconds=grace_seconds) if has_grace else None,
        secret=make_secret(),
        updated_at=now,
    )
    return get_endpoint(endpoint_id)


def ping_endpoint(*, endpoint_id: int, now: datetime) -> str:
    """Enqueue a message for trying the endpoint, even a paused one. It is sent once. Returns its id; raises `NotFound`."""
    endpoint = get_endpoint(endpoint_id)
    message_id = f"ping_{generate_base62(22)}"
    # The time is stored, so that a repeated run sends the same message.
    payload = {"endpoint_id": endpoint.pk, "message_id": message_id, "occurred_at": timestamp(now)}
    enqueue(task_name="ping_webhook", payload=payload, idempotency_key=f"webhook/{message_id}", now=now)
    return message_id


def prune_deliveries(*, max_age: timedelta, batch: int, passed_over: int = 0) -> tuple[int, list[int]]:
    """Delete old deliveries of all accounts. Returns their number, and the ids of those that couldn't be deleted.

    Call it outside of any scope.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT deleted, failed FROM prune_old_deliveries(make_interval(secs => %s), %s::int, %s::int)",
            [max_age.total_seconds(), batch, passed_over],
        )
        return cursor.fetchone()

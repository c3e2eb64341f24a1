"""The tasks `deliver_webhook` and `ping_webhook`: no transaction is open while an endpoint is called."""

from datetime import datetime
from functools import partial
from http import HTTPStatus

from django.conf import settings
from django.utils import timezone

from commerce.events.models import Event
from commerce.outbox.errors import PermanentFailure, Postponed
from commerce.outbox.handlers import Outcome, handles, open_scope
from commerce.outbox.models import OutboxDispatch
from commerce.outside.http import Answer, post
from commerce.tenancy.models import account_of
from commerce.versions import find_version

from .errors import DeliveryFailed
from .messages import Message, make_message, make_ping, make_signed_headers
from .models import WebhookEndpoint
from .queries import endpoints
from .recording import record_delivery, record_ping

_SKIPPED = Outcome(OutboxDispatch.Status.SKIPPED)


# Events that couldn't be delivered are still in the feed, and a ping may be lost.
@handles("deliver_webhook", share=3 / 8, keeps_dead=False, area="events")
def deliver_webhook(dispatch: OutboxDispatch) -> Outcome:
    """Send an event to an endpoint, unless it has been paused or deleted meanwhile."""
    payload = dispatch.payload
    with open_scope(dispatch):
        active = endpoints().filter(pk=payload["endpoint_id"], status=WebhookEndpoint.Status.ACTIVE)
        endpoint = active.first()
        if endpoint is None:
            return _SKIPPED
        message = make_message(Event.objects.get(pk=payload["event_id"]), find_version(endpoint.api_version))
    if rests_until := endpoint.find_end_of_rest(timezone.now()):
        raise Postponed("The endpoint rests, as it gave no answer or a slow one.", until=rests_until)
    answer = _send(endpoint, message)
    record = partial(
        record_delivery,
        endpoint_id=endpoint.pk,
        message=message,
        attempt=dispatch.attempts + 1,
        answer=answer,
        now=timezone.now(),
    )
    if answer.is_success:
        return Outcome(record=record)
    # The outbox records the result of a successful run only. A failed one is logged here.
    with open_scope(dispatch):
        record()
    if answer.status == HTTPStatus.GONE:
        raise PermanentFailure("The endpoint says that it is gone for good.")
    raise DeliveryFailed(answer.error or f"The endpoint answered {answer.status}.")


@handles("ping_webhook", share=1 / 8, keeps_dead=False, area="events")
def ping_webhook(dispatch: OutboxDispatch) -> Outcome:
    """Send a ping once, whatever the answer, and log the result."""
    payload = dispatch.payload
    with open_scope(dispatch):
        endpoint = endpoints().filter(pk=payload["endpoint_id"]).first()
    if endpoint is None:
        return _SKIPPED
    message = make_ping(
        message_id=payload["message_id"],
        account_id=account_of(endpoint),
        endpoint_id=endpoint.pk,
        version=find_version(endpoint.api_version),
        now=datetime.fromisoformat(payload["occurred_at"]),
    )
    answer = _send(endpoint, message)
    return Outcome(
        record=partial(
            record_ping, endpoint_id=endpoint.pk, message=message, answer=answer, now=timezone.now()
        )
    )


def _send(endpoint: WebhookEndpoint, message: Message) -> Answer:
    # Signed for each try: receivers refuse old time stamps.
    now = timezone.now()
    headers = make_signed_headers(message, keys=endpoint.list_signing_secrets(now), now=now)
    return post(
        endpoint.url,
        body=message.body,
        headers=headers | {"Content-Type": "application/json", "User-Agent": "Commerce-Webhooks/1.0"},
        allow_private=settings.OUTSIDE_ALLOW_PRIVATE,
    )

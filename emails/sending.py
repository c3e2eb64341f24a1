"""Sending while a client waits: one call of the renderer and one of the provider, with no transaction open.

First the key is claimed: a dispatch is inserted, which this request holds under a lease. Of two requests with one key,
one sends and the other is told to wait. The rendered message is stored with the dispatch before it is handed off. Then

- the provider accepts: one transaction records the delivery and ends the dispatch;
- the renderer or the provider refuses or can't be reached: nothing was sent, so the dispatch is deleted, and the same
  key may be sent again at once;
- the message went out and no answer came: the dispatch stays, and the outbox sends the same bytes under the same
  provider key, which the provider counts as one message. The client is told that it failed, asks again with its key,
  and gets the delivery once there is one;
- the provider doesn't answer within `WITHIN_S`: the dispatch stays too, and a worker, which has more time, takes over
  at once. The client is told to come back with its key (`EmailUnderWay`);
- this process dies: the lease runs out, and the outbox takes over.
"""

import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import TypedDict

from django.conf import settings
from django.utils import timezone

from commerce.customers.errors import CustomerRedacted
from commerce.customers.models import Customer
from commerce.errors import RequestInProgress, TooManyOutsideCalls, ValidationFailed
from commerce.mail import SEND_EMAIL
from commerce.outbox.errors import LeaseLost
from commerce.outbox.models import KeySpace, OutboxDispatch
from commerce.outbox.operations import (
    close_dispatch,
    drop_dispatch,
    enqueue_held,
    postpone_dispatch,
    reschedule_dispatch,
)
from commerce.outbox.queries import find_dispatch
from commerce.outside.deadline import Deadline
from commerce.tenancy.scope import ScopeOpener, current_account_id
from commerce.waiting import Call, waiting_call
from emails.errors import (
    EmailKeyGivenUp,
    EmailProviderResting,
    EmailUnderWay,
    NotificationDisabled,
    ProviderFailed,
    RendererFailed,
    TemplatesResting,
)
from emails.lost_renderings import OwnTemplatesResting
from emails.messages import Message
from emails.models import EmailDelivery
from emails.operations import Sent, Written, keep_messages, record_deliveries
from emails.own_calls import NoPlace
from emails.providers import MessageRefused, OutcomeUnknown, ProviderDown, ProviderUnavailable
from emails.queries import deliveries
from emails.renderer_client import RendererBusy, RendererUnavailable, TemplateRefused
from emails.requests import EmailRequest
from emails.resting import Health, ProviderResting, admit, note_answer, note_failure, note_refusal
from emails.sender import ChosenTemplate, Sender, load_sender

# For renderer and provider together. A worker may take longer, as it blocks no web thread.
WITHIN_S = 5


_UNDER_WAY = {OutboxDispatch.Status.PENDING, OutboxDispatch.Status.PROCESSING}


class SendFields(TypedDict):
    """The fields of a request to send; the rest of the message comes from the customer and the account."""

    template_key: str
    customer_id: int
    ctx: dict[str, object]
    locale: str | None
    reference_type: str | None
    reference_id: int | None
    skip_notification_check: bool


@dataclass(frozen=True, slots=True)
class _Job:
    """A message that this request, and no other, may send."""

    request: EmailRequest
    sender: Sender
    template: ChosenTemplate
    dispatch: OutboxDispatch
    health: Health

    def write(self, message: Message) -> Written:
        return Written(dispatch=self.dispatch, request=self.request, message=message)


def send_now(*, scope: ScopeOpener, idempotency_key: str, fields: SendFields, now: datetime) -> EmailDelivery:
    """Send a message to a customer and record it. Called outside of any scope.

    Raises `ValidationFailed`, `CustomerRedacted`, `NotificationDisabled`, `TemplateNotFound`, `RendererFailed`,
    `ProviderFailed`, `EmailProviderResting`, `TemplatesResting`, `TooManyOutsideCalls`, `EmailUnderWay`, and for a key
    in use `RequestInProgress`, `EmailKeyGivenUp`.
    """
    try:
        with ExitStack() as waiting:
            with scope():
                job = _accept(idempotency_key, fields, now)
                # In the same transaction, so that a refusal stores nothing.
                limit = waiting.enter_context(
                    waiting_call(Call.EMAIL, current_account_id(), within_s=WITHIN_S)
                )
            message = _render(job, scope)
            provider_message_id = _hand_off(job, message, scope, limit)
            with scope():
                return _record(job, message, provider_message_id)
    except LeaseLost:
        # This request outlived its lease, so the outbox has taken the message over.
        raise RequestInProgress("An email with this idempotency_key is being sent.") from None


def find_sent_delivery(idempotency_key: str) -> EmailDelivery | None:
    """The delivery that the account in scope has sent under this key."""
    return deliveries(key_space=KeySpace.CALLER, idempotency_key=idempotency_key).first()


def _accept(idempotency_key: str, fields: SendFields, now: datetime) -> _Job:
    """Check all that can be checked without an outside call, and claim the key."""
    customer = _get_reachable_customer(fields["customer_id"])
    request = EmailRequest(to_email=customer.email or "", **fields)
    if not request.may_reach(customer):
        raise NotificationDisabled
    sender = load_sender()
    if not sender.has_place(among=settings.WEB_CALLS[Call.EMAIL]):
        _refuse_used_key(idempotency_key)
        raise TooManyOutsideCalls
    try:
        health = admit(sender.settings, now=now)
    except ProviderResting as resting:
        _refuse_used_key(idempotency_key)
        refusal = EmailProviderResting()
        refusal.headers["Retry-After"] = str(max(1, ceil((resting.until - now).total_seconds())))
        raise refusal from resting
    template = sender.choose_template(request, customer=customer)
    dispatch = enqueue_held(
        task_name=SEND_EMAIL, payload=request.as_payload(), idempotency_key=idempotency_key, now=now
    )
    if dispatch is not None:
        return _Job(request, sender, template, dispatch, health)
    _refuse_used_key(idempotency_key)
    # The request that held the key has failed meanwhile, and sent nothing.
    raise RequestInProgress("An email with this idempotency_key is being sent.")


def _refuse_used_key(idempotency_key: str) -> None:
    """Raises `RequestInProgress` or `EmailKeyGivenUp` if there is a dispatch with this key."""
    used = find_dispatch(idempotency_key, key_space=KeySpace.CALLER)
    if used is None:
        return
    # A delivery that has appeared since the caller looked is found when the client asks again.
    if used.status in _UNDER_WAY or find_sent_delivery(idempotency_key):
        raise RequestInProgress("An email with this idempotency_key is being sent.")
    raise EmailKeyGivenUp(dispatch_id=used.pk, dispatch_status=used.status)


def _get_reachable_customer(customer_id: int) -> Customer:
    customer = Customer.objects.filter(pk=customer_id).first()
    if customer is None:
        raise ValidationFailed.unknown("customer_id")
    # First, as a redaction has erased the address too.
    if customer.redacted_at is not None:
        raise CustomerRedacted
    if not customer.email:
        raise ValidationFailed.of("customer_id", "no_email", "The customer has no email address.")
    return customer


def _render(job: _Job, scope: ScopeOpener) -> Message:
    try:
        message = job.sender.render(job.request, job.template)
        _keep(job, message, scope)
    except LeaseLost:
        # The dispatch belongs to a worker by now.
        raise
    except Exception as error:
        # Nothing was sent yet, so the key may be used again, whatever the error.
        _drop(job, scope)
        if isinstance(error, OwnTemplatesResting):
            raise TemplatesResting.build(error.left_s) from error
        if isinstance(error, RendererBusy):
            raise TooManyOutsideCalls from error
        if isinstance(error, RendererUnavailable | TemplateRefused):
            raise RendererFailed(str(error)) from error
        raise
    return message


def _keep(job: _Job, message: Message, scope: ScopeOpener) -> None:
    with scope():
        kept, redacted = keep_messages([job.write(message)])
    if redacted:
        raise CustomerRedacted
    if not kept:
        raise LeaseLost


def _hand_off(job: _Job, message: Message, scope: ScopeOpener, limit: Deadline) -> str:
    """Hand the message to the provider and return the provider's id for it. After a failure, the dispatch is let go."""
    failure: Exception
    began = time.monotonic()
    try:
        return job.sender.hand_off(message, dispatch=job.dispatch, among=settings.WEB_CALLS[Call.EMAIL])
    except NoPlace as error:
        _drop(job, scope)
        raise TooManyOutsideCalls from error
    except ProviderDown as error:
        if limit.is_over:
            with scope():
                # Doesn't count as an attempt: this request had less time than a worker has.
                postpone_dispatch(dispatch=job.dispatch, reason=str(error), until=timezone.now())
            raise EmailUnderWay(dispatch_id=job.dispatch.pk) from error
        failure = error
    except (MessageRefused, ProviderUnavailable) as error:
        failure = error
    except Exception as error:
        # An unknown fault may have come after the message was sent, so the key isn't given back.
        _reschedule(job, scope, error)
        raise
    with scope():
        _note_failure(job.health, failure, took_s=time.monotonic() - began)
    if isinstance(failure, OutcomeUnknown):
        _reschedule(job, scope, failure)
        raise ProviderFailed(str(failure), dispatch_id=job.dispatch.pk) from failure
    _drop(job, scope)
    raise ProviderFailed(str(failure)) from failure


def _note_failure(health: Health, failure: Exception, *, took_s: float) -> None:
    now = timezone.now()
    if isinstance(failure, ProviderDown):
        note_failure(health, was_sent=isinstance(failure, OutcomeUnknown), now=now)
    else:
        note_refusal(health, took_s=took_s, now=now)


def _drop(job: _Job, scope: ScopeOpener) -> None:
    with scope():
        drop_dispatch(dispatch=job.dispatch)


def _reschedule(job: _Job, scope: ScopeOpener, error: Exception) -> None:
    with scope():
        reschedule_dispatch(
            dispatch=job.dispatch, error=f"{type(error).__name__}: {error}", now=timezone.now()
        )


def _record(job: _Job, message: Message, provider_message_id: str) -> EmailDelivery:
    now = timezone.now()
    # A slow call never gets here: it was left to the outbox.
    note_answer(job.health, took_s=0, now=now)
    # Before the delivery: this locks the dispatch, and fails if a worker has taken it over and records the message.
    close_dispatch(dispatch=job.dispatch, status=OutboxDispatch.Status.SUCCEEDED, now=now)
    sent = Sent(
        written=job.write(message),
        provider=job.sender.settings.provider,
        provider_message_id=provider_message_id,
        at=now,
    )
    (delivery,) = record_deliveries([sent], now=now)
    return delivery

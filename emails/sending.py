"""Sending while a client waits: one call of the renderer and one of the provider, with no transaction open.

What may happen in between decides how it is written. The key is claimed first, by a dispatch of the outbox that
this request holds under a lease, so that of two requests with one key one sends and the other is told to wait.
The rendered message is stored with it before the hand-off. Then either

- the provider accepts: delivery and end of the dispatch are one transaction;
- the renderer or the provider says no, or can't be reached: nothing has left the house, the dispatch is dropped,
  and the same key may be sent again at once;
- the message went out and no answer came: the dispatch stays, with the message, and the outbox sends the same
  bytes under the same key of the provider, who makes one message of them. The client is told that it failed, asks
  again with its key, and gets the delivery as soon as there is one;
- the provider has given no answer by the time that a request may take (`WITHIN_S`): the dispatch stays as well, and
  a worker, which has more time, goes on at once. The client is told to come back with its key (`EmailUnderWay`);
- this process dies: the lease runs out, and the outbox goes on as above.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from typing import Any

from django.utils import timezone

from commerce.customers.errors import CustomerRedacted
from commerce.customers.models import Customer
from commerce.errors import RequestInProgress, ValidationFailed
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
from commerce.outbox.queries import dispatch_of_key
from commerce.outside.deadline import Deadline
from commerce.tenancy.scope import current_account_id
from commerce.waiting import Call, too_many, waiting_call
from emails.errors import (
    EmailKeyGivenUp,
    EmailProviderResting,
    EmailUnderWay,
    NotificationDisabled,
    ProviderFailed,
    RendererFailed,
)
from emails.messages import Message
from emails.models import EmailDelivery
from emails.operations import keep_message, record_delivery
from emails.providers import MessageRefused, OutcomeUnknown, ProviderDown, ProviderUnavailable
from emails.queries import deliveries
from emails.renderer_client import RendererBusy, RendererUnavailable, TemplateRefused
from emails.requests import EmailRequest
from emails.resting import Health, ProviderResting, admit, note_answer
from emails.sender import Draft, Sender, current_sender

# For renderer and provider together. A worker has more time, and nobody's web threads.
WITHIN_S = 5
# By when a worker has the answer of a provider that is slow.
RETRY_AFTER_S = 30

Scope = Callable[[], AbstractContextManager[None]]

_UNDER_WAY = {OutboxDispatch.Status.PENDING, OutboxDispatch.Status.PROCESSING}


@dataclass(frozen=True, slots=True)
class _Job:
    """A message that may be sent, and by this request alone."""

    request: EmailRequest
    sender: Sender
    draft: Draft
    dispatch: OutboxDispatch
    health: Health


def send_now(*, scope: Scope, idempotency_key: str, fields: dict[str, Any], now: datetime) -> EmailDelivery:
    """Send a message to a customer and record it; called outside of any scope.

    Raises `ValidationFailed`, `CustomerRedacted`, `NotificationDisabled`, `TemplateNotFound`, `RendererFailed`,
    `ProviderFailed`, `EmailProviderResting`, `TooManyOutsideCalls`, `EmailUnderWay`, and where the key is taken
    `RequestInProgress`, `EmailKeyGivenUp`.
    """
    with ExitStack() as waiting, _in_progress_elsewhere():
        with scope():
            job = _accepted(idempotency_key, fields, now)
            # Refused in the same transaction, so that nothing is stored then.
            limit = waiting.enter_context(waiting_call(Call.EMAIL, current_account_id(), within_s=WITHIN_S))
        message = _render(job, scope)
        provider_message_id = _hand_off(job, message, scope, limit)
        with scope():
            return _record(job, message, provider_message_id)


def sent_before(idempotency_key: str) -> EmailDelivery | None:
    """The delivery that the account in scope has made under this key."""
    return deliveries(key_space=KeySpace.CALLER, idempotency_key=idempotency_key).first()


def _accepted(idempotency_key: str, fields: dict[str, Any], now: datetime) -> _Job:
    customer = _reachable_customer(fields["customer_id"])
    request = EmailRequest(to_email=customer.email or "", **fields)
    if not request.may_reach(customer):
        raise NotificationDisabled
    sender = current_sender()
    health = _admitted(sender, now)
    draft = sender.draft(request, customer=customer)
    dispatch = enqueue_held(
        task_name=SEND_EMAIL, payload=request.as_payload(), idempotency_key=idempotency_key, now=now
    )
    if dispatch is None:
        raise _key_taken(idempotency_key)
    return _Job(request, sender, draft, dispatch, health)


def _admitted(sender: Sender, now: datetime) -> Health:
    try:
        return admit(sender.settings, now=now)
    except ProviderResting as resting:
        refusal = EmailProviderResting()
        refusal.headers["Retry-After"] = str(max(1, ceil((resting.until - now).total_seconds())))
        raise refusal from resting


def _reachable_customer(customer_id: int) -> Customer:
    customer = Customer.objects.filter(pk=customer_id).first()
    if customer is None:
        raise ValidationFailed.unknown("customer_id")
    if customer.redacted_at is not None:
        raise CustomerRedacted
    if not customer.email:
        raise ValidationFailed.of("customer_id", "no_email", "The customer has no email address.")
    return customer


def _key_taken(idempotency_key: str) -> Exception:
    dispatch = dispatch_of_key(idempotency_key, key_space=KeySpace.CALLER)
    if dispatch is None or dispatch.status in _UNDER_WAY or sent_before(idempotency_key):
        return RequestInProgress("An email of this idempotency_key is being sent.")
    return EmailKeyGivenUp(dispatch_id=dispatch.pk, dispatch_status=dispatch.status)


@contextmanager
def _in_progress_elsewhere() -> Iterator[None]:
    """A request that was slower than its lease has lost its work to the outbox."""
    try:
        yield
    except LeaseLost:
        raise RequestInProgress("An email of this idempotency_key is being sent.") from None


def _render(job: _Job, scope: Scope) -> Message:
    try:
        message = job.sender.render(job.request, job.draft)
        with scope():
            keep_message(dispatch=job.dispatch, request=job.request, message=message)
    except LeaseLost:
        raise
    except Exception as error:
        _drop(job, scope)
        if isinstance(error, RendererBusy):
            raise too_many() from error
        if isinstance(error, RendererUnavailable | TemplateRefused):
            raise RendererFailed(str(error)) from error
        raise
    return message


def _hand_off(job: _Job, message: Message, scope: Scope, limit: Deadline) -> str:
    try:
        return job.sender.hand_off(message, dispatch=job.dispatch)
    except ProviderDown as error:
        if not limit.is_over:
            raise _failed(job, scope, error) from error
        _pass_to_the_outbox(job, scope, error)
        refusal = EmailUnderWay(dispatch_id=job.dispatch.pk)
        refusal.headers["Retry-After"] = str(RETRY_AFTER_S)
        raise refusal from error
    except (MessageRefused, ProviderUnavailable) as error:
        raise _failed(job, scope, error) from error
    except Exception as error:
        _leave_to_the_outbox(job, scope, error)
        raise


def _failed(job: _Job, scope: Scope, error: Exception) -> ProviderFailed:
    if isinstance(error, OutcomeUnknown):
        _leave_to_the_outbox(job, scope, error)
        return ProviderFailed(str(error), dispatch_id=job.dispatch.pk)
    _drop(job, scope)
    return ProviderFailed(str(error))


def _drop(job: _Job, scope: Scope) -> None:
    with scope():
        drop_dispatch(dispatch=job.dispatch)


def _leave_to_the_outbox(job: _Job, scope: Scope, error: Exception) -> None:
    with scope():
        reschedule_dispatch(
            dispatch=job.dispatch, error=f"{type(error).__name__}: {error}", now=timezone.now()
        )


def _pass_to_the_outbox(job: _Job, scope: Scope, error: Exception) -> None:
    """This request had less time than a worker has: that was no try."""
    with scope():
        postpone_dispatch(dispatch=job.dispatch, reason=str(error), until=timezone.now())


def _record(job: _Job, message: Message, provider_message_id: str) -> EmailDelivery:
    now = timezone.now()
    # A slow one was left to the outbox.
    note_answer(job.health, took_s=0, now=now)
    close_dispatch(dispatch=job.dispatch, status=OutboxDispatch.Status.SUCCEEDED, now=now)
    return record_delivery(
        request=job.request,
        message=message,
        dispatch=job.dispatch,
        provider=job.sender.settings.provider,
        provider_message_id=provider_message_id,
        now=now,
    )

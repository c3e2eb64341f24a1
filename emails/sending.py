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
- this process dies: the lease runs out, and the outbox goes on as above.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from commerce.customers.errors import CustomerRedacted
from commerce.customers.models import Customer
from commerce.errors import ValidationFailed
from commerce.outbox.errors import LeaseLost
from commerce.outbox.models import KeySpace, OutboxDispatch
from commerce.outbox.operations import close_dispatch, drop_dispatch, enqueue_held, reschedule_dispatch
from commerce.outbox.queries import dispatch_of_key
from commerce.rest.errors import RequestInProgress
from emails.errors import EmailKeyGivenUp, NotificationDisabled, ProviderFailed, RendererFailed
from emails.messages import Message
from emails.models import EmailDelivery
from emails.operations import keep_message, record_delivery
from emails.providers import MessageRefused, OutcomeUnknown, ProviderUnavailable
from emails.queries import deliveries
from emails.renderer_client import RendererUnavailable, TemplateRefused
from emails.requests import EmailRequest
from emails.sender import Draft, Sender, current_sender

Scope = Callable[[], AbstractContextManager[None]]

_UNDER_WAY = {OutboxDispatch.Status.PENDING, OutboxDispatch.Status.PROCESSING}


@dataclass(frozen=True, slots=True)
class _Job:
    """A message that may be sent, and by this request alone."""

    request: EmailRequest
    sender: Sender
    draft: Draft
    dispatch: OutboxDispatch


def send_now(*, scope: Scope, idempotency_key: str, fields: dict[str, Any], now: datetime) -> EmailDelivery:
    """Send a message to a customer and record it; called outside of any scope.

    Raises `ValidationFailed`, `CustomerRedacted`, `NotificationDisabled`, `TemplateNotFound`, `RendererFailed`,
    `ProviderFailed`, and where the key is taken `RequestInProgress`, `EmailKeyGivenUp`.
    """
    with scope():
        job = _accepted(idempotency_key, fields, now)
    with _in_progress_elsewhere():
        message = _render(job, scope)
        provider_message_id = _hand_off(job, message, scope)
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
    draft = sender.draft(request, customer=customer)
    dispatch = enqueue_held(
        task_name="send_email", payload=request.as_payload(), idempotency_key=idempotency_key, now=now
    )
    if dispatch is None:
        raise _key_taken(idempotency_key)
    return _Job(request, sender, draft, dispatch)


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
    return EmailKeyGivenUp(dispatch_id=str(dispatch.pk), dispatch_status=dispatch.status)


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
        if isinstance(error, RendererUnavailable | TemplateRefused):
            raise RendererFailed(str(error)) from error
        raise
    return message


def _hand_off(job: _Job, message: Message, scope: Scope) -> str:
    try:
        return job.sender.hand_off(message, dispatch=job.dispatch)
    except OutcomeUnknown as error:
        _leave_to_the_outbox(job, scope, error)
        raise ProviderFailed(str(error), dispatch_id=str(job.dispatch.pk)) from error
    except (MessageRefused, ProviderUnavailable) as error:
        _drop(job, scope)
        raise ProviderFailed(str(error)) from error
    except Exception as error:
        _leave_to_the_outbox(job, scope, error)
        raise


def _drop(job: _Job, scope: Scope) -> None:
    with scope():
        drop_dispatch(dispatch=job.dispatch)


def _leave_to_the_outbox(job: _Job, scope: Scope, error: Exception) -> None:
    with scope():
        reschedule_dispatch(
            dispatch=job.dispatch, error=f"{type(error).__name__}: {error}", now=timezone.now()
        )


def _record(job: _Job, message: Message, provider_message_id: str) -> EmailDelivery:
    now = timezone.now()
    close_dispatch(dispatch=job.dispatch, status=OutboxDispatch.Status.SUCCEEDED, now=now)
    return record_delivery(
        request=job.request,
        message=message,
        dispatch=job.dispatch,
        provider=job.sender.settings.provider,
        provider_message_id=provider_message_id,
        now=now,
    )

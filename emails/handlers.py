"""The task `send_email`: from a dispatch to a message that a provider has accepted."""

from contextlib import AbstractContextManager
from functools import partial

from django.utils import timezone

from accounts.models import Account
from accounts.queries import current_account
from commerce.customers.models import Customer
from commerce.outbox.errors import PermanentFailure
from commerce.outbox.handlers import Outcome, handles
from commerce.outbox.models import OutboxDispatch
from commerce.outbox.operations import store_message
from commerce.tenancy.scope import account_scope
from emails.errors import TemplateNotFound
from emails.messages import Message, render_message
from emails.operations import record_delivery
from emails.providers import MessageRefused, current_provider
from emails.queries import deliveries
from emails.renderer_client import TemplateRefused
from emails.requests import EmailRequest


@handles("send_email")
def send_email(dispatch: OutboxDispatch) -> Outcome:
    """Render, hand off, and have the delivery recorded with the dispatch's end."""
    request = EmailRequest.from_payload(dispatch.payload)
    with _scope_of(dispatch):
        account = current_account()
        customer = _customer_of(request)
        is_sent = deliveries(idempotency_key=dispatch.idempotency_key).exists()
    if is_sent:
        return Outcome()
    if customer is not None and not may_notify(customer, request.template_key):
        return Outcome(OutboxDispatch.Status.SKIPPED)
    if dispatch.message:
        message = Message.from_dict(dispatch.message)
    else:
        message = _render(dispatch, request, account, customer)
    return _hand_off(dispatch, request, message)


def _scope_of(dispatch: OutboxDispatch) -> AbstractContextManager[None]:
    return account_scope(dispatch.account_id)  # type: ignore[arg-type]  # its default makes it look nullable


def _customer_of(request: EmailRequest) -> Customer | None:
    return Customer.objects.filter(pk=request.customer_id).first() if request.customer_id else None


def may_notify(customer: Customer, template_key: str) -> bool:
    """Whether the customer's person is still known and has not switched this message off."""
    return customer.redacted_at is None and customer.notification_preferences.get(template_key) is not False


def _render(
    dispatch: OutboxDispatch, request: EmailRequest, account: Account, customer: Customer | None
) -> Message:
    """Render the message and keep it, before anyone could have received it."""
    locale = request.locale or (customer and customer.locale) or account.default_locale
    try:
        message = render_message(account=account, request=request, locale=locale)
    except (TemplateNotFound, TemplateRefused) as error:
        raise PermanentFailure(str(error)) from error
    with _scope_of(dispatch):
        store_message(dispatch=dispatch, message=message.as_dict())
    return message


def _hand_off(dispatch: OutboxDispatch, request: EmailRequest, message: Message) -> Outcome:
    provider = current_provider()
    # Keys are unique within an account, and the provider may be the same for many of them.
    provider_key = f"{dispatch.account_id}:{dispatch.idempotency_key}"
    try:
        provider_message_id = provider.send(message, idempotency_key=provider_key)
    except MessageRefused as error:
        raise PermanentFailure(str(error)) from error
    record = partial(
        record_delivery,
        request=request,
        message=message,
        idempotency_key=dispatch.idempotency_key,
        provider=provider.name,
        provider_message_id=provider_message_id,
        queued_at=dispatch.created_at,
        now=timezone.now(),
    )
    return Outcome(record=record)

"""The task `send_email`: renders a message, hands it to the provider and records the delivery."""

import random
import time
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.utils import timezone

from commerce.customers.errors import CustomerRedacted
from commerce.customers.queries import is_redacted
from commerce.mail import SEND_EMAIL
from commerce.outbox.errors import PermanentFailure, Postponed
from commerce.outbox.handlers import Outcome, handles, open_scope
from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.models import account_of
from emails.errors import TemplateNotFound
from emails.facts import read_facts
from emails.lost_renderings import OwnTemplatesResting
from emails.messages import Message
from emails.operations import keep_message, record_delivery
from emails.own_calls import NoPlace, is_slow
from emails.paces import Lane, choose_lane, must_wait
from emails.providers import (
    MessageRefused,
    OutcomeUnknown,
    ProviderBusy,
    ProviderDown,
    ProviderUnavailable,
)
from emails.redaction import erase_messages
from emails.renderer_client import RendererBusy, TemplateRefused
from emails.requests import EmailRequest, hide_secret_variables
from emails.resting import FIRST_REST, Health, ProviderResting, admit, note_answer, note_failure, note_refusal
from emails.sender import ChosenTemplate, Sender

# For this long, a busy renderer or provider, or an outage of the installation's provider, doesn't count as an attempt.
PATIENCE = timedelta(days=1)
# The shortest wait for a place.
BUSY_S = 2.0
# The shortest and the longest wait for a place of the slow.
SLOW_BUSY_S = 5.0
MAX_SLOW_BUSY_S = 60.0


@handles(SEND_EMAIL, area="emails", shape_payload=hide_secret_variables)
def send_email(dispatch: OutboxDispatch) -> Outcome:
    request = EmailRequest.from_payload(dispatch.payload)
    if dispatch.message is None and must_wait(account_of(dispatch)) and not _is_old(dispatch):
        # Many may be waiting, so this comes before anything is read from the database.
        raise _build_postponed(
            _choose_wait_s(dispatch, is_slow=True), RendererBusy("The slow lane of the renderer is taken.")
        )
    with open_scope(dispatch):
        facts = read_facts(dispatch, request)
        # A worker that had died, or lost its lease, may have sent it.
        if facts.is_sent:
            return Outcome()
        customer = facts.customer
        if customer is not None and not request.may_reach(customer):
            return Outcome(OutboxDispatch.Status.SKIPPED, record=partial(_erase_if_redacted, customer.pk))
        sender = facts.sender
        # Before the server is admitted, as after a rest one message alone is. The place itself is taken at hand-off.
        if not sender.has_place(among=settings.OUTBOX_THREADS):
            raise _build_refused_place(dispatch, NoPlace())
        try:
            health = admit(sender.settings, now=timezone.now())
            # A message that an earlier attempt stored is sent again as it was.
            stored = dispatch.message
            found = (
                Message.from_dict(stored)
                if stored
                else sender.choose_template(request, customer=customer, own_locales=facts.own_locales)
            )
        except ProviderResting as resting:
            raise Postponed(str(resting), until=resting.until) from resting
        except TemplateNotFound as error:
            # A retry wouldn't help, but a person can retry it when the template is there.
            raise PermanentFailure(str(error)) from error
    try:
        message = found if isinstance(found, Message) else _render(dispatch, request, sender, found)
    except CustomerRedacted:
        return Outcome(OutboxDispatch.Status.SKIPPED)
    return _hand_off(dispatch, request, sender, message, health)


def _erase_if_redacted(customer_id: int) -> None:
    """Erase also what was enqueued while the customer was being redacted."""
    if is_redacted(customer_id):
        erase_messages(customer_id, timezone.now())


def _render(
    dispatch: OutboxDispatch, request: EmailRequest, sender: Sender, template: ChosenTemplate
) -> Message:
    try:
        message = sender.render(request, template)
    except TemplateRefused as error:
        raise PermanentFailure(str(error)) from error
    except RendererBusy as error:
        # An old message uses up its attempts after all, and ends as dead, where somebody sees it.
        if _is_old(dispatch):
            raise
        wait_s = _choose_wait_s(dispatch, is_slow=choose_lane(account_of(dispatch)) is Lane.SLOW)
        if isinstance(error, OwnTemplatesResting):
            wait_s = error.left_s
        raise _build_postponed(wait_s, error) from error
    with open_scope(dispatch):
        keep_message(dispatch=dispatch, request=request, message=message)
    return message


def _choose_wait_s(dispatch: OutboxDispatch, *, is_slow: bool) -> float:
    """How many seconds to wait for a place, at the renderer or for a call of the account's own provider."""
    if not is_slow:
        return BUSY_S
    # It grows with the age of the message: many may wait for the few places of the slow, and each claim costs time.
    age_s = (timezone.now() - dispatch.created_at).total_seconds()
    return min(max(SLOW_BUSY_S, age_s / 2), MAX_SLOW_BUSY_S)


def _hand_off(
    dispatch: OutboxDispatch, request: EmailRequest, sender: Sender, message: Message, health: Health
) -> Outcome:
    began = time.monotonic()
    try:
        provider_message_id = sender.hand_off(message, dispatch=dispatch, among=settings.OUTBOX_THREADS)
    except NoPlace as error:
        raise _build_refused_place(dispatch, error) from error
    except ProviderDown as error:
        was_sent = isinstance(error, OutcomeUnknown)
        # Here, as `Outcome.record` only runs after a success.
        with open_scope(dispatch):
            note_failure(health, was_sent=was_sent, now=timezone.now())
        # If the message may have been sent, each attempt can put another copy into the customer's mailbox.
        if not health.is_shared or was_sent or _is_old(dispatch):
            raise
        raise _build_postponed(FIRST_REST.total_seconds(), error) from error
    except (MessageRefused, ProviderUnavailable) as error:
        with open_scope(dispatch):
            note_refusal(health, took_s=time.monotonic() - began, now=timezone.now())
        if isinstance(error, MessageRefused):
            raise PermanentFailure(str(error)) from error
        if isinstance(error, ProviderBusy) and not _is_old(dispatch):
            raise _build_postponed(error.for_s, error) from error
        raise
    took_s, now = time.monotonic() - began, timezone.now()

    def record() -> None:
        note_answer(health, took_s=took_s, now=timezone.now())
        record_delivery(
            request=request,
            message=message,
            dispatch=dispatch,
            provider=sender.settings.provider,
            provider_message_id=provider_message_id,
            now=now,
        )

    return Outcome(record=record)


def _is_old(dispatch: OutboxDispatch) -> bool:
    return timezone.now() - dispatch.created_at > PATIENCE


def _build_refused_place(dispatch: OutboxDispatch, error: NoPlace) -> Exception:
    # An old message uses up its attempts, as it does while the renderer is busy.
    if _is_old(dispatch):
        return error
    return _build_postponed(_choose_wait_s(dispatch, is_slow=is_slow(account_of(dispatch))), error)


def _build_postponed(for_s: float, error: Exception) -> Postponed:
    # Jitter, so that retries don't coincide.
    wait = timedelta(seconds=for_s * random.uniform(1, 2))  # noqa: S311  no secret
    return Postponed(str(error), until=timezone.now() + wait)

"""The task `send_email`: renders messages, hands them to the provider and records the deliveries."""

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from commerce.customers.queries import find_redacted
from commerce.mail import SEND_EMAIL
from commerce.outbox.errors import LeaseLost, PermanentFailure, Postponed
from commerce.outbox.handlers import Ended, Outcome, handles_batches
from commerce.outbox.models import OutboxDispatch
from commerce.tenancy.models import account_of
from commerce.tenancy.scope import account_scope
from emails.errors import TemplateNotFound
from emails.facts import Facts, read_facts
from emails.lost_renderings import OwnTemplatesResting
from emails.messages import Message
from emails.operations import Sent, Written, keep_messages, record_deliveries
from emails.own_calls import NoPlace, is_slow
from emails.paces import Lane, choose_lane, must_wait
from emails.providers import (
    HONOURING_KEYS,
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

# How many messages of an account are sent together. After so many seconds, no further one is handed off.
AT_MOST = 8
TOGETHER_S = 2.0
# After so many characters of HTML, no further message joins a batch.
MAX_CHARACTERS = 256 * 1024
# For this long, a busy renderer or provider, or an outage of the installation's provider, doesn't count as an attempt.
PATIENCE = timedelta(days=1)
# The shortest and the longest wait for a place, and the same for a place of the slow.
BUSY_S = 2.0
MAX_BUSY_S = 20.0
SLOW_BUSY_S = 5.0
MAX_SLOW_BUSY_S = 60.0


@dataclass(frozen=True, slots=True)
class _Job:
    """A message to be sent: one that an earlier attempt stored, or the template of a new one."""

    dispatch: OutboxDispatch
    request: EmailRequest
    found: Message | ChosenTemplate


@handles_batches(SEND_EMAIL, at_most=AT_MOST, area="emails", shape_payload=hide_secret_variables)
class Sending:
    """Sends messages of one account. They are read, stored and recorded together, and handed off one after another."""

    def __init__(self, dispatches: Sequence[OutboxDispatch]) -> None:
        self._account_id = account_of(dispatches[0])
        self._requests = [(dispatch, EmailRequest.from_payload(dispatch.payload)) for dispatch in dispatches]
        self._sender: Sender
        self._health: Health
        self._sent: dict[OutboxDispatch, Sent] = {}
        self._longest_s = 0.0
        self._is_down = False
        self._templates: dict[tuple[str, str], ChosenTemplate] = {}
        # The customers of messages that they don't want.
        self._unwanted: set[int] = set()

    def run(self) -> Iterator[Iterable[Ended]]:
        ends_at = time.monotonic() + TOGETHER_S
        ended, jobs = self._prepare()
        self._erase_redacted()
        yield ended
        ended, messages = self._write(jobs)
        yield ended
        group: list[Ended] = []
        for number, message in enumerate(messages):
            if number and time.monotonic() > ends_at:
                break
            group.append(self._hand_off(message))
            if not isinstance(group[-1][1], Outcome | PermanentFailure):
                # Not the message's own fault, so the others wait for another run.
                break
            if self._sender.settings.provider not in HONOURING_KEYS:
                # Recorded at once: if this process were lost, all that it has handed off would be sent again.
                yield group
                group = []
        yield group

    def record(self, closed: Sequence[OutboxDispatch]) -> None:
        now = timezone.now()
        sent = [self._sent[dispatch] for dispatch in closed if dispatch in self._sent]
        if sent:
            if not self._is_down:
                note_answer(self._health, took_s=self._longest_s, now=now)
            record_deliveries(sent, now=now)

    def _erase_redacted(self) -> None:
        """Erase what was enqueued for customers while they were being redacted.

        In a transaction for each customer and before this batch is closed: each locks dispatches in the order of their
        ids, and other workers do the same.
        """
        if not self._unwanted:
            return
        with account_scope(self._account_id):
            redacted = find_redacted(self._unwanted)
        for customer_id in sorted(redacted):
            with account_scope(self._account_id):
                erase_messages(customer_id, timezone.now())

    def _prepare(self) -> tuple[list[Ended], list[_Job]]:
        """Read what is known of the messages. Those that were sent before, aren't wanted or have to wait end here."""
        ended: list[Ended] = []
        wanted: list[tuple[OutboxDispatch, EmailRequest, Facts]] = []
        requests = []
        # Many may be waiting, so this comes before anything is read from the database.
        is_taken = must_wait(self._account_id)
        for dispatch, request in self._requests:
            if is_taken and dispatch.message is None and not _is_old(dispatch):
                busy = RendererBusy("The slow lane of the renderer is taken.")
                ended.append((dispatch, _build_postponed(_choose_wait_s(dispatch, is_slow=True), busy)))
            else:
                requests.append((dispatch, request))
        if not requests:
            return ended, []
        with account_scope(self._account_id):
            self._sender, found = read_facts(requests)
            for (dispatch, request), facts in zip(requests, found, strict=True):
                # A worker that had died, or lost its lease, may have sent it.
                if facts.is_sent:
                    ended.append((dispatch, Outcome()))
                elif facts.customer is not None and not request.may_reach(facts.customer):
                    self._unwanted.add(facts.customer.pk)
                    ended.append((dispatch, Outcome(OutboxDispatch.Status.SKIPPED)))
                else:
                    wanted.append((dispatch, request, facts))
            # Before the server is admitted, as after a rest one message alone is. The place itself is taken at hand-off.
            if wanted and not self._sender.has_place(among=settings.OUTBOX_THREADS):
                return ended + [(one, _build_refused_place(one, NoPlace())) for one, *_ in wanted], []
            return self._choose_jobs(wanted, ended) if wanted else (ended, [])

    def _choose_jobs(
        self, wanted: Sequence[tuple[OutboxDispatch, EmailRequest, Facts]], ended: list[Ended]
    ) -> tuple[list[Ended], list[_Job]]:
        try:
            self._health = admit(self._sender.settings, now=timezone.now())
        except ProviderResting as resting:
            return ended + [(one, Postponed(str(resting), until=resting.until)) for one, *_ in wanted], []
        jobs = []
        for dispatch, request, facts in wanted[:1] if self._health.failures else wanted:
            try:
                jobs.append(_Job(dispatch, request, self._find_text(dispatch, request, facts)))
            except TemplateNotFound as error:
                # A retry wouldn't help, but a person can retry it when the template is there.
                ended.append((dispatch, PermanentFailure(str(error))))
        return ended, jobs

    def _find_text(
        self, dispatch: OutboxDispatch, request: EmailRequest, facts: Facts
    ) -> Message | ChosenTemplate:
        # A message that an earlier attempt stored is sent again as it was.
        if dispatch.message:
            return Message.from_dict(dispatch.message)
        locale = self._sender.choose_locale(request, customer=facts.customer)
        if (request.template_key, locale) not in self._templates:
            self._templates[request.template_key, locale] = self._sender.choose_template(
                request, customer=facts.customer, own_locales=facts.own_locales
            )
        return self._templates[request.template_key, locale]

    def _write(self, jobs: Sequence[_Job]) -> tuple[list[Ended], list[Written]]:
        """Render new messages and store them. Those that can't be sent end here.

        After trouble that isn't a message's own, and after large messages, the others wait for another run.
        """
        ended: list[Ended] = []
        messages: list[Written] = []
        new: list[Written] = []
        for job in jobs:
            message = job.found if isinstance(job.found, Message) else self._render(job, job.found)
            if isinstance(message, PermanentFailure):
                ended.append((job.dispatch, message))
                continue
            if isinstance(message, Exception):
                ended.append((job.dispatch, message))
                break
            written = Written(dispatch=job.dispatch, request=job.request, message=message)
            messages.append(written)
            if message is not job.found:
                new.append(written)
            if sum(len(one.message.html) for one in messages) > MAX_CHARACTERS:
                break
        if not new:
            return ended, messages
        with account_scope(self._account_id):
            kept, redacted = keep_messages(new)
        skipped = Outcome(OutboxDispatch.Status.SKIPPED)
        ended += [
            (one.dispatch, skipped if one in redacted else LeaseLost()) for one in new if one not in kept
        ]
        return ended, [one for one in messages if one not in new or one in kept]

    def _render(self, job: _Job, template: ChosenTemplate) -> Message | Exception:
        """The message, or the exception that ends its dispatch."""
        try:
            return self._sender.render(job.request, template)
        except TemplateRefused as error:
            return PermanentFailure(str(error))
        except RendererBusy as error:
            # An old message uses up its attempts after all, and ends as dead, where somebody sees it.
            if _is_old(job.dispatch):
                return error
            wait_s = _choose_wait_for_renderer_s(job.dispatch, self._account_id)
            if isinstance(error, OwnTemplatesResting):
                wait_s = error.left_s
            return _build_postponed(wait_s, error)
        except Exception as error:  # noqa: BLE001  the outbox ends the dispatch with it
            return error

    def _hand_off(self, written: Written) -> Ended:
        began = time.monotonic()
        try:
            provider_message_id = self._send(written)
        except Exception as error:  # noqa: BLE001  the outbox ends the dispatch with it
            return written.dispatch, error
        self._longest_s = max(self._longest_s, time.monotonic() - began)
        self._sent[written.dispatch] = Sent(
            written=written,
            provider=self._sender.settings.provider,
            provider_message_id=provider_message_id,
            at=timezone.now(),
        )
        return written.dispatch, Outcome()

    def _send(self, written: Written) -> str:
        dispatch, began = written.dispatch, time.monotonic()
        try:
            return self._sender.hand_off(written.message, dispatch=dispatch, among=settings.OUTBOX_THREADS)
        except NoPlace as error:
            raise _build_refused_place(dispatch, error) from error
        except ProviderDown as error:
            self._is_down, was_sent = True, isinstance(error, OutcomeUnknown)
            # Here, as `record` only runs after a success.
            with account_scope(self._account_id):
                note_failure(self._health, was_sent=was_sent, now=timezone.now())
            # If the message may have been sent, each attempt can put another copy into the customer's mailbox.
            if not self._health.is_shared or was_sent or _is_old(dispatch):
                raise
            raise _build_postponed(FIRST_REST.total_seconds(), error) from error
        except (MessageRefused, ProviderUnavailable) as error:
            with account_scope(self._account_id):
                note_refusal(self._health, took_s=time.monotonic() - began, now=timezone.now())
            if isinstance(error, MessageRefused):
                raise PermanentFailure(str(error)) from error
            if isinstance(error, ProviderBusy) and not _is_old(dispatch):
                raise _build_postponed(error.for_s, error) from error
            raise


def _choose_wait_for_renderer_s(dispatch: OutboxDispatch, account_id: int) -> float:
    if choose_lane(account_id) is Lane.SLOW:
        return _choose_wait_s(dispatch, is_slow=True)
    # While it is busy for long, more and more messages wait, and each attempt costs it time.
    return min(max(BUSY_S, _read_age_s(dispatch) / 10), MAX_BUSY_S)


def _choose_wait_s(dispatch: OutboxDispatch, *, is_slow: bool) -> float:
    """How many seconds to wait for a place, at the renderer or for a call of the account's own provider."""
    if not is_slow:
        return BUSY_S
    # It grows with the age of the message: many may wait for the few places of the slow, and each claim costs time.
    return min(max(SLOW_BUSY_S, _read_age_s(dispatch) / 2), MAX_SLOW_BUSY_S)


def _read_age_s(dispatch: OutboxDispatch) -> float:
    return (timezone.now() - dispatch.created_at).total_seconds()


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

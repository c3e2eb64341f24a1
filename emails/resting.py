"""An account's own provider or mail server rests while it is slow or doesn't answer, as a webhook's endpoint does.

Messages for it are postponed without an attempt, so that they take no time from other shops' messages. After the rest,
one message is tried and the others wait for its result. The installation's provider serves every account and has its
own rule (emails/shared_resting.py).
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from commerce.tenancy.scope import current_account_id
from emails.mail_settings import MailSettings
from emails.models import MailServerRest
from emails.shared_resting import (
    FIRST_REST,
    TRIAL,
    ProviderResting,
    admit_shared,
    choose_rest_end,
    note_shared_answer,
    note_shared_failure,
)

# A server that takes this long for its answer rests too: each message holds a thread.
SLOW_S = 10

# By SQL, as Django's upsert has no condition: of attempts that began together, only the first makes the rest longer.
_NOTE = """
    INSERT INTO mail_server_rests (account_id, server, failures, rests_until) VALUES (%s, %s, %s, %s)
    ON CONFLICT (account_id) DO UPDATE
       SET server = EXCLUDED.server, failures = EXCLUDED.failures, rests_until = EXCLUDED.rests_until
     WHERE mail_server_rests.server <> EXCLUDED.server OR mail_server_rests.failures < EXCLUDED.failures
"""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the server before an attempt; `failures` counts those in a row before it."""

    server: str
    failures: int = 0
    is_shared: bool = False


def admit(settings: MailSettings, *, now: datetime) -> Health:
    """Check that the server may be tried now, in the account's scope. Raises `ProviderResting`."""
    if not settings.is_own:
        return Health(settings.server, admit_shared(settings.server, now=now), is_shared=True)
    rest = MailServerRest.objects.filter(server=settings.server).first()
    if rest is None:
        return Health(settings.server)
    if rest.rests_until > now:
        raise ProviderResting(rest.rests_until)
    # The rest is over. Of several workers, the one whose UPDATE finds it unchanged tries one message.
    until = now + TRIAL
    this_rest = MailServerRest.objects.filter(server=settings.server, rests_until=rest.rests_until)
    if not this_rest.update(rests_until=until):
        raise ProviderResting(until)
    return Health(settings.server, rest.failures)


def note_failure(health: Health, *, was_sent: bool, now: datetime) -> None:
    """Let the server rest. Failures of attempts that began together count as one."""
    account_id, failures = current_account_id(), health.failures
    if health.is_shared:
        note_shared_failure(
            health.server, failures=failures, account_id=account_id, was_sent=was_sent, now=now
        )
        return
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, [account_id, health.server, failures + 1, choose_rest_end(failures, now)])


def note_answer(health: Health, *, took_s: float, now: datetime) -> None:
    if health.is_shared:
        note_shared_answer(health.server)
    elif took_s >= SLOW_S:
        rest = {"server": health.server, "failures": 1, "rests_until": now + FIRST_REST}
        # Django locks the row here by itself, so `lock()` doesn't apply. Nothing else is locked after it.
        MailServerRest.objects.update_or_create(defaults=rest)
    # Only after failures, so that a healthy server costs no statement.
    elif health.failures:
        MailServerRest.objects.filter(server=health.server).delete()


def note_refusal(health: Health, *, took_s: float, now: datetime) -> None:
    """Note an answer that wasn't acceptance."""
    # It shows that the shared server is up. An account's own server rests until it accepts a message.
    if health.is_shared:
        note_shared_answer(health.server)
    elif took_s >= SLOW_S:
        note_failure(health, was_sent=False, now=now)

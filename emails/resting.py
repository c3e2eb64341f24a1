"""A provider or mail server that is slow or gives no answer rests, as a webhook's endpoint does.

What waits for it is postponed without being tried, so that it takes no time from other shops' messages. When the
rest is over one message is tried, and the others wait for what comes of it. This is about an account's own; that of
the installation is every account's (emails/shared_resting.py).
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
    note_shared_answer,
    note_shared_failure,
    rest_after,
)

# A server that takes this long for a message which it accepts rests as well, once: it holds a thread each time.
SLOW_S = 10

_NOTE = """
    INSERT INTO mail_server_rests (account_id, server, failures, rests_until) VALUES (%s, %s, %s, %s)
    ON CONFLICT (account_id) DO UPDATE
       SET server = EXCLUDED.server, failures = EXCLUDED.failures, rests_until = EXCLUDED.rests_until
     WHERE mail_server_rests.server <> EXCLUDED.server OR mail_server_rests.failures < EXCLUDED.failures
"""


@dataclass(frozen=True, slots=True)
class Health:
    """Of the server that a message is about to be handed to; `failures` in a row before this try."""

    server: str
    failures: int = 0
    is_shared: bool = False


def admit(settings: MailSettings, *, now: datetime) -> Health:
    """Whether a message may be tried now, in the scope of its account. Raises `ProviderResting`."""
    if not settings.is_own:
        return Health(settings.server, admit_shared(settings.server, now=now), is_shared=True)
    rest = MailServerRest.objects.filter(server=settings.server).first()
    if rest is None:
        return Health(settings.server)
    if rest.rests_until > now:
        raise ProviderResting(rest.rests_until)
    until = now + TRIAL
    this_rest = MailServerRest.objects.filter(server=settings.server, rests_until=rest.rests_until)
    if not this_rest.update(rests_until=until):
        raise ProviderResting(until)
    return Health(settings.server, rest.failures)


def note_failure(health: Health, *, was_sent: bool, now: datetime) -> None:
    """Several that began before the first of them failed count as one."""
    account_id, failures = current_account_id(), health.failures
    if health.is_shared:
        note_shared_failure(
            health.server, failures=failures, account_id=account_id, was_sent=was_sent, now=now
        )
        return
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, [account_id, health.server, failures + 1, rest_after(failures, now)])


def note_answer(health: Health, *, took_s: float, now: datetime) -> None:
    if health.is_shared:
        note_shared_answer(health.server)
    elif took_s >= SLOW_S:
        rest = {"server": health.server, "failures": 1, "rests_until": now + FIRST_REST}
        MailServerRest.objects.update_or_create(defaults=rest)
    elif health.failures:
        MailServerRest.objects.filter(server=health.server).delete()


def note_refusal(health: Health) -> None:
    """What said no is there. An account's own server has its rest ended by a message that it takes."""
    if health.is_shared:
        note_shared_answer(health.server)

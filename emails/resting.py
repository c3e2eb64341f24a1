"""An account's own provider or mail server that is slow or gives no answer rests, as a webhook's endpoint does.

What waits for it is postponed without being tried, so that it takes no time from other shops' messages. When the
rest is over one message is tried, and the others wait for what comes of it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from commerce.tenancy.scope import current_account_id
from emails.mail_settings import MailSettings
from emails.models import MailServerRest

FIRST_REST = timedelta(seconds=30)
LONGEST_REST = timedelta(minutes=10)
# A server that takes this long for a message which it accepts rests as well, once: it holds a thread each time.
SLOW_S = 10
# How long others wait for one try: longer than rendering and handing over may take.
TRIAL = timedelta(seconds=40)

_NOTE = """
    INSERT INTO mail_server_rests (account_id, server, failures, rests_until) VALUES (%s, %s, %s, %s)
    ON CONFLICT (account_id) DO UPDATE
       SET server = EXCLUDED.server, failures = EXCLUDED.failures, rests_until = EXCLUDED.rests_until
     WHERE mail_server_rests.server <> EXCLUDED.server OR mail_server_rests.failures < EXCLUDED.failures
"""


class ProviderResting(Exception):
    """The account's provider gave no answer before, and is left alone until a time."""

    def __init__(self, until: datetime) -> None:
        super().__init__("The email provider gave no answer before.")
        self.until = until


@dataclass(frozen=True, slots=True)
class Health:
    """Of the server that a message is about to be handed to; `failures` in a row before this try."""

    server: str
    failures: int = 0


def admit(settings: MailSettings, *, now: datetime) -> Health:
    """Whether a message may be tried now, in the scope of its account. Raises `ProviderResting`.

    The installation's own provider is not asked about: it is every account's.
    """
    if not settings.is_own:
        return Health("")
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


def note_failure(health: Health, *, now: datetime) -> None:
    """Several that began before the first of them failed count as one."""
    if health.server:
        failures = health.failures + 1
        rest = min(FIRST_REST * 2 ** min(health.failures, 10), LONGEST_REST)
        with connection.cursor() as cursor:
            cursor.execute(_NOTE, [current_account_id(), health.server, failures, now + rest])


def note_answer(health: Health, *, took_s: float, now: datetime) -> None:
    if health.server and took_s >= SLOW_S:
        rest = {"server": health.server, "failures": 1, "rests_until": now + FIRST_REST}
        MailServerRest.objects.update_or_create(defaults=rest)
    elif health.failures:
        MailServerRest.objects.filter(server=health.server).delete()

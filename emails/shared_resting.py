"""The installation's own provider, which sends for all shops, rests while it doesn't answer several of them.

Each process keeps its own count, so that no shop's row holds up another's. One message in each rest is tried.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

FIRST_REST = timedelta(seconds=30)
LONGEST_REST = timedelta(minutes=10)
# How long others wait for one attempt: longer than rendering and handing over may take.
TRIAL = timedelta(seconds=40)

logger = logging.getLogger(__name__)


class ProviderResting(Exception):
    """The provider didn't answer and rests until `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__("The email provider gave no answer before.")
        self.until = until


def choose_rest_end(failures: int, now: datetime) -> datetime:
    """The end of a server's rest after a failure that `failures` others in a row preceded."""
    # The exponent is bounded, as a timedelta overflows.
    return now + min(FIRST_REST * 2 ** min(failures, 10), LONGEST_REST)


@dataclass(slots=True)
class _Server:
    failures: int = 0
    rests_until: datetime | None = None
    # The account whose message got no answer, which may be the message's fault.
    suspect_account_id: int | None = None


_servers: dict[str, _Server] = {}
_lock = Lock()


def admit_shared(server: str, *, now: datetime) -> int:
    """The number of failures in a row before this attempt. Raises `ProviderResting`."""
    with _lock:
        found = _servers.get(server)
        if found is None or found.rests_until is None:
            return 0
        if found.rests_until > now:
            raise ProviderResting(found.rests_until)
        # This message is tried; the others wait for its result.
        found.rests_until = now + TRIAL
        return found.failures


def note_shared_failure(
    server: str, *, failures: int, account_id: int, was_sent: bool, now: datetime
) -> None:
    """Let a server rest that couldn't be reached, or that didn't answer messages of two accounts.

    Failures of attempts that began together count as one.
    """
    with _lock:
        found = _servers.setdefault(server, _Server())
        # One account's messages alone must not stop everyone's.
        is_first = was_sent and not found.failures and found.suspect_account_id in (None, account_id)
        if is_first:
            found.suspect_account_id = account_id
        elif failures + 1 > found.failures:
            found.failures, found.rests_until = failures + 1, choose_rest_end(failures, now)
            logger.warning("The installation's email provider %s gives no answer.", server)


def note_shared_answer(server: str) -> None:
    """The server has answered, so its failures are forgotten."""
    with _lock:
        _servers.pop(server, None)


def forget_shared() -> None:
    """Forget all of this, so that tests don't affect each other."""
    with _lock:
        _servers.clear()

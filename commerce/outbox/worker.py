"""The entry to running due dispatches: the crew of this process."""

import os
import threading
from datetime import timedelta

from django.conf import settings

from commerce.outbox.crew import Crew
from commerce.outbox.runs import run_claims

_crews = threading.local()


def run_due(*, within: timedelta = timedelta(seconds=15), pause_s: float = 0) -> bool:
    """Run due dispatches of every account until none is left; False if time ran out first.

    While threads are idle, it looks for work every `pause_s` seconds at most.
    """
    return _get_own_crew().run_due(within=within, pause_s=pause_s)


def finish_running() -> None:
    """Wait for running dispatches before this process ends."""
    _get_own_crew().finish()
    # Its pool takes no more work, so a later call needs another crew.
    _crews.key = None


def _get_own_crew() -> Crew:
    """This process's crew. It is kept because its threads hold sessions with providers."""
    # Celery forks its worker processes, and threads don't survive a fork.
    key = (os.getpid(), settings.OUTBOX_THREADS)
    if getattr(_crews, "key", None) != key:
        _crews.key, _crews.crew = key, Crew(settings.OUTBOX_THREADS, run_claims)
    return _crews.crew

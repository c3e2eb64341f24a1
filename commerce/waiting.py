"""Bounds the outside calls that requests wait for: few at once of each kind, and short.

Each kind has places of its own, so that a slow VIES takes none from payments. One account has half of a kind's places
at most. A request that waits is replaced by a spare thread (config/front/threads.py), so it takes none from other
requests either. Places are counted per process, as each process has its own threads.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from threading import Lock

from django.conf import settings

from commerce.outside.deadline import Deadline, deadline
from commerce.outside.lookups import lookups_for
from commerce.outside.working import waiting

from .errors import TooManyOutsideCalls


class Call(StrEnum):
    """What a request waits for. `settings.WEB_CALLS` says how many may at once."""

    PAYMENT = "payment"
    VAT = "vat"
    EMAIL = "email"
    PREVIEW = "preview"
    LOOKUP = "lookup"


_lock = Lock()
_under_way: dict[Call, Counter[int]] = {kind: Counter() for kind in Call}


@contextmanager
def waiting_call(kind: Call, account_id: int, *, within_s: float) -> Iterator[Deadline]:
    """Bound the total time of the block's calls. Raises `TooManyOutsideCalls` at once if too many are running."""
    _take_place(kind, account_id)
    try:
        # After the place was taken, so that a refused request never hands over its thread.
        with waiting(), lookups_for(account_id), deadline(within_s) as limit:
            yield limit
    finally:
        _free_place(kind, account_id)


def _take_place(kind: Call, account_id: int) -> None:
    places = settings.WEB_CALLS[kind]
    # Rounded up, so that one account can still wait where a kind has a single place.
    of_account = (places + 1) // 2
    with _lock:
        running = _under_way[kind]
        if running.total() >= places or running[account_id] >= of_account:
            raise TooManyOutsideCalls
        running[account_id] += 1


def _free_place(kind: Call, account_id: int) -> None:
    with _lock:
        running = _under_way[kind]
        running[account_id] -= 1
        if not running[account_id]:
            del running[account_id]

"""Outside calls that a web thread waits for: few at once and short, so that threads are left for everybody else.

Counted for each process, as a process's threads are what they take.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.conf import settings

from commerce.outside.deadline import Deadline, deadline

from .errors import TooManyOutsideCalls

RETRY_AFTER_S = 2

_lock = Lock()
_under_way: Counter[int] = Counter()


@contextmanager
def waiting_call(account_id: int, *, within_s: float) -> Iterator[Deadline]:
    """Bound the calls of the block in total time. Raises `TooManyOutsideCalls` at once if enough are under way."""
    _begin(account_id)
    try:
        with deadline(within_s) as limit:
            yield limit
    finally:
        _end(account_id)


def _begin(account_id: int) -> None:
    with _lock:
        is_full = _under_way.total() >= settings.WEB_CALLS_AT_ONCE
        if is_full or _under_way[account_id] >= settings.WEB_CALLS_PER_ACCOUNT:
            refusal = TooManyOutsideCalls()
            refusal.headers["Retry-After"] = str(RETRY_AFTER_S)
            raise refusal
        _under_way[account_id] += 1


def _end(account_id: int) -> None:
    with _lock:
        _under_way[account_id] -= 1
        if not _under_way[account_id]:
            del _under_way[account_id]

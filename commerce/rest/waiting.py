"""Bounds the outside calls that web threads wait for: few at once, and short, so that other requests get threads.

Counted per process, as each process has its own threads.
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
    """Bound the total time of the block's calls. Raises `TooManyOutsideCalls` at once if too many are running."""
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

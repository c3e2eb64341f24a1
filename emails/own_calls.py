"""Bounds how many calls of accounts' own providers and mail servers run at once in one process.

They get a part of the places for calls, so that however many of them are slow, there are places for the installation's
provider. Accounts whose provider was slow lately share a smaller part, so that the others' providers have some too.
"""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

# Together with the shares of webhooks and pings, it leaves a part of a worker's threads free.
OWN_SHARE = 3 / 8
SLOW_SHARE = 1 / 4
# A call of this length is slow, and its account counts as slow for so long.
SLOW_S = 2.0
SLOW_FOR_S = 300
# So that memory stays bounded. An account that is forgotten counts as quick.
_MAX_REMEMBERED = 10_000

_lock = Lock()
# By account.
_under_way: Counter[int] = Counter()
_slow_until: dict[int, float] = {}


class NoPlace(Exception):
    """Too many calls of accounts' own providers are under way."""

    def __init__(self) -> None:
        super().__init__("Too many messages are being sent through accounts' own providers.")


@contextmanager
def own_call(account_id: int, *, among: int) -> Iterator[None]:
    """Hold a place for a call of the account's own provider, in a process that makes `among` calls at most.

    Raises `NoPlace` at once if there is none.
    """
    with _lock:
        if not _has_place(account_id, among):
            raise NoPlace
        _under_way[account_id] += 1
    began = time.monotonic()
    try:
        yield
    finally:
        with _lock:
            _under_way[account_id] -= 1
            if not _under_way[account_id]:
                del _under_way[account_id]
            _note_pace(account_id, time.monotonic() - began)


def has_place(account_id: int, *, among: int) -> bool:
    with _lock:
        return _has_place(account_id, among)


def is_slow(account_id: int) -> bool:
    """Whether a call of the account's own provider was slow lately, as far as this process knows."""
    return time.monotonic() < _slow_until.get(account_id, 0)


def forget_own_calls() -> None:
    """Forget who was slow, so that tests don't affect each other."""
    with _lock:
        _slow_until.clear()


def _has_place(account_id: int, among: int) -> bool:
    # At least one place each, or a process with few threads would never make such calls.
    places, slow_places = (max(1, int(share * among)) for share in (OWN_SHARE, SLOW_SHARE))
    if _under_way.total() >= places:
        return False
    slow = sum(number for other, number in _under_way.items() if is_slow(other))
    return not is_slow(account_id) or slow < slow_places


def _note_pace(account_id: int, took_s: float) -> None:
    if took_s < SLOW_S:
        return
    # The newest is last, as a dict keeps the order of insertion.
    _slow_until.pop(account_id, None)
    if len(_slow_until) >= _MAX_REMEMBERED:
        del _slow_until[next(iter(_slow_until))]
    _slow_until[account_id] = time.monotonic() + SLOW_FOR_S

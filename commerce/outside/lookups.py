"""DNS look-ups with a time-out, which `socket.getaddrinfo` lacks: name servers may be hostile."""

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Thread
from typing import Any

Addresses = list[tuple[Any, ...]]

# How many look-ups of one process may wait at once. One that timed out goes on until the resolver's own limit, as a
# thread in `getaddrinfo` can't be interrupted.
MAX_LOOKUPS = 64
# One name whose servers hang must not take all places, however many requests look it up.
MAX_LOOKUPS_OF_A_NAME = 4
# The part of the free places that an account may use: the slow name servers of a few shops leave some for the others.
_PART_OF_AN_ACCOUNT = 8

_lock = Lock()
_under_way: Counter[str] = Counter()
_of_accounts: Counter[int] = Counter()
_account: ContextVar[int | None] = ContextVar("account", default=None)


@contextmanager
def lookups_for(account_id: int) -> Iterator[None]:
    """Count the look-ups in the block as those of an account. Others are the installation's own."""
    token = _account.set(account_id)
    try:
        yield
    finally:
        _account.reset(token)


def look_up(host: str, port: int, *, timeout_s: float) -> Addresses:
    """Like `socket.getaddrinfo` for TCP. Raises `OSError`, which includes `TimeoutError`, and `ValueError`."""
    # An address needs no name server, so it takes no place either.
    if _is_ip_address(host):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    account_id = _account.get()
    _take_place(host, account_id)
    lookup = _Lookup(host, port, account_id)
    try:
        lookup.start()
    except BaseException:
        # The thread didn't start, for want of memory perhaps, so it won't do this itself.
        _free_place(host, account_id)
        raise
    lookup.join(timeout_s)
    return lookup.result()


class _Lookup(Thread):
    def __init__(self, host: str, port: int, account_id: int | None) -> None:
        # A daemon, so that a look-up that hangs doesn't keep the process from ending.
        super().__init__(name="lookup", daemon=True)
        self._host, self._port, self._account_id = host, port, account_id
        self._found: Addresses | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except Exception as error:  # noqa: BLE001  raised in the waiting thread
            self._error = error
        finally:
            _free_place(self._host, self._account_id)

    def result(self) -> Addresses:
        if self._error is not None:
            raise self._error
        if self._found is None:
            raise TimeoutError("The name servers gave no answer.")
        return self._found


def _is_ip_address(host: str) -> bool:
    # By the system's own rules, as it asks name servers about whatever it doesn't take for an address.
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except (OSError, ValueError):
            continue
        return True
    return False


def _take_place(host: str, account_id: int | None) -> None:
    with _lock:
        free = MAX_LOOKUPS - _under_way.total()
        is_full = free <= 0 or _under_way[host] >= MAX_LOOKUPS_OF_A_NAME
        # The emptier the process, the more an account may have. One look-up is possible as long as any place is free.
        if account_id is not None:
            is_full |= _of_accounts[account_id] >= max(1, free // _PART_OF_AN_ACCOUNT)
        if is_full:
            raise TimeoutError("Too many look-ups are waiting for name servers.")
        _under_way[host] += 1
        if account_id is not None:
            _of_accounts[account_id] += 1


def _free_place(host: str, account_id: int | None) -> None:
    with _lock:
        _under_way[host] -= 1
        # Names come from merchants and servers, so a counter that kept each of them would grow for ever.
        if not _under_way[host]:
            del _under_way[host]
        if account_id is not None:
            _of_accounts[account_id] -= 1
            if not _of_accounts[account_id]:
                del _of_accounts[account_id]

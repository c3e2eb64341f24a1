"""Keeps accounts with slow templates from holding up the others.

Each worker process renders one message of an account at a time, and one of all the accounts whose last message was
slow. The renderer keeps a worker free of slow messages, whichever process they come from (emails/renderer/lanes.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from emails.renderer_client import RendererBusy

# Processor time. The longest orders take less with the platform's templates.
SLOW_S = 0.3
# How long a thread of a worker waits for its account's turn.
WAIT_S = 2.0
_MAX_REMEMBERED = 10_000

_turns = Condition()
_rendering: set[int] = set()
_slow_rendering: set[int] = set()
_slow: set[int] = set()


def is_slow(account_id: int) -> bool:
    """Whether the account's last message was slow, as far as this process knows."""
    return account_id in _slow


def note_pace(account_id: int, processor_s: float) -> None:
    with _turns:
        if processor_s <= SLOW_S:
            _slow.discard(account_id)
            return
        if len(_slow) >= _MAX_REMEMBERED:
            _slow.clear()
        _slow.add(account_id)


@contextmanager
def rendering_turn(account_id: int) -> Iterator[None]:
    """The account's turn to have a message rendered. Raises `RendererBusy` if it doesn't come soon."""
    with _turns:
        if not _turns.wait_for(lambda: _may_begin(account_id), WAIT_S):
            raise RendererBusy(
                "Other messages of this account, or slow messages of other accounts, are being rendered."
            )
        _rendering.add(account_id)
        if is_slow(account_id):
            _slow_rendering.add(account_id)
    try:
        yield
    finally:
        with _turns:
            _rendering.discard(account_id)
            _slow_rendering.discard(account_id)
            _turns.notify_all()


def _may_begin(account_id: int) -> bool:
    return account_id not in _rendering and not (is_slow(account_id) and _slow_rendering)


def forget_paces() -> None:
    """As in a new process."""
    with _turns:
        _slow.clear()

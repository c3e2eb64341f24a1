"""Keeps accounts with slow templates from holding up the others.

The renderer has two lanes (emails/renderer/lanes.py): the quick lane allows little processor time, the slow lane much.
A message that is too slow for the quick lane is rendered in the slow lane, and so are all messages of its account for
the next few minutes.

Each worker process uses few places in each lane, so that requests don't queue in the renderer. One place of the quick
lane is kept for templates that are known to be quick. The others are on trial until they have been rendered once.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from threading import Condition
from typing import Any

from emails.renderer.limits import QUICK_PROCESSOR_SECONDS
from emails.renderer_client import RendererBusy

# How long the messages of an account stay in the slow lane after one that was slow.
SLOW_FOR_S = 300
QUICK_PLACES = 2
# How many of the quick places templates on trial may use.
TRIAL_PLACES = 1
# How long a message waits for a place in the quick lane, where places are soon free. For the slow lane it doesn't wait.
WAIT_S = 2.0
TRIAL_WAIT_S = 0.5
WAITING_TRIALS = 2
_MAX_REMEMBERED = 10_000


class Lane(StrEnum):
    QUICK = "quick"
    SLOW = "slow"


# An account and its template.
Kind = tuple[int, int]

_turns = Condition()
# The accounts whose messages are being rendered, each with its lane and whether its template is on trial.
_rendering: dict[int, tuple[Lane, bool]] = {}
# By account, until when its messages go to the slow lane.
_slow_until: dict[int, float] = {}
_quick_kinds: dict[Kind, None] = {}
_waiting_trials: set[object] = set()


def lane_of(account_id: int) -> Lane:
    """The lane for the account's next message, as far as this process knows."""
    return Lane.SLOW if time.monotonic() < _slow_until.get(account_id, 0) else Lane.QUICK


def must_wait(account_id: int) -> bool:
    """Whether the account's next message needs the slow lane, and there is no free place."""
    with _turns:
        lane = lane_of(account_id)
        return lane is Lane.SLOW and not _has_place(account_id, lane, is_trial=False)


def note_slow(account_id: int) -> None:
    with _turns:
        _make_room(_slow_until)
        _slow_until[account_id] = time.monotonic() + SLOW_FOR_S
        _turns.notify_all()


def note_pace(kind: Kind, processor_s: float) -> None:
    account_id, _ = kind
    if processor_s > QUICK_PROCESSOR_SECONDS:
        note_slow(account_id)
        return
    with _turns:
        _make_room(_quick_kinds)
        _quick_kinds[kind] = None


@contextmanager
def rendering_turn(kind: Kind, *, is_known_quick: bool = False) -> Iterator[Lane]:
    """A place for one message of the account, in the lane that is returned. An account has one at a time.

    `is_known_quick` says that the template needs no trial. Raises `RendererBusy` if no place is free soon.
    """
    account_id, _ = kind
    lane = _begin(account_id, is_trial=not is_known_quick and kind not in _quick_kinds)
    try:
        yield lane
    finally:
        with _turns:
            del _rendering[account_id]
            _turns.notify_all()


def _begin(account_id: int, *, is_trial: bool) -> Lane:
    with _turns, _waiting_room(is_trial=is_trial) as ends_at:
        while not _has_place(account_id, lane := lane_of(account_id), is_trial=is_trial):
            left_s = ends_at - time.monotonic()
            if lane is Lane.SLOW or left_s <= 0:
                raise RendererBusy(f"The {lane} lane of the renderer has no place for this message.")
            _turns.wait(left_s)
        _rendering[account_id] = lane, is_trial
    return lane


@contextmanager
def _waiting_room(*, is_trial: bool) -> Iterator[float]:
    """Until when a message may wait. Each holds a thread, so only a few may wait for a trial, which may take long."""
    now = time.monotonic()
    if not is_trial:
        yield now + WAIT_S
        return
    waits = len(_waiting_trials) < WAITING_TRIALS
    ticket = object()
    if waits:
        _waiting_trials.add(ticket)
    try:
        yield now + TRIAL_WAIT_S if waits else now
    finally:
        _waiting_trials.discard(ticket)


def _has_place(account_id: int, lane: Lane, *, is_trial: bool) -> bool:
    if account_id in _rendering:
        return False
    taken = [on_trial for other, on_trial in _rendering.values() if other is lane]
    if lane is Lane.SLOW:
        return not taken
    return len(taken) < QUICK_PLACES and not (is_trial and sum(taken) >= TRIAL_PLACES)


def _make_room(remembered: dict[Any, Any]) -> None:
    """Forget the oldest of too many."""
    if len(remembered) >= _MAX_REMEMBERED:
        del remembered[next(iter(remembered))]


def forget_paces() -> None:
    """As in a new process."""
    with _turns:
        _slow_until.clear()
        _quick_kinds.clear()

"""Keeps accounts with slow templates from holding up the others.

The renderer has two lanes (emails/renderer/lanes.py): the quick lane allows little processor time, the slow lane much.
A message that is too slow for the quick lane is rendered in the slow lane, and so are all messages of its account for
the next few minutes.

Each worker process uses few places in each lane, so that requests don't queue in the renderer. In the quick lane one
place is kept for the platform's templates, which merchants can't make slow, and one for these and for templates that
have been quick before. Other templates are on trial. A free place goes to the message that can wait least: a message on
trial waits for a short time only, and would otherwise never get one while there are many others.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from threading import Event, Lock
from typing import TypeVar

from emails.renderer.limits import QUICK_PROCESSOR_SECONDS
from emails.renderer_client import RendererBusy

K = TypeVar("K")
V = TypeVar("V")

# How long the messages of an account stay in the slow lane after one that was slow.
SLOW_FOR_S = 300
QUICK_PLACES = 3
# How many of the quick places templates of merchants may use, and those of them that are on trial.
OWN_PLACES = 2
TRIAL_PLACES = 1
# How long a message waits for a place in the quick lane, where places are soon free. For the slow lane it doesn't wait.
WAIT_S = 2.0
TRIAL_WAIT_S = 0.5
WAITING_TRIALS = 2
# Of accounts and of templates, so that memory stays bounded. What is forgotten is only on trial again.
_MAX_REMEMBERED = 10_000


class Lane(StrEnum):
    QUICK = "quick"
    SLOW = "slow"


class Trust(Enum):
    """How far a template is known to be quick."""

    PLATFORM = auto()
    QUICK_BEFORE = auto()
    TRIAL = auto()


# An account and its template.
Kind = tuple[int, int]


@dataclass(eq=False, slots=True)
class _Turn:
    """A message that waits for a place, and gets one in a lane."""

    account_id: int
    trust: Trust
    # By the clock of `time.monotonic`.
    waits_until: float
    lane: Lane | None = None
    # It has its place, or needs one in the slow lane, for which it doesn't wait.
    has_waited: Event = field(default_factory=Event)


_lock = Lock()
_waiting: list[_Turn] = []
# By account, as each has one message at a time, so that none fills a lane.
_rendering: dict[int, _Turn] = {}
# By account, until when its messages go to the slow lane.
_slow_until: dict[int, float] = {}
_quick_kinds: dict[Kind, None] = {}


def choose_lane(account_id: int) -> Lane:
    """The lane for the account's next message, as far as this process knows."""
    return Lane.SLOW if time.monotonic() < _slow_until.get(account_id, 0) else Lane.QUICK


def must_wait(account_id: int) -> bool:
    """Whether the account's next message needs the slow lane, and there is no free place."""
    with _lock:
        lane = choose_lane(account_id)
        # In the slow lane, trust makes no difference.
        return lane is Lane.SLOW and not _has_place(account_id, lane, Trust.TRIAL)


def note_slow(account_id: int) -> None:
    with _lock:
        _make_room(_slow_until)
        _slow_until[account_id] = time.monotonic() + SLOW_FOR_S
        # Its messages that wait for the quick lane try the slow one instead, or give up.
        _give_places()


def note_pace(kind: Kind, processor_s: float) -> None:
    account_id, _ = kind
    if processor_s > QUICK_PROCESSOR_SECONDS:
        note_slow(account_id)
        return
    with _lock:
        _make_room(_quick_kinds)
        _quick_kinds[kind] = None


@contextmanager
def rendering_turn(kind: Kind, *, is_platforms: bool = False) -> Iterator[Lane]:
    """Hold a place for one message of the account, in the lane that this yields. An account has one place at a time.

    Raises `RendererBusy` if no place is free soon.
    """
    account_id, _ = kind
    own = Trust.QUICK_BEFORE if kind in _quick_kinds else Trust.TRIAL
    trust = Trust.PLATFORM if is_platforms else own
    turn = _Turn(account_id, trust, time.monotonic() + (TRIAL_WAIT_S if trust is Trust.TRIAL else WAIT_S))
    try:
        yield _take_place(turn)
    finally:
        with _lock:
            if turn in _waiting:
                _waiting.remove(turn)
            if turn.lane:
                del _rendering[account_id]
                _give_places()


def _take_place(turn: _Turn) -> Lane:
    with _lock:
        # Each that waits holds a thread, so only a few may wait for a trial, which may take long: one of an account.
        trials = {one.account_id for one in _waiting if one.trust is Trust.TRIAL}
        # Accounts that are being rendered wait for themselves, so they don't count.
        is_one_too_many = len(trials - _rendering.keys()) >= WAITING_TRIALS or turn.account_id in trials
        _waiting.append(turn)
        _give_places()
    if turn.trust is not Trust.TRIAL or not is_one_too_many:
        turn.has_waited.wait(turn.waits_until - time.monotonic())
    if turn.lane is None:
        raise RendererBusy("No lane of the renderer has a place for this message.")
    return turn.lane


def _give_places() -> None:
    for turn in sorted(_waiting, key=lambda turn: turn.waits_until):
        # Chosen each time: the account may have become slow meanwhile.
        lane = choose_lane(turn.account_id)
        if _has_place(turn.account_id, lane, turn.trust):
            turn.lane, _rendering[turn.account_id] = lane, turn
        elif lane is Lane.QUICK:
            continue
        _waiting.remove(turn)
        turn.has_waited.set()


def _has_place(account_id: int, lane: Lane, trust: Trust) -> bool:
    if account_id in _rendering:
        return False
    taken = [turn.trust for turn in _rendering.values() if turn.lane is lane]
    if lane is Lane.SLOW:
        return not taken
    own = [one for one in taken if one is not Trust.PLATFORM]
    return (
        len(taken) < QUICK_PLACES
        and (trust is Trust.PLATFORM or len(own) < OWN_PLACES)
        and (trust is not Trust.TRIAL or own.count(Trust.TRIAL) < TRIAL_PLACES)
    )


def _make_room(remembered: dict[K, V]) -> None:
    """Forget the oldest of too many. A dict keeps the order of insertion."""
    if len(remembered) >= _MAX_REMEMBERED:
        del remembered[next(iter(remembered))]


def forget_paces() -> None:
    """Forget all of this, so that tests don't affect each other."""
    with _lock:
        _slow_until.clear()
        _quick_kinds.clear()

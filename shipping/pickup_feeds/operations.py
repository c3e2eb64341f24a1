from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction

from . import staging
from .errors import FeedRefused, LineRefused
from .lines import Line
from .points import Point, external_id_of, point_of

# Of the refused lines, so many are told; all are counted.
REFUSALS_TOLD = 1000


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a feed. A carrier's full feed may come in several."""

    name: str
    lines: Iterable[Line]


@dataclass(slots=True)
class Tally:
    """The lines of a feed: all, points and refused ones are counted, the first of the refused ones told."""

    lines: int = 0
    accepted: int = 0
    refused: int = 0
    told: list[str] = field(default_factory=list)

    def tell(self, source: Source, line: int, reason: str) -> None:
        if len(self.told) < REFUSALS_TOLD:
            self.told.append(f"{source.name}:{line}: {reason}")


@dataclass(frozen=True, slots=True)
class Summary:
    """What an import did, or would do: lines read, points added, changed and closed, and lines refused."""

    lines: int
    added: int
    changed: int
    closed: int
    refused: int
    told: list[str]


def import_points(
    *,
    carrier: str,
    sources: Sequence[Source],
    now: datetime,
    is_partial: bool = False,
    is_forced: bool = False,
    is_dry_run: bool = False,
) -> Summary:
    """Make a carrier's points those of a feed, all or nothing. Lines that are wrong are left out.

    A point that a full feed lacks becomes closed; one that only a refused line names stays as it is.
    Raises `FeedRefused` for a feed that breaks off, that has no good line among bad ones, or that closes more
    than half of the carrier's active points without being forced, and while another import of it is under way.
    """
    with transaction.atomic():
        if not staging.try_lock(carrier):
            raise FeedRefused(f"Another import of {carrier} is under way.")
        tally = _stage(carrier, sources)
        changes = staging.compare(carrier)
        vanished = 0 if is_partial else _vanished(carrier, changes, is_forced=is_forced)
        if not is_dry_run:
            staging.write(carrier, now=now)
            if vanished:
                staging.close_vanished(carrier, now=now)
        staging.drop()
    return Summary(
        lines=tally.lines,
        added=changes.added,
        changed=changes.changed,
        closed=changes.closed + vanished,
        refused=tally.refused,
        told=tally.told,
    )


def _stage(carrier: str, sources: Sequence[Source]) -> Tally:
    tally = Tally()
    staging.stage(_rows(carrier, sources, tally))
    if tally.refused and not tally.accepted:
        raise FeedRefused(f"Not one line of {tally.refused} is a pickup point. {tally.told[0]}")
    repeated = staging.remove_repeated(limit=REFUSALS_TOLD)
    tally.refused += repeated.count
    for file, line in repeated.told:
        tally.tell(sources[file], line, "external_id was on an earlier line")
    return tally


def _rows(carrier: str, sources: Sequence[Source], tally: Tally) -> Iterator[staging.Row]:
    for number, source in enumerate(sources):
        for line in _lines(source):
            tally.lines += 1
            try:
                point = _point(line, carrier)
            except LineRefused as refused:
                tally.refused += 1
                tally.tell(source, line.number, str(refused))
                if external_id := _external_id(line):
                    yield staging.refused_row(number, line.number, external_id)
            else:
                tally.accepted += 1
                yield staging.accepted_row(number, line.number, point)


def _lines(source: Source) -> Iterator[Line]:
    try:
        yield from source.lines
    except FeedRefused as refused:
        raise FeedRefused(f"{source.name}: {refused}") from None


def _point(line: Line, carrier: str) -> Point:
    if line.problem:
        raise LineRefused(line.problem)
    return point_of(line.fields, carrier=carrier)


def _external_id(line: Line) -> str | None:
    try:
        return external_id_of(line.fields)
    except LineRefused:
        return None


def _vanished(carrier: str, changes: staging.Changes, *, is_forced: bool) -> int:
    """How many points are to be closed because the feed lacks them; raises `FeedRefused` where it can't be full."""
    active = staging.count_active(carrier)
    lost = changes.closed + active.vanished
    if lost * 2 > active.total and not is_forced:
        raise FeedRefused(f"The feed closes {lost} of {active.total} active points of {carrier}.")
    return active.vanished

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction

from . import staging
from .errors import FeedRefused, LineRefused
from .lines import Line
from .points import Point, external_id_of, point_of

# How many refused lines are reported. All of them are counted.
REFUSALS_TOLD = 1000


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a feed. A full feed may consist of several."""

    name: str
    lines: Iterable[Line]


@dataclass(slots=True)
class Tally:
    """Counts all, accepted and refused lines, and keeps messages about the first refused ones."""

    lines: int = 0
    accepted: int = 0
    refused: int = 0
    told: list[str] = field(default_factory=list)

    def tell(self, source: Source, line: int, reason: str) -> None:
        if len(self.told) < REFUSALS_TOLD:
            self.told.append(f"{source.name}:{line}: {reason}")


@dataclass(frozen=True, slots=True)
class Summary:
    """What an import did, or would do in a dry run."""

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
    """Update a carrier's pickup points from a feed, all or nothing. Invalid lines are skipped.

    Closes points that are missing in a full feed, unless a refused line has their id. Raises `FeedRefused` if the feed
    is truncated, if all its lines are invalid, if it would close more than half of the carrier's active points (unless
    forced), and while another import for the carrier is running.
    """
    with transaction.atomic():
        if not staging.try_lock(carrier):
            raise FeedRefused(f"Another import of {carrier} is running.")
        tally = _stage(carrier, sources)
        changes = staging.compare(carrier)
        vanished = 0 if is_partial else _count_vanished(carrier, changes, is_forced=is_forced)
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
        raise FeedRefused(f"The feed has no valid line ({tally.refused} refused). {tally.told[0]}")
    repeated = staging.remove_repeated(limit=REFUSALS_TOLD)
    tally.refused += repeated.count
    for file, line in repeated.told:
        tally.tell(sources[file], line, "external_id appeared on an earlier line")
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


def _count_vanished(carrier: str, changes: staging.Changes, *, is_forced: bool) -> int:
    """Count the active points missing in the feed. Raises `FeedRefused` if too many would be closed."""
    active = staging.count_active(carrier)
    lost = changes.closed + active.vanished
    if lost * 2 > active.total and not is_forced:
        raise FeedRefused(f"The feed would close {lost} of {active.total} active points of {carrier}.")
    return active.vanished

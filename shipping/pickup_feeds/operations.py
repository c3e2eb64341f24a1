from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction

from . import staging
from .errors import FeedRefused, LineRefused
from .lines import Line
from .points import build_point, read_external_id

# Per import: a file in the wrong format has as many refused lines as lines. All of them are counted.
MAX_REPORTED_REFUSALS = 1000


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
    messages: list[str] = field(default_factory=list)

    def report(self, source: Source, line: int, reason: str) -> None:
        if len(self.messages) < MAX_REPORTED_REFUSALS:
            self.messages.append(f"{source.name}:{line}: {reason}")


@dataclass(frozen=True, slots=True)
class Summary:
    """What an import did, or would do in a dry run. `messages` are about the first refused lines."""

    lines: int
    added: int
    changed: int
    closed: int
    refused: int
    messages: list[str]


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
        vanished = 0
        if not is_partial:
            active = staging.count_active(carrier)
            vanished, lost = active.vanished, changes.closed + active.vanished
            # A feed that is cut off, or another carrier's, would leave shoppers without pickup points.
            if lost * 2 > active.total and not is_forced:
                raise FeedRefused(
                    f"The feed would close {lost} of {active.total} active points of {carrier}."
                )
        # A dry run does all but this, so it counts and refuses the same.
        if not is_dry_run:
            staging.write_changes(carrier, now=now)
            if vanished:
                staging.close_vanished(carrier, now=now)
        # Temporary tables live as long as the connection, which is pooled.
        staging.drop_tables()
    return Summary(
        lines=tally.lines,
        added=changes.added,
        changed=changes.changed,
        closed=changes.closed + vanished,
        refused=tally.refused,
        messages=tally.messages,
    )


def _stage(carrier: str, sources: Sequence[Source]) -> Tally:
    tally = Tally()
    staging.stage(_build_rows(carrier, sources, tally))
    if tally.refused and not tally.accepted:
        raise FeedRefused(f"The feed has no valid line ({tally.refused} refused). {tally.messages[0]}")
    # In SQL afterwards: the ids of a million points would take much memory here.
    repeated = staging.remove_repeated(limit=MAX_REPORTED_REFUSALS)
    tally.refused += repeated.count
    for file, line in repeated.first:
        tally.report(sources[file], line, "external_id appeared on an earlier line")
    return tally


def _build_rows(carrier: str, sources: Sequence[Source], tally: Tally) -> Iterator[staging.Row]:
    for number, source in enumerate(sources):
        for line in _read_lines(source):
            tally.lines += 1
            try:
                point = None if line.problem else build_point(line.fields, carrier=carrier)
                reason = line.problem
            except LineRefused as refused:
                point, reason = None, str(refused)
            if point:
                tally.accepted += 1
                yield (number, line.number, *point)
            else:
                tally.refused += 1
                tally.report(source, line.number, reason)
                # The carrier still has the point, so a fault in its line must not close it.
                with suppress(LineRefused):
                    yield staging.build_refused_row(number, line.number, read_external_id(line.fields))


def _read_lines(source: Source) -> Iterator[Line]:
    """The lines of a file. Its name is added to a refusal, as a feed may have several files."""
    try:
        yield from source.lines
    except FeedRefused as refused:
        raise FeedRefused(f"{source.name}: {refused}") from None

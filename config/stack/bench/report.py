"""Formats the figures as tables, for the terminal and for the marked blocks of a document."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from config.stack.errors import StackError

from .load import Measurement

HEADER = ("Operation", "per second", "p50 ms", "p99 ms", "SQL", "web ms", "PG ms", "of limit", "share")
OF_PROCESSES = ("Processes", "MB", "journey ms", "8 accounts", "paused", "8, paused")

Cells = tuple[str, ...]


def cells_of(
    operation: str, measured: Measurement, *, statements: int, base: Measurement, requests: int = 1
) -> Cells:
    """Format one row of the table of operations.

    `base` is the measurement of requests that do nothing; `requests` is how many requests an answer stands for.
    """
    web, postgres, limit = "-", "-", "-"
    # Empty if the system doesn't show processor time.
    if measured.cpu:
        used = [measured.cpu_ms(kind) for kind in ("web", "PostgreSQL")]
        web, postgres = (f"{milliseconds:.2f}" for milliseconds in used)
        # What is left if the code of the operation took no time at all.
        needed = requests * base.cpu_ms("web") + measured.cpu_ms("PostgreSQL")
        # More for what Django doesn't answer.
        if 0 < needed <= sum(used):
            limit = f"{needed / sum(used):.0%}"
    return (
        operation,
        f"{measured.rate:,.0f}" if measured.rate >= 100 else f"{measured.rate:.1f}",
        f"{measured.percentile(50) * 1000:.1f}",
        f"{measured.percentile(99) * 1000:.1f}",
        str(statements),
        *(web, postgres, limit),
        f"{measured.rate / base.rate:.2%}",
    )


def rows_of_processes(journeys: Iterable[Measurement], memory: Mapping[str, float]) -> Iterator[Cells]:
    """Format the memory of each kind of process, and its processor time per journey."""
    measured = list(journeys)
    for kind in sorted(measured[0].cpu, key=str.lower):
        megabytes = f"{memory[kind]:.0f}" if kind in memory else "-"
        yield (kind, megabytes, *(f"{journey.cpu_ms(kind):.1f}" for journey in measured))
    own = [journey.own_time / max(len(journey.latencies), 1) * 1000 for journey in measured]
    yield ("load generator", "", *(f"{milliseconds:.1f}" for milliseconds in own))
    used = [sum(map(journey.cpu_ms, journey.cpu)) for journey in measured]
    yield (
        "all",
        f"{sum(memory.values()):.0f}",
        *(f"{sum(both):.1f}" for both in zip(own, used, strict=True)),
    )


def as_line(cells: Cells) -> str:
    name, *figures = cells
    return f"{name:<40}" + "".join(f"{figure:>11}" for figure in figures)


def as_markdown(header: Cells, rows: Iterable[Cells]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'---:|' * (len(header) - 1)}"
    yield from (f"| {' | '.join(cells)} |" for cells in rows)


def replace_block(path: Path, name: str, lines: Iterable[str]) -> None:
    """Replace the lines between the markers of a document's block. Raises `StackError` if it has no such block."""
    begins, ends = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, begin, rest = path.read_text().partition(begins)
    _, end, after = rest.partition(ends)
    if not (begin and end):
        raise StackError(f"{path} has no block between {begins} and {ends}.")
    path.write_text("\n".join([before + begin, *lines, end + after]))

"""Formats the figures as a table, for the terminal and for the marked block of a document."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from config.stack.errors import StackError

from .load import Measurement

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
HEADER = ("Operation", "per second", "p50 ms", "p99 ms", "SQL", "of /healthz")


def cells_of(
    operation: str, measurement: Measurement, *, statements: int, first_rate: float
) -> tuple[str, ...]:
    """Format one row of the table. `first_rate` is the rate of /healthz, to compare with."""
    return (
        operation,
        f"{measurement.rate:,.0f}",
        f"{measurement.percentile(50) * 1000:.1f}",
        f"{measurement.percentile(99) * 1000:.1f}",
        str(statements),
        f"{measurement.rate / first_rate:.1%}",
    )


def as_line(cells: tuple[str, ...]) -> str:
    name, *figures = cells
    return f"{name:<40}" + "".join(f"{figure:>13}" for figure in figures)


def as_markdown(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(HEADER)} |"
    yield f"|---|{'---:|' * (len(HEADER) - 1)}"
    yield from (f"| {' | '.join(cells)} |" for cells in rows)


def replace_block(path: Path, lines: Iterable[str]) -> None:
    """Replace the lines between the markers of a document. Raises `StackError` if it has no markers."""
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise StackError(f"{path} has no block between {BEGIN} and {END}.")
    path.write_text("\n".join([before + begin, *lines, end + after]))

"""Bar charts as integers for an SVG, with one bar for each day."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format

# Units of the drawing, which is scaled to its place.
DAY_WIDTH = 10
HEIGHT = 60
_BAR_WIDTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    x: int
    y: int
    width: int
    height: int
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Numbers by day, scaled to `peak`, the highest. `colour` is a class of the style sheet.

    `shadows` are the bars of the period before, if there is one.
    """

    title: str
    colour: str
    total: str
    peak: str
    width: int
    height: int
    first: date | None
    last: date | None
    bars: list[Bar]
    shadows: list[Bar]


def build_chart(
    title: str,
    days: Sequence[tuple[date, int]],
    *,
    colour: str,
    before: Sequence[tuple[date, int]] = (),
    write: Callable[[int], str] = str,
) -> Chart:
    """Draw numbers by day, and those of the days `before` behind them. `write` makes text of a number."""
    peak = max((number for _, number in [*days, *before]), default=0)
    return Chart(
        title=title,
        colour=colour,
        total=write(sum(number for _, number in days)),
        peak=write(peak),
        width=DAY_WIDTH * len(days),
        height=HEIGHT,
        first=days[0][0] if days else None,
        last=days[-1][0] if days else None,
        bars=_build_bars(days, peak, write),
        shadows=_build_bars(before, peak, write),
    )


def _build_bars(days: Sequence[tuple[date, int]], peak: int, write: Callable[[int], str]) -> list[Bar]:
    bars = []
    for position, (day, number) in enumerate(days):
        if number > 0:
            # Even the smallest number shows.
            height = max(1, round(HEIGHT * number / peak))
            # SVG counts from the top.
            bars.append(
                Bar(
                    x=DAY_WIDTH * position,
                    y=HEIGHT - height,
                    width=_BAR_WIDTH,
                    height=height,
                    title=f"{date_format(day, 'SHORT_DATE_FORMAT')}: {write(number)}",
                )
            )
    return bars

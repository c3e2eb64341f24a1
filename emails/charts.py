"""Bar charts as integers for an SVG, with one bar for each day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

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
    """Counts by day, scaled to `peak`, the highest. `colour` is a class of the style sheet."""

    title: str
    colour: str
    total: int
    peak: int
    width: int
    height: int
    bars: list[Bar]


def build_chart(title: str, days: Sequence[tuple[date, int]], *, colour: str) -> Chart:
    peak = max((count for _, count in days), default=0)
    bars = []
    for number, (day, count) in enumerate(days):
        if count:
            # Even the smallest count shows.
            height = max(1, round(HEIGHT * count / peak))
            # SVG counts from the top.
            bars.append(
                Bar(
                    x=DAY_WIDTH * number,
                    y=HEIGHT - height,
                    width=_BAR_WIDTH,
                    height=height,
                    title=f"{day.isoformat()}: {count}",
                )
            )
    return Chart(
        title=title,
        colour=colour,
        total=sum(count for _, count in days),
        peak=peak,
        width=DAY_WIDTH * len(days),
        height=HEIGHT,
        bars=bars,
    )

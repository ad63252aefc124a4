"""Lines of daily figures, as shapes for an SVG that is stretched to the room it has. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

STEP = 10  # Between two days.
HEIGHT = 100
ROOM = 4  # Above the highest and below the lowest, for the thickness of the line.
SPARK_WIDTH, SPARK_HEIGHT = 96, 24
SPARK_POINTS = 30


@dataclass(frozen=True, slots=True)
class ChartDay:
    """The strip of a day, which tells its figures on hover."""

    x: int
    told: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`line` and `before` are points of polylines, `area` those of the polygon below the line. `first` and `last` are
    dates, `highest` a figure, in words."""

    width: int
    line: str
    area: str
    before: str
    days: tuple[ChartDay, ...]
    first: str
    last: str
    highest: str
    is_empty: bool


def chart(
    dates: Sequence[date],
    figures: Sequence[int],
    before: Sequence[int] | None,
    told: Callable[[int], str],
) -> Chart:
    """`before` are the figures of as many days earlier, if they are known; both are drawn to the same scale."""
    highest = max((*figures, *(before or ())), default=0)
    width = STEP * len(dates)
    line = _points(figures, highest)
    return Chart(
        width=width,
        line=line,
        area=f"{STEP // 2},{HEIGHT} {line} {width - STEP // 2},{HEIGHT}",
        before=_points(before, highest) if before and any(before) else "",
        days=tuple(_days(dates, figures, before, told)),
        first=day_told(dates[0]),
        last=day_told(dates[-1]),
        highest=told(max(figures)),
        is_empty=not any(figures),
    )


def sparkline(figures: Sequence[int]) -> str:
    """The points of a polyline in a box of SPARK_WIDTH × SPARK_HEIGHT; many days are summed up to at most
    SPARK_POINTS points."""
    size = -(-len(figures) // SPARK_POINTS)
    # From the end, so that the last point is made of whole days' figures like the others.
    ends = range(len(figures), 0, -size)
    sums = [sum(figures[max(0, end - size) : end]) for end in reversed(ends)]
    highest, last = max(sums, default=0) or 1, max(1, len(sums) - 1)
    points = [
        (SPARK_WIDTH * place / last, _height(figure, highest, SPARK_HEIGHT, 2)) for place, figure in enumerate(sums)
    ]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def day_told(day: date) -> str:
    return f"{day.day} {day:%B}"


def _points(figures: Sequence[int], highest: int) -> str:
    heights = [_height(figure, highest or 1, HEIGHT, ROOM) for figure in figures]
    return " ".join(f"{STEP * place + STEP // 2},{y:.1f}" for place, y in enumerate(heights))


def _height(figure: int, highest: int, height: int, room: int) -> float:
    return height - room - (height - 2 * room) * figure / highest


def _days(
    dates: Sequence[date], figures: Sequence[int], before: Sequence[int] | None, told: Callable[[int], str]
) -> list[ChartDay]:
    days = []
    for place, (day, figure) in enumerate(zip(dates, figures, strict=True)):
        earlier = f"; {len(dates)} days before: {told(before[place])}" if before else ""
        days.append(ChartDay(STEP * place, f"{day_told(day)}: {told(figure)}{earlier}"))
    return days

"""Line charts of figures by day or hour, and sparklines, for SVGs that are stretched to the room they have. The last
figure may be of a day or an hour that is not over: it is drawn apart from the others, which are whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

STEP = 10  # Between two points.
HEIGHT = 100
ROOM = 4  # Above the highest and below the lowest, for the thickness of the line.
SPARK_WIDTH, SPARK_HEIGHT = 96, 24
SPARK_POINTS = 30
SO_FAR = "so far"


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """The strip of a point. `figure` and `before` are texts, `before` empty where no earlier figures are known, and
    `figure` where it is to come; `label` has all of it as the text on hover."""

    x: int
    name: str
    figure: str
    before: str
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The drawing of a line chart. `line` and `before` are points of polylines, `so_far` those of the one that ends at
    a figure which still grows, `area` those of the polygon below the line. `first` and `last` are names of points,
    `highest` a figure, as labels."""

    width: int
    line: str
    so_far: str
    area: str
    before: str
    points: tuple[ChartPoint, ...]
    first: str
    last: str
    highest: str
    is_empty: bool


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The points of the polylines of a sparkline: of what is over, and from there to what is not."""

    line: str
    so_far: str


def line_chart(
    names: Sequence[str],
    figures: Sequence[int],
    before: Sequence[int] | None,
    label: Callable[[int], str],
    label_before: str,
    is_so_far: bool = False,
) -> Chart:
    """Draw a line chart. `before` are earlier figures, if they are known; both are drawn to the same scale. There may
    be fewer `figures` than names: the rest is to come. `is_so_far`: the last figure still grows."""
    highest = max((*figures, *(before or ())), default=0)
    points = _points(figures, highest)
    whole = points[:-1] if is_so_far else points
    line = " ".join(whole)
    foot = STEP * len(whole) - STEP // 2
    return Chart(
        width=STEP * len(names),
        line=line,
        so_far=" ".join(points[-2:]) if is_so_far else "",
        area=f"{STEP // 2},{HEIGHT} {line} {foot},{HEIGHT}" if whole else "",
        before=" ".join(_points(before, highest)) if before and any(before) else "",
        points=tuple(
            _point(place, name, figures, before, label, label_before, is_so_far) for place, name in enumerate(names)
        ),
        first=names[0],
        last=names[-1],
        highest=label(max(figures)),
        is_empty=not any(figures),
    )


def chart_by_day(
    dates: Sequence[date], figures: Sequence[int], before: Sequence[int] | None, label: Callable[[int], str]
) -> Chart:
    """Draw a chart of figures by day up to today, which is not over. `before` are the figures of as many days earlier,
    if they are known."""
    names = [day_and_month(day) for day in dates]
    return line_chart(names, figures, before, label, f"{len(dates)} days before", is_so_far=True)


def sparkline(figures: Sequence[int]) -> Sparkline:
    """Draw figures by day up to today in a box of SPARK_WIDTH × SPARK_HEIGHT; many days are summed up to at most
    SPARK_POINTS points."""
    size = -(-len(figures) // SPARK_POINTS)
    # From the end, so that all points but the first are made of as many days.
    ends = range(len(figures), 0, -size)
    sums = [sum(figures[max(0, end - size) : end]) for end in reversed(ends)]
    highest, last = max(sums, default=0) or 1, max(1, len(sums) - 1)
    points = [
        f"{SPARK_WIDTH * place / last:.1f},{height_of(figure, highest, SPARK_HEIGHT, 2):.1f}"
        for place, figure in enumerate(sums)
    ]
    return Sparkline(" ".join(points[:-1]), " ".join(points[-2:]))


def height_of(figure: int, highest: int, height: int = HEIGHT, room: int = ROOM) -> float:
    """Return the distance of a figure from the top."""
    return height - room - (height - 2 * room) * figure / highest


def day_and_month(day: date) -> str:
    """Format a day without its year, where that is clear: "3 November"."""
    return f"{day.day} {day:%B}"


def _points(figures: Sequence[int], highest: int) -> list[str]:
    heights = [height_of(figure, highest or 1) for figure in figures]
    return [f"{STEP * place + STEP // 2},{y:.1f}" for place, y in enumerate(heights)]


def _point(
    place: int,
    name: str,
    figures: Sequence[int],
    before: Sequence[int] | None,
    label: Callable[[int], str],
    label_before: str,
    is_so_far: bool,
) -> ChartPoint:
    name = f"{name}, {SO_FAR}" if is_so_far and place == len(figures) - 1 else name
    figure = label(figures[place]) if place < len(figures) else ""
    earlier = label(before[place]) if before else ""
    texts = [text for text in (figure, f"{label_before}: {earlier}" if earlier else "") if text]
    return ChartPoint(STEP * place, name, figure, earlier, f"{name}: {'; '.join(texts)}" if texts else name)

"""Line charts of figures by day or hour, for SVGs that are stretched to the room they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

STEP = 10  # Between two points.
HEIGHT = 100
ROOM = 4  # Above the highest and below the lowest, for the thickness of the line.


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """The strip of a point, with its figures as the text on hover."""

    x: int
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The drawing of a line chart. `line` and `before` are points of polylines, `area` those of the polygon below the
    line. `first` and `last` are names of points, `highest` a figure, as labels."""

    width: int
    line: str
    area: str
    before: str
    points: tuple[ChartPoint, ...]
    first: str
    last: str
    highest: str
    is_empty: bool


def line_chart(
    names: Sequence[str],
    figures: Sequence[int],
    before: Sequence[int] | None,
    label: Callable[[int], str],
    label_before: str,
) -> Chart:
    """Draw a line chart. `before` are earlier figures, if they are known; both are drawn to the same scale. There may
    be fewer `figures` than names: the rest is to come."""
    highest = max((*figures, *(before or ())), default=0)
    line = _points(figures, highest)
    return Chart(
        width=STEP * len(names),
        line=line,
        area=f"{STEP // 2},{HEIGHT} {line} {STEP * len(figures) - STEP // 2},{HEIGHT}",
        before=_points(before, highest) if before and any(before) else "",
        points=tuple(
            ChartPoint(STEP * place, _label(place, name, figures, before, label, label_before))
            for place, name in enumerate(names)
        ),
        first=names[0],
        last=names[-1],
        highest=label(max(figures)),
        is_empty=not any(figures),
    )


def height_of(figure: int, highest: int, height: int = HEIGHT, room: int = ROOM) -> float:
    """Return the distance of a figure from the top."""
    return height - room - (height - 2 * room) * figure / highest


def _points(figures: Sequence[int], highest: int) -> str:
    heights = [height_of(figure, highest or 1) for figure in figures]
    return " ".join(f"{STEP * place + STEP // 2},{y:.1f}" for place, y in enumerate(heights))


def _label(
    place: int,
    name: str,
    figures: Sequence[int],
    before: Sequence[int] | None,
    label: Callable[[int], str],
    label_before: str,
) -> str:
    texts = [label(figures[place])] if place < len(figures) else []
    if before:
        texts.append(f"{label_before}: {label(before[place])}")
    return f"{name}: {'; '.join(texts)}" if texts else name

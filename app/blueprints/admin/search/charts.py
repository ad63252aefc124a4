"""Charts of daily figures, sparklines, and bars of differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.charts import HEIGHT, ROOM, STEP, Chart, height_of, line_chart
from app.domain.search.index.reconcile import DriftDay, DriftHistory
from app.domain.search_statistics.measures import Measure, Period, amount

SPARK_WIDTH, SPARK_HEIGHT = 96, 24
SPARK_POINTS = 30


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a column, placed from the top; `kind` is the kind of difference that it stands for."""

    kind: str
    x: int
    y: int
    height: int


@bp.app_template_global("chart_of")
def chart_of(measure: Measure, period: Period, currency: str) -> Chart:
    return chart(period.dates, measure.by_day, measure.by_day_before, lambda n: amount(measure.key, n, currency))


def chart(
    dates: Sequence[date],
    figures: Sequence[int],
    before: Sequence[int] | None,
    label: Callable[[int], str],
) -> Chart:
    """Draw a chart of figures by day. `before` are the figures of as many days earlier, if they are known."""
    names = [day_and_month(day) for day in dates]
    return line_chart(names, figures, before, label, f"{len(dates)} days before")


@bp.app_template_filter("sparkline")
def sparkline(figures: Sequence[int]) -> str:
    """The points of a polyline in a box of SPARK_WIDTH × SPARK_HEIGHT; many days are summed up to at most
    SPARK_POINTS points."""
    size = -(-len(figures) // SPARK_POINTS)
    # From the end, so that the last point is made of whole days' figures like the others.
    ends = range(len(figures), 0, -size)
    sums = [sum(figures[max(0, end - size) : end]) for end in reversed(ends)]
    highest, last = max(sums, default=0) or 1, max(1, len(sums) - 1)
    points = [
        (SPARK_WIDTH * place / last, height_of(figure, highest, SPARK_HEIGHT, 2)) for place, figure in enumerate(sums)
    ]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


@bp.app_template_filter("day_and_month")
def day_and_month(day: date) -> str:
    """A day without its year, where that is clear: "3 November"."""
    return f"{day.day} {day:%B}"


@bp.app_template_filter("drift_bars")
def drift_bars(drift: DriftHistory) -> tuple[Bar, ...]:
    """Return the bars of differences by day. The tallest day reaches the top; a day without a difference, or not
    compared, is a line at the foot."""
    tallest = max((day.total for day in drift.days), default=0) or 1
    return tuple(bar for place, day in enumerate(drift.days) for bar in _bars(day, STEP * place, tallest))


def _bars(day: DriftDay, x: int, tallest: int) -> list[Bar]:
    found, foot = [], HEIGHT
    for kind, number in (("missing", day.missing), ("stale", day.stale), ("extra", day.extra)):
        if number:
            height = max(3, number * (HEIGHT - ROOM) // tallest)
            foot -= height
            found.append(Bar(kind, x, max(0, foot), height))
    return found or [Bar("none" if day.compared else "unknown", x, HEIGHT - 2, 2)]

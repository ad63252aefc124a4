"""The daily counts of comparisons of rankings: written with the other counts of a batch, and summed up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, timedelta

from sqlalchemy import func, select

from app.domain.search_statistics.counting.aggregation import ComparisonDay
from app.domain.search_statistics.models import RankingComparison, RankingComparisonDay, SearchDay
from app.domain.search_statistics.verdicts import Wins
from app.domain.shared.records import upsert
from app.extensions import db

COUNTS = ("present", "candidate", "ties")
FOUR_WEEKS = timedelta(weeks=4)


def write_wins(site_id: int, wins: Mapping[ComparisonDay, Wins]) -> None:
    """Add wins to the daily counts, within the transaction that counts the clicks they come from. Those of a comparison
    that has ended are dropped, and those of a day that would have more than the day has clicks: replaying an old cookie
    adds nothing."""
    if not wins:
        return
    running = select(RankingComparison.id).where(
        RankingComparison.site_id == site_id, RankingComparison.ended_at.is_(None)
    )
    comparison_id = db.session.scalar(running.with_for_update())
    days = {day: added for (id, day), added in sorted(wins.items()) if id == comparison_id}
    if comparison_id is None or not days:
        return
    room = _room(site_id, comparison_id, days)
    key = {"comparison_id": comparison_id, "site_id": site_id}
    rows = [
        {"day": day, **key, **{name: getattr(added, name) for name in COUNTS}}
        for day, added in days.items()
        if added.total <= room.get(day, 0)
    ]
    if rows:
        statement = upsert(RankingComparisonDay)
        sums = {name: getattr(RankingComparisonDay, name) + getattr(statement.excluded, name) for name in COUNTS}
        columns = ["comparison_id", "day"]
        db.session.connection().execute(statement.on_conflict_do_update(index_elements=columns, set_=sums), rows)


def _room(site_id: int, comparison_id: int, days: Collection[date]) -> dict[date, int]:
    """Return how many clicks each day has beyond those that are wins or ties already."""
    clicked = select(SearchDay.day, SearchDay.clicked).where(SearchDay.site_id == site_id, SearchDay.day.in_(days))
    counted = select(
        RankingComparisonDay.day,
        RankingComparisonDay.present + RankingComparisonDay.candidate + RankingComparisonDay.ties,
    ).where(RankingComparisonDay.comparison_id == comparison_id, RankingComparisonDay.day.in_(days))
    used = {day: number for day, number in db.session.execute(counted)}
    return {day: number - used.get(day, 0) for day, number in db.session.execute(clicked)}


def wins_of(site_id: int, comparison_ids: Collection[int]) -> dict[int, Wins]:
    """Return the wins of comparisons of this site, by their ids."""
    sums = (func.coalesce(func.sum(getattr(RankingComparisonDay, name)), 0).label(name) for name in COUNTS)
    query = (
        select(RankingComparisonDay.comparison_id, *sums)
        .where(RankingComparisonDay.site_id == site_id, RankingComparisonDay.comparison_id.in_(comparison_ids))
        .group_by(RankingComparisonDay.comparison_id)
    )
    found = {id: Wins(*map(int, counts)) for id, *counts in db.session.execute(query)}
    return {id: found.get(id, Wins()) for id in comparison_ids}


def clicks_a_day(site_id: int, today: date) -> float:
    """Return how many searches a day led to a click in the four weeks before today."""
    days = SearchDay.day.between(today - FOUR_WEEKS, today - timedelta(days=1))
    clicked = select(func.sum(SearchDay.clicked)).where(SearchDay.site_id == site_id, days)
    return float(db.session.scalar(clicked) or 0) / FOUR_WEEKS.days

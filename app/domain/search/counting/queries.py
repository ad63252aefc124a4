"""What was counted, for those who ask for a number or a short list. Reports read app/domain/search/analytics."""

from __future__ import annotations

from datetime import date

from sqlalchemy import func, select

from app.domain.search.counting.days import today
from app.domain.search.counting.models import SearchDay, SearchWordDay
from app.domain.search.counting.windows import first_day, read
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db


def site_today(clock: Clock, site_id: int) -> date:
    """The site's day by its time zone."""
    time_zone = db.session.scalar(select(Site.time_zone).where(Site.id == site_id))
    return today(clock, time_zone or "UTC")


def searches_today(site_id: int, clock: Clock) -> int:
    """How many searches were counted on the site's today."""
    counted = select(SearchDay.searches).where(
        SearchDay.site_id == site_id, SearchDay.day == site_today(clock, site_id)
    )
    return db.session.scalar(counted) or 0


def top_words(site_id: int, today: date, days: int, most: int) -> list[tuple[str, int]]:
    """The words searched most in the last `days` days (7, 30 or 90) and how often, most first."""
    sums = read(site_id, today, days)
    searched = select(sums.c.word, sums.c.searches).where(sums.c.word != "", sums.c.searches > 0)
    rows = db.session.execute(searched.order_by(sums.c.searches.desc(), sums.c.word).limit(most))
    return [(word, searches) for word, searches in rows]


def applied_counts(site_id: int, today: date, days: int) -> dict[str, int]:
    """By word, which is a rule's normalised term: the searches of the last `days` days to which a rule applied."""
    counted = (
        select(SearchWordDay.word, func.sum(SearchWordDay.ruled))
        .where(
            SearchWordDay.site_id == site_id,
            SearchWordDay.day.between(first_day(today, days), today),
            SearchWordDay.ruled > 0,
        )
        .group_by(SearchWordDay.word)
    )
    return {word: int(times) for word, times in db.session.execute(counted) if word}

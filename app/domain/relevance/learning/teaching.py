"""Select the searches that can teach, so that others, such as what programs invent in a few weeks, use up no places."""

from __future__ import annotations

from datetime import date

from sqlalchemy import case, func, or_, select
from sqlalchemy.orm import aliased

from app.domain.relevance.learning.models import ALL, ForgottenWord
from app.domain.search.ranking.learning import FEWEST_A_WEEK, FEWEST_WEEKS
from app.domain.search_statistics.models import SearchProductWeek
from app.extensions import db

MOST_A_WEEK = 200  # Opens of a product in one week that count in the order of searches; more move no search up.


def teaching_words(site_id: int, first: date, most: int) -> list[str]:
    """Return at most `most` searches, those with the most opens first, from which shoppers opened products in enough
    weeks since a Monday that are not forgotten."""
    model, own, all_ = SearchProductWeek, aliased(ForgottenWord), aliased(ForgottenWord)
    opens = func.sum(case((model.opens > MOST_A_WEEK, MOST_A_WEEK), else_=model.opens))
    query = (
        select(model.word)
        .outerjoin(own, (own.site_id == model.site_id) & (own.word == model.word))
        .outerjoin(all_, (all_.site_id == model.site_id) & (all_.word == ALL))
        .where(model.site_id == site_id, model.week >= first, model.opens >= FEWEST_A_WEEK)
        .where(*(or_(one.through.is_(None), model.week > one.through) for one in (own, all_)))
        .group_by(model.word)
        .having(func.count(model.week.distinct()) >= FEWEST_WEEKS)
        .order_by(opens.desc(), model.word)
        .limit(most)
    )
    return list(db.session.scalars(query))

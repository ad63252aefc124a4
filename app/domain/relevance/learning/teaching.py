"""Select the searches that can teach, so that others, such as what programs invent on a few days, use up no places."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Select, case, func, or_, select
from sqlalchemy.orm import aliased

from app.domain.relevance.learning.models import ALL, ForgottenWord
from app.domain.search.ranking.learning import FEWEST_A_DAY, FEWEST_DAYS, FEWEST_NETWORKS
from app.domain.search_statistics.counting.models import SearchProductDay
from app.extensions import db

MOST_A_DAY = 30  # Opens of a product on one day that count in the order of searches; more do not move a search up.


def teaching_words(site_id: int, first: date, last: date, most: int) -> list[str]:
    """Return at most `most` searches, those with the most opens first, from which shoppers opened products on enough
    days of the period that are not forgotten, and one product from enough networks."""
    model, own, all_ = SearchProductDay, aliased(ForgottenWord), aliased(ForgottenWord)
    opens = func.sum(case((model.opens > MOST_A_DAY, MOST_A_DAY), else_=model.opens))
    query = (
        select(model.word)
        .outerjoin(own, (own.site_id == model.site_id) & (own.word == model.word))
        .outerjoin(all_, (all_.site_id == model.site_id) & (all_.word == ALL))
        .where(model.site_id == site_id, model.day.between(first, last), model.opens >= FEWEST_A_DAY)
        .where(model.word.in_(_of_many_networks(site_id, first, last)))
        .where(*(or_(one.through.is_(None), model.day > one.through) for one in (own, all_)))
        .group_by(model.word)
        .having(func.count(model.day.distinct()) >= FEWEST_DAYS)
        .order_by(opens.desc(), model.word)
        .limit(most)
    )
    return list(db.session.scalars(query))


def _of_many_networks(site_id: int, first: date, last: date) -> Select[str]:
    """Return the query of the searches from which enough networks opened one and the same product."""
    model = SearchProductDay
    by_product = select(model.word).where(model.site_id == site_id, model.day.between(first, last))
    return by_product.group_by(model.word, model.product_id).having(func.sum(model.networks) >= FEWEST_NETWORKS)

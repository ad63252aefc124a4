"""Ratings of several people, and the products that they are shown."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sqlalchemy import select

from app.domain.relevance.judgements import lists, pool, ratings
from app.domain.relevance.judgements.ratings import RaterSummary
from app.domain.relevance.models import JudgementList, ProductRating
from app.domain.relevance.proposals import RuleProposal
from app.domain.search.engine import SearchContext
from app.domain.search.serving.configuration import UNDERSTANDING
from app.domain.search.serving.rules import PinnedSku, Rule
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites.models import AuditEntry, User
from app.domain.sites.settings import change_settings
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from tests.domain.relevance.judgements.rated_shop import author_of, make_list, rated_list, rater, search_id
from tests.domain.relevance.trials.preview_shop import lower_price, shop

pytestmark = pytest.mark.usefixtures("context")


def _rate(
    indexing: SearchContext, site_id: int, list_id: int, by: ratings.Rater, grades: Mapping[str, int | None]
) -> int:
    with transaction():
        return ratings.rate(author_of(indexing, site_id), by, list_id, search_id(list_id, "mug"), grades)


def _grades(site_id: int, list_id: int) -> Mapping[str, float]:
    read_afresh()
    (found,) = (one for one in ratings.rated_searches(lists.list_of(site_id, list_id)) if one.query == "mug")
    return found.grades


def _mug_list(indexing: SearchContext, site_id: int, **more: object) -> int:
    list_id = make_list(indexing, site_id, **more)
    with transaction():
        lists.add_searches(author_of(indexing, site_id), list_id, ["mug"])
    return list_id


def test_each_raters_rating_is_kept_and_their_mean_counts(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, mia, ben = _mug_list(indexing, site_id), rater(site_id), rater(site_id, "Ben Bell")
    assert _rate(indexing, site_id, list_id, mia, {"MUG-1": 3, "MUG-2": 0}) == 2
    assert _rate(indexing, site_id, list_id, ben, {"MUG-1": 2}) == 1
    assert _grades(site_id, list_id) == {"MUG-1": 2.5, "MUG-2": 0}
    assert ratings.ratings_by(ben.id, search_id(list_id, "mug")) == {"MUG-1": 2}
    assert ratings.raters_of(list_id) == [RaterSummary("Mia Moss", 2), RaterSummary("Ben Bell", 1)]
    found = ratings.agreement_on(list_id)
    assert (found.products, found.equal) == (1, 0)


def test_a_list_may_count_the_median(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = _mug_list(indexing, site_id, combination=ratings.Combination.MEDIAN)
    for number, rating in enumerate((0, 3, 3)):
        _rate(indexing, site_id, list_id, rater(site_id, f"Rater {number}"), {"MUG-1": rating})
    assert _grades(site_id, list_id) == {"MUG-1": 3}


def test_a_rating_is_changed_and_taken_back(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, mia = _mug_list(indexing, site_id), rater(site_id)
    _rate(indexing, site_id, list_id, mia, {"MUG-1": 3, "MUG-2": 1})
    assert _rate(indexing, site_id, list_id, mia, {"MUG-1": 2, "MUG-2": None, "CUP-1": None}) == 2
    assert _grades(site_id, list_id) == {"MUG-1": 2}
    assert _rate(indexing, site_id, list_id, mia, {"MUG-1": 2}) == 0
    summaries = db.session.scalars(select(AuditEntry.summary).where(AuditEntry.action == "judgements.rate")).all()
    assert summaries == ["Rated 2 products for “mug” in the judgement list “Top searches”"] * 2


def test_of_ratings_with_a_problem_none_is_stored(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, mia = _mug_list(indexing, site_id), rater(site_id)
    with pytest.raises(Invalid) as refused:
        _rate(indexing, site_id, list_id, mia, {"MUG-1": 3, "NONE": 1, "MUG-2": 4})
    assert [problem.code for problem in refused.value.problems] == ["unknown_sku", "invalid_rating"]
    assert db.session.scalars(select(ProductRating.id)).all() == []


def test_a_page_is_stored_without_the_products_that_are_gone_meanwhile(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, mia = _mug_list(indexing, site_id), rater(site_id)
    with transaction():
        author, mug = author_of(indexing, site_id), search_id(list_id, "mug")
        rated = ratings.rate_page(author, mia, list_id, mug, {"MUG-1": 3, "GONE": 1, "AWAY": None})
    assert (rated.changed, rated.gone) == (1, ("GONE",))
    assert _grades(site_id, list_id) == {"MUG-1": 3}


def test_a_product_of_another_shop_cannot_be_rated_nor_its_search(indexing: SearchContext) -> None:
    site_id, other = shop(indexing), shop(indexing, "other.test", {"X-1": "Mug"})
    list_id, mia = _mug_list(indexing, site_id), rater(site_id)
    with pytest.raises(Invalid, match="X-1"):
        _rate(indexing, site_id, list_id, mia, {"X-1": 3})
    theirs = _mug_list(indexing, other)
    with pytest.raises(NotFound), transaction():
        ratings.rate(author_of(indexing, site_id), mia, list_id, search_id(theirs, "mug"), {"MUG-1": 3})


def test_ratings_stay_when_the_rater_is_gone(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id)
    with transaction():
        db.session.delete(db.session.scalars(select(User)).one())
    assert _grades(site_id, list_id) == {"MUG-1": 3, "MUG-2": 1}
    assert db.session.scalars(select(ProductRating.rater_id).distinct()).all() == [None]


# The pool


def _pool(indexing: SearchContext, site_id: int, list_id: int, by: int) -> list[str]:
    read_afresh()
    row = db.session.get_one(JudgementList, list_id)
    search = lists.search_of(site_id, list_id, search_id(list_id, "mug"))
    return [one.product.sku for one in pool.pool_of(indexing, row, search, by).products]


MUGS = {f"MUG-{number}": f"Mug number {number}" for number in range(1, 13)} | {"CUP-1": "Travel cup"}


def test_raters_see_the_first_products_in_orders_of_their_own_that_stay(indexing: SearchContext) -> None:
    site_id = shop(indexing, names=MUGS)
    list_id = _mug_list(indexing, site_id)
    mine, theirs = (_pool(indexing, site_id, list_id, by) for by in (1, 2))
    assert len(mine) == 10 and sorted(mine) == sorted(theirs)
    assert mine != theirs
    assert mine == _pool(indexing, site_id, list_id, 1)
    searched = [one.row.query for one in lists.find_searches(site_id, list_id, 1).items]
    assert searched == ["mug"] and mine != sorted(mine)


def test_the_pool_has_what_a_candidate_would_show_too(indexing: SearchContext) -> None:
    site_id = shop(indexing, names=MUGS)
    list_id = _mug_list(indexing, site_id, pool_size=2)
    before = _pool(indexing, site_id, list_id, 1)
    with transaction():
        pinned = RuleProposal(Rule("mug", pins=(PinnedSku("CUP-1", 1),)))
        lists.choose_candidate(author_of(indexing, site_id), list_id, pinned)
    assert set(_pool(indexing, site_id, list_id, 1)) == {*before, "CUP-1"}


def test_what_a_rater_rated_stays_in_their_pool_alone(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, mia, ben = _mug_list(indexing, site_id), rater(site_id), rater(site_id, "Ben Bell")
    _rate(indexing, site_id, list_id, mia, {"JUG-1": 1})
    assert sorted(_pool(indexing, site_id, list_id, mia.id)) == ["JUG-1", "MUG-1", "MUG-2"]
    assert sorted(_pool(indexing, site_id, list_id, ben.id)) == ["MUG-1", "MUG-2"]


def test_the_pool_has_what_shoppers_find_where_words_are_understood(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    lower_price(indexing, site_id, "MUG-1")
    list_id = make_list(indexing, site_id)
    with transaction():
        lists.add_searches(author_of(indexing, site_id), list_id, ["mug under £5"])
        change_settings(site_id, {UNDERSTANDING: "on"})
    row = lists.list_of(site_id, list_id)
    search = lists.search_of(site_id, list_id, search_id(list_id, "mug under £5"))
    assert [one.product.sku for one in pool.pool_of(indexing, row, search, 1).products] == ["MUG-1"]


def test_without_an_index_the_pool_says_why_it_is_empty(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = _mug_list(indexing, site_id)
    indexing.engine.forget(site_id)
    row, search = lists.list_of(site_id, list_id), lists.search_of(site_id, list_id, search_id(list_id, "mug"))
    found = pool.pool_of(indexing, row, search, 1)
    assert not found.products and "Search does not answer" in found.problem

"""A small shop with a judgement list of two searches."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select

from app.domain.relevance.judgements import lists, ratings, runs
from app.domain.relevance.judgements.lists import ListDraft
from app.domain.relevance.judgements.ratings import Rater
from app.domain.relevance.judgements.runs import JudgementSummary
from app.domain.relevance.models import JudgedSearch
from app.domain.relevance.proposals import Proposal
from app.domain.search.engine import SearchContext
from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_user

BOTH = {"mug": {"MUG-1": 3, "MUG-2": 1}, "tea cup": {"CUP-2": 3}}


def author_of(indexing: SearchContext, site_id: int) -> Author:
    return Author(site_id, "Mia Moss", indexing.clock)


def rater(site_id: int, name: str = "Mia Moss") -> Rater:
    with transaction():
        return Rater(make_user(db.session.get_one(Site, site_id), name=name).id, name)


def make_list(indexing: SearchContext, site_id: int, name: str = "Top searches", **more: object) -> int:
    with transaction():
        return lists.create(author_of(indexing, site_id), ListDraft(name, **more)).id  # type: ignore[arg-type]


def rated_list(
    indexing: SearchContext, site_id: int, searches: Mapping[str, Mapping[str, int]] = BOTH, **more: object
) -> int:
    """The id of a list in which one person rated products of searches, by SKU."""
    list_id, mia = make_list(indexing, site_id, **more), rater(site_id)
    with transaction():
        author = author_of(indexing, site_id)
        lists.add_searches(author, list_id, list(searches))
        for query, grades in searches.items():
            ratings.rate(author, mia, list_id, search_id(list_id, query), grades)
    return list_id


def search_id(list_id: int, query: str) -> int:
    own = JudgedSearch.list_id == list_id, JudgedSearch.query == query
    return db.session.scalars(select(JudgedSearch.id).where(*own)).one()


def computed(indexing: SearchContext, site_id: int, list_id: int, proposal: Proposal | None = None) -> JudgementSummary:
    """The summary of a run that is done."""
    with transaction():
        run_id = runs.request(author_of(indexing, site_id), list_id, proposal).id
    assert runs.run_judgement(indexing, run_id)
    read_afresh()
    return runs.run_of(indexing.clock, site_id, list_id, run_id)

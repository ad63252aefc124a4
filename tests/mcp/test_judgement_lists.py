"""The tool of judgement lists."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.relevance.judgements import runs
from app.domain.relevance.models import JudgementRun, ProductRating
from app.domain.search.engine import SearchContext
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_judged_search, make_judgement_list, make_site
from tests.mcp.agent import Agent
from tests.mcp.indexed import add_tents

TOOL = "judgementLists"
pytestmark = pytest.mark.usefixtures("mug")


@pytest.fixture
def ids(app: Flask, site_id: int) -> dict[str, Any]:
    with app.app_context(), transaction():
        made = make_judgement_list(db.session.get_one(Site, site_id), name="Top searches", largest_drop=20)
        return {"listId": str(made.id), "searchId": str(make_judged_search(made, "mug", {"MUG-01": 3}).id)}


def _stored(app: Flask) -> list[tuple[str, int]]:
    with app.app_context():
        query = select(ProductRating.rater, ProductRating.rating).order_by(ProductRating.id)
        return [(rater, rating) for rater, rating in db.session.execute(query)]


def test_lists_and_their_searches_are_read(agent: Agent, ids: dict[str, Any]) -> None:
    (found,) = agent.call(TOOL, action="lists").body["lists"]
    assert (found["name"], found["searches"], found["ratings"], found["largestDrop"]) == ("Top searches", 1, 1, 0.02)
    body = agent.call(TOOL, action="searches", listId=ids["listId"], words="MUG").body
    assert [(one["query"], one["ratedProducts"], one["ndcg"]) for one in body["searches"]] == [("mug", 1, None)]


def test_an_agents_ratings_stand_beside_those_of_others(app: Flask, agent: Agent, ids: dict[str, Any]) -> None:
    sent = [{"sku": "MUG-01", "rating": 2}]
    tried = agent.call(TOOL, action="rate", **ids, ratings=sent, dryRun=True).body
    assert (tried["grades"], tried["changed"]) == ([{"sku": "MUG-01", "own": 2, "together": 2.5}], True)
    assert _stored(app) == [("", 3)]
    agent.call(TOOL, action="rate", **ids, ratings=sent)
    assert [rating for _, rating in _stored(app)] == [3, 2]
    assert agent.call(TOOL, action="ratings", **ids).body["grades"] == tried["grades"]
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "judgements.rate")).one()
        assert entry.origin == "MCP"
    agent.call(TOOL, action="rate", **ids, ratings=[{"sku": "MUG-01", "rating": None}])
    assert _stored(app) == [("", 3)]


def test_ratings_with_a_problem_are_refused_as_a_whole(app: Flask, agent: Agent, ids: dict[str, Any]) -> None:
    unknown = [{"sku": "MUG-01", "rating": 1}, {"sku": "NONE", "rating": 1}]
    assert agent.call(TOOL, action="rate", **ids, ratings=unknown).codes == ["unknown_sku"]
    twice = [{"sku": "MUG-01", "rating": 1}] * 2
    assert agent.call(TOOL, action="rate", **ids, ratings=twice).codes == ["duplicate"]
    assert agent.call(TOOL, action="rate", **ids, ratings=[{"sku": "MUG-01", "rating": 4}]).is_error
    assert _stored(app) == [("", 3)]


def test_figures_are_computed_and_read(
    app: Flask, agent: Agent, ids: dict[str, Any], site_id: int, indexing: SearchContext
) -> None:
    add_tents(app, site_id)
    named = {"listId": ids["listId"]}
    assert agent.call(TOOL, action="figures", **named).body["figures"] == []
    assert agent.call(TOOL, action="compute", **named).body["state"] == "waiting"
    with app.app_context():
        runs.run_judgement(indexing, db.session.scalars(select(JudgementRun.id)).one())
    body = agent.call(TOOL, action="figures", **named).body
    assert (body["state"], len(body["figures"]), body["isCurrent"]) == ("done", 1, True)


def test_a_dry_run_of_a_rule_says_what_it_does_to_the_list(app: Flask, agent: Agent, site_id: int) -> None:
    add_tents(app, site_id)
    with app.app_context(), transaction():
        made = make_judgement_list(db.session.get_one(Site, site_id), name="Top", in_previews=True)
        make_judged_search(made, "tent", {"U-1": 3})
    pinned = {"term": "tent", "products": ["U-1"], "position": 1, "dryRun": True}
    preview = agent.call("manageProductRanking", action="pin", **pinned).body["preview"]
    assert preview["judgement"] == (
        "NDCG@10 of “Top”: 0.000 to 1.000, 1 better, 0 worse, 0 unchanged, not significant."
    )


def test_a_list_of_another_site_is_not_found(app: Flask, agent: Agent) -> None:
    with app.app_context(), transaction():
        theirs = make_judgement_list(make_site("other.localhost"))
        named = {"listId": str(theirs.id)}
    for action in ("figures", "searches", "compute"):
        assert agent.call(TOOL, action=action, **named).codes == ["not_found"]

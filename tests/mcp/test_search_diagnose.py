"""The tool that tests a search answers what the page answers."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.relevance.models import SearchRule, Synonym
from app.domain.search_statistics.models import SearchWordDay
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_synonym, make_user
from tests.mcp.agent import Agent
from tests.mcp.indexed import add_tents
from tests.page_client import PageClient

TOOL = "searchDiagnose"


@pytest.fixture(autouse=True)
def category_id(app: Flask, site_id: int) -> int:
    return add_tents(app, site_id)


def page_json(app: Flask, site_id: int, **request: str) -> dict[str, Any]:
    with app.app_context(), transaction():
        make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    pages = PageClient(app).signed_in("mia@shop.test")
    answer = pages.client.get(
        "/admin/search/test", query_string=request, base_url=pages.base, headers={"Accept": "application/json"}
    )
    found: dict[str, Any] = answer.json
    return found


def test_the_answer_is_the_pages_but_for_links(app: Flask, agent: Agent, site_id: int) -> None:
    agent.call("manageProductRanking", action="pin", term="red tent", products=["T-4"])
    agent.call("manageSynonyms", action="add", type="EQUIVALENT", synonyms=["tent", "umbrella"])
    result = agent.call(TOOL, query="red tent", product="U-1")
    page = page_json(app, site_id, q="red tent", product="U-1")
    assert not result.is_error
    assert result.body["currency"] == "gbp"
    assert {name: result.body[name] for name in page if name != "advice"} == {
        name: value for name, value in page.items() if name != "advice"
    }
    assert [(one["code"], one["message"]) for one in result.body["advice"]] == [
        (one["code"], one["message"]) for one in page["advice"]
    ]
    assert result.body["rule"]["pins"] == [{"sku": "T-4", "position": 1}]
    assert result.body["synonymsApplied"][0]["finds"] == ["umbrella"]


def test_what_is_understood_of_a_search_is_part_of_the_answer(app: Flask, agent: Agent, site_id: int) -> None:
    result = agent.call(TOOL, query="tents under £40")
    understood = result.body["understanding"]
    assert [(one["words"], one["from"], one["to"]) for one in understood["filters"]] == [("under £40", None, 4000)]
    assert understood == page_json(app, site_id, q="tents under £40")["understanding"]


@pytest.mark.parametrize("sent", [{}, {"query": " "}])
def test_a_search_without_words_or_product_is_refused(agent: Agent, sent: dict[str, str]) -> None:
    result = agent.call(TOOL, **sent)
    assert [(one["code"], one["pointer"]) for one in result.body["errors"]] == [("required", "#/query")]


def test_a_product_that_is_missing_is_explained_with_the_call_that_helps(agent: Agent) -> None:
    result = agent.call(TOOL, query="parasol", product="u-1").body
    assert (result["product"]["sku"], result["product"]["rank"], result["product"]["missingWords"]) == (
        "U-1",
        None,
        ["parasol"],
    )
    calls = {one["code"]: one["call"] for one in result["advice"]}
    assert calls["missing_words"] == {
        "tool": "manageProductSearchTerms",
        "arguments": {"action": "add", "product": "U-1", "terms": ["parasol"]},
    }
    assert calls["write_words"] is None, "people write descriptions"


def test_the_advised_calls_can_be_made_as_they_are(app: Flask, agent: Agent, site_id: int) -> None:
    with app.app_context(), transaction():
        make_synonym(db.session.get_one(Site, site_id), "parasol", "umbrella", status="SUGGESTED")
    (advised,) = [one for one in agent.call(TOOL, query="parasol").body["advice"] if one["code"] == "synonym_suggested"]
    accepted = agent.call(advised["call"]["tool"], **advised["call"]["arguments"])
    assert accepted.body["synonyms"][0]["status"] == "LIVE"
    assert agent.call(TOOL, query="parasol").body["found"] == 1


def test_a_product_that_is_hidden_or_unknown_is_said_to_be(app: Flask, agent: Agent, site_id: int) -> None:
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, site_id), "S-1", enabled=False)
    hidden = agent.call(TOOL, product="S-1").body
    assert (hidden["product"]["enabled"], hidden["advice"][0]["code"]) == (False, "hidden")
    unknown = agent.call(TOOL, query="tent", product="NONE").body
    assert (unknown["product"]["inCatalogue"], unknown["advice"][0]["code"]) == (False, "not_in_catalogue")


def test_a_moment_decides_which_rules_apply(agent: Agent) -> None:
    sent = {"term": "tent", "products": ["T-4"], "startsAt": "2027-01-01T00:00:00Z"}
    agent.call("manageProductRanking", action="pin", **sent)
    assert agent.call(TOOL, query="tent").body["rule"] is None
    for at in ("2027-06-01T00:00:00Z", "2027-06-01T00:00"):
        assert agent.call(TOOL, query="tent", at=at).body["rule"]["term"] == "tent"
    assert agent.call(TOOL, query="tent", at="soon").pointers == ["#/at"]


def test_nothing_is_counted_and_nothing_written(app: Flask, agent: Agent) -> None:
    agent.call(TOOL, query="tent")
    with app.app_context():
        for model in (SearchWordDay, AuditEntry, SearchRule, Synonym):
            assert db.session.scalars(select(model)).all() == []

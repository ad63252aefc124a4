"""The tool of the ranking settings, and of what was learned from clicks."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.relevance.learning import learn_site
from app.domain.search.ranking_settings import ranking_of
from app.domain.search_statistics.models import RankingComparisonDay
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings, settings_of
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from tests.counted_searches import count, count_opens
from tests.factories import make_comparison, make_site
from tests.mcp.agent import Agent
from tests.mcp.indexed import add_tents

TOOL = "searchRanking"
NEUTRAL = {"soldOut": "as-is", "sales": "none", "newness": "none", "stock": "none"}


def stored(app: Flask, site_id: int) -> dict[str, str]:
    with app.app_context():
        return ranking_of(settings_of(site_id)).as_json()


def test_the_settings_are_read(agent: Agent) -> None:
    body = agent.call(TOOL, action="settings").body
    assert (body["ranking"], body["learning"]["mode"], body["searches"]) == (NEUTRAL, "off", [])


def test_some_settings_are_changed_with_an_entry_that_takes_it_back(app: Flask, site_id: int, agent: Agent) -> None:
    wanted = NEUTRAL | {"soldOut": "last", "sales": "high"}
    body = agent.call(TOOL, action="set", soldOut="last", sales="high").body
    assert (body["ranking"], body["changed"], body["preview"]) == (wanted, True, None)
    assert body["undo"].startswith("/admin/search/activity/") and stored(app, site_id) == wanted
    again = agent.call(TOOL, action="set", sales="high").body
    assert (again["ranking"], again["changed"], again["undo"]) == (wanted, False, None)
    with app.app_context():
        [entry] = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "settings.search"))
        assert entry.summary == "Changed sold-out products and the weight of sales"


def test_a_dry_run_previews_the_frequent_searches_and_changes_nothing(app: Flask, site_id: int, agent: Agent) -> None:
    add_tents(app, site_id)
    with app.app_context(), transaction():
        sold_out = db.session.scalars(select(Product).where(Product.sku == "T-1")).one()
        sold_out.stock = 0
        today = clock().now().date()
        count(site_id, today, today, "tent", searches=4)
    before = stored(app, site_id)
    body = agent.call(TOOL, action="set", stock="high", dryRun=True).body
    assert (body["ranking"], body["changed"], body["undo"]) == (NEUTRAL | {"stock": "high"}, True, None)
    assert [one["query"] for one in body["preview"]["searches"]] == ["tent"]
    assert stored(app, site_id) == before


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({"sales": "1e308", "stock": ""}, ["#/sales", "#/stock"]),
        ({"soldOut": -1, "newness": "HIGH"}, ["#/soldOut", "#/newness"]),
        ({}, ["#"]),
        ({"sales": None}, ["#"]),
        ({"sales": "high", "words": "tent"}, ["#/words"]),
    ],
)
def test_what_is_no_setting_is_named_and_nothing_is_written(
    app: Flask, site_id: int, agent: Agent, sent: dict[str, object], pointers: list[str]
) -> None:
    refused = agent.call(TOOL, action="set", **sent)
    assert refused.is_error and sorted(refused.pointers) == sorted(pointers)
    assert stored(app, site_id) == NEUTRAL


def test_what_was_learned_is_read_with_its_evidence(app: Flask, site_id: int, agent: Agent) -> None:
    add_tents(app, site_id)
    with app.app_context():
        with transaction():
            tent = db.session.scalars(select(Product).where(Product.sku == "T-2")).one()
            change_settings(site_id, {"search-learning": "shadow"})
            count_opens(site_id, clock().now().date(), "tent", tent.id, opens=20, bought=7)
        with transaction():
            learn_site(clock(), site_id)
    body = agent.call(TOOL, action="learned", words="TEN").body
    [search] = body["searches"]
    [product] = search["products"]
    assert (search["query"], product["sku"], product["opens"], product["bought"]) == ("tent", "T-2", 60, 21)
    assert 1 < product["factor"] <= 1.5 and body["learning"]["mode"] == "shadow"
    assert body["paging"]["totalItems"] == 1
    assert agent.call(TOOL, action="learned", words="stove").body["searches"] == []


def test_comparisons_are_read_the_running_one_first(app: Flask, site_id: int, agent: Agent) -> None:
    assert agent.call(TOOL, action="comparisons").body["comparisons"] == []
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        ended = make_comparison(site, ended_at=clock().now(), ending="enough")
        day = clock().now().date()
        counts = {"present": 372, "candidate": 429, "ties": 9}
        db.session.add(RankingComparisonDay(comparison_id=ended.id, site_id=site_id, day=day, **counts))
        make_comparison(site, share=25, last_day=day)
        make_comparison(make_site("elsewhere.test"))
    running, over = agent.call(TOOL, action="comparisons").body["comparisons"]
    assert (running["share"], running["verdict"], running["endedAt"]) == (25, None, None)
    assert (over["verdict"], over["wins"], over["ending"]) == ("better", counts, "enough")
    assert 0.5 < over["interval"]["low"] < over["interval"]["high"] < 0.6

"""Comparisons of rankings: started, watched, stopped and ended, as pages and as JSON."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.relevance import publishing
from app.domain.relevance.models import SearchRule
from app.domain.relevance.ranking_comparisons import end_comparison_if_due
from app.domain.search.engine import SearchContext
from app.domain.search.serving import configuration
from app.domain.search_statistics.models import RankingComparison, RankingComparisonDay, SearchDay
from app.domain.search_statistics.verdicts import Ending
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.scheduled import run_scheduled
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.blueprints.storefront.shopper import Shopper
from tests.domain.relevance.trials.preview_shop import shop
from tests.factories import make_comparison, make_rule, make_site, make_user
from tests.page_client import PageClient, Reading

PATH = "/admin/search/comparisons"
NEWEST = {"kind": "ranking", "soldOut": "as-is", "sales": "none", "newness": "high", "stock": "none"}
TERMS = {"kind": "terms", "productId": 1, "terms": ["a"]}
FORM = NEWEST | {"share": "50", "days": "30"}


@pytest.fixture
def someone(app: Flask, indexing: SearchContext) -> Merchandiser:
    with app.app_context():
        site_id = shop(indexing, "localhost")
        with transaction():
            make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    indexing.clock.move(seconds=2)  # type: ignore[attr-defined]
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def stored(app: Flask) -> list[RankingComparison]:
    with app.app_context():
        return list(db.session.scalars(select(RankingComparison).order_by(RankingComparison.id)))


def count_clicks(app: Flask, someone: Merchandiser, indexing: SearchContext, **wins: int) -> None:
    with app.app_context(), transaction():
        (row,) = db.session.scalars(select(RankingComparison).where(RankingComparison.ended_at.is_(None)))
        day = indexing.clock.now().date()
        db.session.add(RankingComparisonDay(comparison_id=row.id, site_id=someone.site_id, day=day, **wins))


def end_those_that_are_due(app: Flask) -> None:
    with app.app_context():
        run_scheduled("end-comparisons")


def send(someone: Merchandiser, path: str, body: dict[str, Any]) -> Any:
    headers = {"X-CSRFToken": someone.pages.token, "Accept": "application/json"}
    return someone.pages.client.post(path, json=body, base_url=someone.pages.base, headers=headers)


def read(someone: Merchandiser) -> Any:
    return someone.pages.client.get(PATH, base_url=someone.pages.base, headers={"Accept": "application/json"}).json


def text_of(page: Reading) -> str:
    return " ".join(page.texts.values())


def actions(app: Flask) -> list[str]:
    with app.app_context():
        entries = db.session.scalars(select(AuditEntry).order_by(AuditEntry.id))
        return [f"{entry.actor}: {entry.summary}" for entry in entries if entry.action.startswith("comparison")]


def test_an_empty_page_says_what_a_comparison_takes(app: Flask, someone: Merchandiser, indexing: SearchContext) -> None:
    page = someone.get(PATH)
    assert "Nothing compared yet" in text_of(page)
    assert "No clicks were counted" in text_of(page)
    with app.app_context(), transaction():
        yesterday = indexing.clock.now().date() - timedelta(days=1)
        db.session.add(SearchDay(site_id=someone.site_id, day=yesterday, searches=4000, clicked=28 * 40))
    page = someone.get(PATH)
    assert page.texts["dt"] == "10% of visits 25% of visits 50% of visits 100% of visits"
    assert page.texts["dd"] == "201 days at least 81 days at least 41 days at least 21 days at least"


def test_a_comparison_is_started_shown_and_stopped(app: Flask, someone: Merchandiser, indexing: SearchContext) -> None:
    someone.get(PATH)
    someone.post(PATH, FORM)
    (row,) = stored(app)
    assert (row.share, row.proposal, row.ended_at) == (50, NEWEST, None)
    assert row.last_day == indexing.clock.now().date() + timedelta(days=29)
    count_clicks(app, someone, indexing, present=40, candidate=60, ties=7)
    page = someone.get(PATH)
    assert "With sold-out products as they are; newness high" in page.texts["dd"]
    assert "40 present, 60 candidate" in page.texts["dd"] and "60% for the candidate" in page.texts["dd"]
    someone.post(f"{PATH}/{row.id}/stop", {})
    (row,) = stored(app)
    assert row.ending == "stopped" and row.ended_at == indexing.clock.now()
    assert "No verdict" in someone.fragment(PATH).text
    candidate = "With sold-out products as they are; newness high"
    assert [entry.partition(": ")[2] for entry in actions(app)] == [
        f"Started a comparison of rankings in 50% of visits: {candidate}",
        f"Stopped a comparison of rankings: {candidate}",
    ]


def test_one_comparison_runs_at_a_time(app: Flask, someone: Merchandiser) -> None:
    someone.get(PATH)
    someone.post(PATH, FORM)
    page = someone.post(PATH, FORM, 409)
    assert "one at a time" in text_of(page)
    assert len(stored(app)) == 1


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ({"newness": "none"}, "served this already"),
        ({"soldOut": "hidden"}, "in both or in neither"),
        ({"share": "33"}, "The share of visits is 10, 25, 50 or 100 percent."),
        ({"days": "400"}, "7 to 180 days"),
        ({"days": "soon"}, "7 to 180 days"),
        ({"kind": "learning"}, "Nothing is learned"),
        ({"kind": "meaning"}, "no meanings of products"),
        ({"kind": "rule", "term": "kettle"}, "Type the search of a rule"),
        ({"kind": "rule", "term": "kettle", "match": "nearly"}, "Type the search of a rule"),
        ({"kind": "nothing"}, "Type the search of a rule"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(
    app: Flask, someone: Merchandiser, sent: dict[str, str], reason: str
) -> None:
    someone.get(PATH)
    page = someone.post(PATH, FORM | sent, 400)
    assert reason in text_of(page)
    assert stored(app) == [] and actions(app) == []


def test_nothing_is_compared_while_clicks_are_not_recorded(app: Flask, someone: Merchandiser) -> None:
    with app.app_context(), transaction():
        change_settings(someone.site_id, {"search-click-tracking-enabled": False})
    page = someone.get(PATH)
    assert "Clicks are not recorded" in text_of(page)
    someone.post(PATH, FORM, 400)
    assert stored(app) == []


def test_a_paused_rule_is_compared_as_if_it_applied(app: Flask, someone: Merchandiser, indexing: SearchContext) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, someone.site_id)
        make_rule(site, "mug", redirect_url=None, boosts=["MUG-2"], enabled=False, words_version=1, note="for Mia")
        make_rule(site, "cup", enabled=False)
    with app.app_context(), transaction():
        publishing.publish(indexing.clock, someone.site_id)
    someone.get(PATH)
    someone.post(PATH, FORM | {"kind": "rule", "term": "cup"}, 400)
    someone.post(PATH, FORM | {"kind": "rule", "term": "Mug"})
    (row,) = stored(app)
    assert (row.proposal["enabled"], row.proposal["boosts"], row.proposal["note"]) == (True, ["MUG-2"], "")


@pytest.mark.parametrize("match", ["startsWith", "contains"])
def test_a_rule_by_condition_is_chosen_by_its_search_and_by_what_searches_it_is_for(
    app: Flask, someone: Merchandiser, indexing: SearchContext, match: str
) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, someone.site_id)
        rule = {"redirect_url": None, "enabled": False, "words_version": 1}
        make_rule(site, "mug", boosts=["MUG-1"], **rule)
        rule_id = make_rule(site, "mug", boosts=["MUG-2"], match=match, **rule).id
    with app.app_context(), transaction():
        publishing.publish(indexing.clock, someone.site_id)
    someone.get(PATH)
    refused = someone.post(PATH, FORM | {"kind": "rule", "term": "mug", "match": match, "days": "1"}, 400)
    assert {"value": match, "selected": ""} in refused.all("option"), "what was chosen is kept"
    someone.post(PATH, FORM | {"kind": "rule", "term": "mug", "match": match})
    (row,) = stored(app)
    assert (row.proposal["id"], row.proposal["match"], row.proposal["boosts"]) == (rule_id, match, ["MUG-2"])


@pytest.mark.parametrize(
    ("wins", "ending", "verdict"),
    [
        ({"present": 372, "candidate": 429}, "enough", "better"),
        ({"present": 429, "candidate": 372}, "enough", "worse"),
        ({"present": 400, "candidate": 401}, "enough", "undecided"),
        ({"present": 60, "candidate": 140}, "early", "better"),
        ({"present": 90, "candidate": 110}, None, None),
    ],
)
def test_a_comparison_ends_by_itself_with_its_verdict(
    app: Flask,
    someone: Merchandiser,
    indexing: SearchContext,
    wins: dict[str, int],
    ending: str | None,
    verdict: str | None,
) -> None:
    someone.get(PATH)
    someone.post(PATH, FORM)
    count_clicks(app, someone, indexing, **wins)
    end_those_that_are_due(app)
    body = read(someone)
    report = body["running"] or body["ended"][0]
    assert (report["ending"], report["verdict"]) == (ending, verdict)
    assert report["wins"] == {"ties": 0, **wins}
    assert len(actions(app)) == (2 if ending else 1)


def test_a_comparison_ends_after_its_last_day(app: Flask, someone: Merchandiser, indexing: SearchContext) -> None:
    someone.get(PATH)
    someone.post(PATH, FORM | {"days": "7"})
    endings = []
    for _ in range(7):
        indexing.clock.move(days=1)  # type: ignore[attr-defined]
        with app.app_context(), transaction():
            endings.append(end_comparison_if_due(indexing.clock, someone.site_id))
    assert endings == [None] * 6 + [Ending.PERIOD]


def test_no_comparison_ends_while_the_clock_is_in_doubt(
    app: Flask, someone: Merchandiser, indexing: SearchContext
) -> None:
    someone.get(PATH)
    someone.post(PATH, FORM | {"days": "7"})
    end_those_that_are_due(app)
    indexing.clock.move(days=100)  # type: ignore[attr-defined]
    end_those_that_are_due(app)
    assert stored(app)[0].ending is None


def test_a_comparison_ends_once_what_it_compares_is_changed(app: Flask, someone: Merchandiser) -> None:
    someone.get(PATH)
    someone.post(PATH, FORM)
    with app.app_context(), transaction():
        change_settings(someone.site_id, {"search-default-filters": []})
    end_those_that_are_due(app)
    assert stored(app)[0].ending is None, "the filters are no part of it"
    with app.app_context(), transaction():
        change_settings(someone.site_id, {"search-weight-newness": "high"})
    end_those_that_are_due(app)
    assert stored(app)[0].ending == "changed"


def test_json_starts_and_stops_a_comparison(app: Flask, someone: Merchandiser) -> None:
    someone.get(PATH)
    started = send(someone, PATH, {"candidate": NEWEST, "share": 100, "days": 60})
    assert started.status_code == 201
    body = started.json
    assert (body["candidate"], body["share"], body["verdict"], body["daysLeft"]) == (NEWEST, 100, None, None)
    assert read(someone) == {"running": body, "ended": []}
    again = send(someone, PATH, {"candidate": NEWEST, "share": 100, "days": 60})
    assert (again.status_code, again.json["code"]) == (409, "conflict")
    stopped = send(someone, f"{PATH}/{body['id']}/stop", {})
    assert stopped.json["ending"] == "stopped" and read(someone)["running"] is None
    assert send(someone, f"{PATH}/{body['id']}/stop", {}).status_code == 409


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["#/candidate", "#/share", "#/days"]),
        ({"candidate": NEWEST, "share": "all", "days": 60}, ["#/share"]),
        ({"candidate": {"kind": "nothing"}, "share": 50, "days": 60}, ["#/kind"]),
        ({"candidate": [], "share": 50, "days": 60}, ["#/kind"]),
        (
            {"candidate": {"kind": "terms", "productId": 1, "terms": ["a"]}, "share": 50, "days": 60},
            ["#/candidate/kind"],
        ),
        ({"candidate": NEWEST | {"newness": "none"}, "share": 5, "days": 6}, ["#/candidate", "#/share", "#/days"]),
    ],
)
def test_json_is_refused_with_every_problem(
    app: Flask, someone: Merchandiser, body: dict[str, Any], pointers: list[str]
) -> None:
    someone.get(PATH)
    answer = send(someone, PATH, body)
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json["errors"]] == pointers
    assert stored(app) == []


@pytest.mark.parametrize(
    ("candidate", "pointer"),
    [
        ({"boosts": ["GONE"]}, "#/candidate/boosts/0"),
        ({"boostGroups": [{"levels": ["gone"]}]}, "#/candidate/boostGroups/0/levels/0"),
        ({"boostGroups": [{"newDays": 999_999}]}, "#/boostGroups/0/newDays"),
    ],
)
def test_a_rule_that_could_not_be_saved_is_no_candidate(
    app: Flask, someone: Merchandiser, candidate: dict[str, Any], pointer: str
) -> None:
    someone.get(PATH)
    body = {"candidate": {"kind": "rule", "term": "mug", **candidate}, "share": 100, "days": 30}
    answer = send(someone, PATH, body)
    assert answer.status_code == 400
    assert [problem["pointer"] for problem in answer.json["errors"]] == [pointer]
    assert stored(app) == []


def test_a_candidate_that_was_stored_unchecked_fails_neither_searches_nor_the_page(
    app: Flask, someone: Merchandiser, indexing: SearchContext
) -> None:
    proposal = {"kind": "rule", "term": "mug", "boostGroups": [{"newDays": 999_999, "priceFrom": -1}]}
    day = indexing.clock.now().date()
    with app.app_context(), transaction():
        site = db.session.get_one(Site, someone.site_id)
        make_comparison(site, proposal=proposal, baseline={}, last_day=day)
    assert Shopper(app, "localhost").get("/search?q=mug").status_code == 200
    assert "With the rule for “mug”" in text_of(someone.get(PATH))


def test_the_comparison_of_another_site_is_neither_shown_nor_stopped(app: Flask, someone: Merchandiser) -> None:
    with app.app_context(), transaction():
        other = make_comparison(make_site("other.test")).id
    someone.get(PATH)
    assert read(someone) == {"running": None, "ended": []}
    assert send(someone, f"{PATH}/{other}/stop", {}).status_code == 404
    assert stored(app)[0].ended_at is None


def test_a_rule_that_applies_is_compared_with_its_absence(
    app: Flask, someone: Merchandiser, indexing: SearchContext
) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, someone.site_id)
        rule_id = make_rule(site, "mug", redirect_url=None, boosts=["MUG-2"], words_version=1).id
        configuration.raise_version(someone.site_id)
    with app.app_context(), transaction():
        publishing.publish(indexing.clock, someone.site_id)
    someone.get(PATH)
    started = send(
        someone, PATH, {"candidate": {"kind": "rule", "remove": True, "id": rule_id}, "share": 25, "days": 7}
    )
    assert started.status_code == 201 and started.json["summary"] == "Without the rule for “mug”"
    with app.app_context(), transaction():
        db.session.get_one(SearchRule, rule_id).boosts = ["MUG-1"]
        configuration.raise_version(someone.site_id)
    with app.app_context(), transaction():
        publishing.publish(indexing.clock, someone.site_id)
    end_those_that_are_due(app)
    assert stored(app)[0].ending == "changed", "the rule is another one now"


def test_a_rule_that_is_gone_cannot_be_left_out(someone: Merchandiser) -> None:
    someone.get(PATH)
    answer = send(someone, PATH, {"candidate": {"kind": "rule", "remove": True, "id": 99}, "share": 25, "days": 7})
    assert answer.status_code == 400 and answer.json["errors"][0]["code"] == "unknown_rule"

"""Synonyms and search rules in bundles."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from app.domain.relevance.models import GoldenSearch, JudgedSearch, JudgementList, ProductRating, SearchRule, Synonym
from app.domain.search.serving import configuration
from app.domain.sites import sites
from app.extensions import db
from app.transaction import transaction
from tests.domain.bundles.conftest import HOST, SITE, Take, product, refusals, write_bundle
from tests.domain.bundles.test_round_trip import assert_comes_back
from tests.factories import WHEN
from tests.fakes.clock import StoppedClock

PHONES = {"type": "ONE_WAY", "root": "phone", "synonyms": ["mobile", "cell phone"]}
CUPS = {"type": "EQUIVALENT", "synonyms": ["mug", "cup"]}
WAITING = {"type": "EQUIVALENT", "synonyms": ["couch", "sofa"], "status": "SUGGESTED", "source": "MINED"}
REJECTED = {"type": "EQUIVALENT", "synonyms": ["tea", "coffee"], "status": "REJECTED", "source": "AI"}
COAT = {
    "term": "rain coat",
    "pins": [{"sku": "T-1", "position": 2}],
    "boosts": ["T-2"],
    "buries": [],
    "redirectUrl": None,
    "banner": {"text": "Dry feet", "linkUrl": "/c/boots"},
    "enabled": True,
    "startsAt": "2026-11-01T00:00:00Z",
    "endsAt": None,
    "note": "Autumn",
}
WHOLE = {
    "site": SITE,
    "products": [product("T-1"), product("T-2")],
    "synonyms": [PHONES, CUPS, WAITING | {"evidence": {"products": 12}}, REJECTED],
    "rules": [COAT, {"term": "returns", "redirectUrl": "/pages/returns"}],
    "goldens": [{"query": "rain coat", "sku": "T-1", "within": 3}, {"query": "tent", "sku": "T-2"}],
    "judgements": [
        {
            "name": "Top",
            "largestDrop": 20,
            "searches": [{"query": "rain coat", "ratings": {"T-1": [3, 2], "T-2": [0]}}, {"query": "x", "ratings": {}}],
        }
    ],
}


def counts(report, kind: str) -> dict[str, int]:
    return {name: number for name, number in report.counts[kind].as_json().items() if number}


def test_synonyms_and_rules_come_in_and_are_served(take: Take, clock: StoppedClock):
    report = take(**WHOLE)
    assert (counts(report, "synonyms"), counts(report, "rules")) == ({"added": 4}, {"added": 2})
    assert report.refusals == []
    served = configuration.served(sites.site_at(HOST).id)
    assert served.rules.find("RAIN COAT", clock.now()).pins[0].sku == "T-1"
    assert [group.words for group in served.synonyms.groups] == [("mobile", "cell phone"), ("mug", "cup")]


def test_a_mode_of_learning_that_a_bundle_brings_is_served(take: Take):
    for mode in ("on", "shadow"):
        take(site=SITE | {"settings": {"search-learning": mode}})
        assert configuration.served(sites.site_at(HOST).id).learned.mode == mode
    version = configuration.serving_state(sites.site_at(HOST).id).saved_version
    take(site=SITE | {"settings": {"search-learning": "shadow", "listing-page-size": 12}})
    assert configuration.serving_state(sites.site_at(HOST).id).saved_version == version


def test_the_same_a_second_time_changes_nothing(take: Take):
    take(**WHOLE)
    version = configuration.serving_state(sites.site_at(HOST).id).saved_version
    again = take(**WHOLE)
    assert again.changes == 0
    assert (counts(again, "synonyms"), counts(again, "rules")) == ({"unchanged": 4}, {"unchanged": 2})
    assert counts(again, "golden searches") == {"unchanged": 2}
    assert configuration.serving_state(sites.site_at(HOST).id).saved_version == version


@pytest.mark.parametrize("ending", ["", ".zip"])
def test_they_come_back_from_an_export(take: Take, tmp_path: Path, ending: str):
    take(write_bundle(tmp_path / "first", **WHOLE), host=None)
    assert_comes_back(take, tmp_path, HOST, ending)


def test_what_differs_is_changed_and_what_a_rule_does_not_say_stays(take: Take):
    take(**WHOLE)
    report = take(
        synonyms=[PHONES | {"synonyms": ["mobile"]}], rules=[{"term": "RAIN  coat", "boosts": [], "enabled": False}]
    )
    assert (counts(report, "synonyms"), counts(report, "rules")) == ({"changed": 1}, {"changed": 1})
    rule = db.session.scalar(select(SearchRule).where(SearchRule.normalized_term == "rain coat"))
    assert (rule.boosts, rule.enabled, rule.banner_text, rule.note) == ([], False, "Dry feet", "Autumn")
    assert db.session.scalar(select(Synonym.words).where(Synonym.root == "phone")) == ["mobile"]


def test_a_dry_run_says_the_same_and_writes_nothing(take: Take):
    report = take(**WHOLE, dry_run=True)
    assert (counts(report, "synonyms"), counts(report, "rules")) == ({"added": 4}, {"added": 2})
    assert report.refusals == []
    assert db.session.scalars(select(SearchRule)).all() == db.session.scalars(select(Synonym)).all() == []


TREE = {"name": "Shop", "primary": True, "nodes": [{"name": "Camping", "slug": "camping"}]}
IN_CAMPING = {"term": "week", "match": "any", "banner": {"text": "Camping week"}}


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_rule_names_a_category_that_the_bundle_brings(take: Take, dry_run: bool):
    wanted = [IN_CAMPING | {"categories": ["camping"]}, IN_CAMPING | {"term": "x", "categories": ["boats"]}]
    report = take(site=SITE, merchandising={"trees": [TREE]}, rules=wanted, dry_run=dry_run)
    assert counts(report, "rules") == {"added": 1, "refused": 1}
    assert refusals(report)[0][::2] == ("rules.json", "1/categories/0")


def test_rules_for_categories_and_numbers_come_back_from_an_export(take: Take, tmp_path: Path):
    weight = {"attributeId": "weight", "name": "Weight", "type": "NUMBER"}
    levels = [{"levelId": "tents", "name": "Tents", "attributes": [weight]}]
    taxonomy = {"taxonomies": [{"id": "kinds", "name": "Kinds", "active": True, "rootLevels": levels}]}
    light = {"boostGroups": [{"attributes": [{"id": "weight", "to": 2.5}]}]}
    whole = {"rules": [IN_CAMPING | light | {"categories": ["camping"]}], "taxonomy": taxonomy}
    report = take(write_bundle(tmp_path / "first", site=SITE, merchandising={"trees": [TREE]}, **whole), host=None)
    assert counts(report, "rules") == {"added": 1}
    assert_comes_back(take, tmp_path, HOST, "")


def test_bad_records_are_refused_with_line_field_and_reason_and_the_rest_comes_in(take: Take):
    report = take(
        products=[product("T-1")],
        synonyms=[CUPS, {"type": "BOTH", "synonyms": ["a", "b"]}, CUPS | {"synonyms": ["cup", "beaker"]}, {"type": 3}],
        rules=[
            {"term": "coat", "boosts": ["NO-7"]},
            {"term": "boots", "redirectUrl": "https://evil.example/"},
            {"term": "hat", "buries": ["T-1"]},
            {"term": "HAT", "buries": ["T-1"]},
            {"term": "scarf", "colour": "red"},
            "nonsense",
            {"term": "glove", "match": ["exact"]},
        ],
    )
    assert (counts(report, "synonyms"), counts(report, "rules")) == (
        {"added": 1, "refused": 3},
        {"added": 1, "refused": 6},
    )
    found = refusals(report)
    assert [(file, field) for file, _, field in found if file == "synonyms.json"] == [
        ("synonyms.json", "1/type"),
        ("synonyms.json", "3/type"),
        ("synonyms.json", "3/synonyms"),
        ("synonyms.json", "2"),
    ]
    assert [(line, field) for file, line, field in found if file == "rules.json"] == [
        (5, "0/boosts/0"),
        (10, "1/redirectUrl"),
        (19, "3/term"),
        (26, "4/colour"),
        (28, "5"),
        (31, "6/match"),
    ]
    assert any("NO-7" in refusal.reason for refusal in report.refusals)


def test_golden_searches_come_in_once_and_what_differs_is_changed(take: Take):
    assert counts(take(**WHOLE), "golden searches") == {"added": 2}
    again = take(goldens=[{"query": "Rain  COAT", "sku": "T-1", "within": 1}, {"query": "tent", "sku": "T-2"}])
    assert counts(again, "golden searches") == {"changed": 1, "unchanged": 1}
    stored = db.session.execute(select(GoldenSearch.query, GoldenSearch.within).order_by(GoldenSearch.id)).all()
    assert stored == [("rain coat", 1), ("tent", 5)]


def test_bad_golden_searches_are_refused_with_their_places(take: Take):
    tent = {"query": "tent", "sku": "T-1"}
    report = take(
        products=[product("T-1")], goldens=[tent, tent, tent | {"sku": "NO-7"}, tent | {"within": 51, "query": "a"}, 7]
    )
    assert counts(report, "golden searches") == {"added": 1, "refused": 4}
    assert [field for _, _, field in refusals(report)] == ["1/query", "2/sku", "3/within", "4"]


def test_judgement_lists_come_in_once_and_keep_what_people_rated_meanwhile(take: Take):
    assert counts(take(**WHOLE), "judgement lists") == {"added": 1}
    assert counts(take(**WHOLE), "judgement lists") == {"unchanged": 1}
    with transaction():
        search_id = db.session.scalar(select(JudgedSearch.id).where(JudgedSearch.query == "rain coat"))
        columns = {"site_id": sites.site_at(HOST).id, "search_id": search_id, "rated_at": WHEN}
        db.session.add(ProductRating(sku="T-2", rater="Mia Moss", rating=1, **columns))
    ratings = {"T-1": [1], "T-2": [0, 1]}
    again = take(judgements=[{"name": "TOP", "searches": [{"query": "Rain COAT", "ratings": ratings}]}])
    assert counts(again, "judgement lists") == {"changed": 1}
    stored = db.session.execute(select(ProductRating.sku, ProductRating.rater, ProductRating.rating)).all()
    assert sorted(map(tuple, stored)) == [("T-1", "", 1), ("T-2", "", 0), ("T-2", "Mia Moss", 1)]


def test_bad_judgement_lists_are_refused_with_their_places(take: Take):
    def judged(**grades: object) -> dict[str, object]:
        return {"name": "Top", "searches": [{"query": "tent", "ratings": grades}]}

    bad = [
        judged(**{"NO-7": [1]}),
        judged(**{"T-1": [4]}),
        judged(**{"T-1": 3}),
        judged() | {"name": " "},
        {"name": "x"},
    ]
    report = take(products=[product("T-1")], judgements=bad)
    assert counts(report, "judgement lists") == {"refused": 5}
    assert [field for _, _, field in refusals(report)] == [
        "0/searches/0/ratings", "1/searches/0/ratings", "2/searches/0/ratings", "3/name", "4/searches",
    ]  # fmt: skip
    assert db.session.scalars(select(JudgementList)).all() == []


def _searched(*queries: str, **more: object) -> dict[str, object]:
    return {"name": "Top", "searches": [{"query": query, "ratings": {}} for query in queries]} | more


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_judgement_list_stays_within_its_limits_with_what_it_has(take: Take, dry_run: bool):
    first, second = ([f"tent {number}" for number in numbers] for numbers in (range(1_500), range(1_000, 2_001)))
    take(judgements=[_searched(*first)])
    report = take(judgements=[_searched(*second)], dry_run=dry_run)
    assert [(one.field, one.reason) for one in report.refusals] == [
        ("0/searches", "A list has at most 2,000 searches."),
    ]
    assert len(db.session.scalars(select(JudgedSearch.id)).all()) == 1_500
    assert take(judgements=[_searched(*second[:-1])], dry_run=dry_run).refusals == []


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_search_has_a_limited_number_of_products_with_those_rated_before(take: Take, dry_run: bool):
    def rated(*numbers: int) -> dict[str, object]:
        ratings = {f"T-{number}": [1] for number in numbers}
        return {"name": "Top", "searches": [{"query": "tent", "ratings": ratings}]}

    take(products=[product(f"T-{number}") for number in range(501)], judgements=[rated(*range(500))])
    report = take(judgements=[rated(500)], dry_run=dry_run)
    assert [(one.field, one.reason) for one in report.refusals] == [
        ("0/searches/0/ratings", "At most 500 products of a search can be rated."),
    ]
    assert len(db.session.scalars(select(ProductRating.id)).all()) == 500


@pytest.mark.parametrize("dry_run", [False, True])
def test_settings_of_a_list_that_is_there_are_checked_in_a_dry_run_too(take: Take, dry_run: bool):
    take(judgements=[_searched("tent")])
    report = take(judgements=[_searched("tent", poolSize=99)], dry_run=dry_run)
    assert [field for _, _, field in refusals(report)] == ["0/poolSize"]


def test_a_suggestion_that_a_site_rejected_stays_rejected(take: Take):
    take(synonyms=[REJECTED])
    report = take(synonyms=[REJECTED | {"status": "SUGGESTED"}])
    assert counts(report, "synonyms") == {"unchanged": 1}
    assert db.session.scalars(select(Synonym.status)).all() == ["REJECTED"]


def test_what_a_site_gives_with_a_rule_is_passed_over(take: Take):
    given = {"normalizedTerm": "rain coat", "revision": 7, "synced": True, "updatedBy": "Mia", "updatedAt": "2026"}
    report = take(products=[product("T-1"), product("T-2")], rules=[COAT | given])
    assert counts(report, "rules") == {"added": 1}

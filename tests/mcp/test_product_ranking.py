"""The tools that read and change search rules and landing rules."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.merchandising.models import Node
from app.domain.relevance.models import SearchRule
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_rule, make_site
from tests.mcp.agent import Agent
from tests.mcp.indexed import add_tents
from tests.statements import statements

READ, CHANGE = "productRanking", "manageProductRanking"


@pytest.fixture(autouse=True)
def category_id(app: Flask, site_id: int) -> int:
    return add_tents(app, site_id)


def rule(app: Flask) -> dict[str, Any] | None:
    with app.app_context():
        found = db.session.scalars(select(SearchRule)).one_or_none()
        return None if found is None else found.value.as_json()


def landing_rules(app: Flask, category_id: int) -> list[dict[str, Any]] | None:
    with app.app_context():
        return db.session.get_one(Node, category_id).landing_rules


def entries(app: Flask) -> list[tuple[str, str | None]]:
    with app.app_context():
        return [
            tuple(row)
            for row in db.session.execute(select(AuditEntry.action, AuditEntry.origin).order_by(AuditEntry.id))
        ]


def test_each_step_changes_one_part_of_a_rule_and_leaves_the_rest(app: Flask, agent: Agent) -> None:
    agent.call(CHANGE, action="pin", term="tent", products=["T-3", "t-4"], position=1)
    agent.call(CHANGE, action="boost", term="Tent ", products=["T-2"], note="Autumn")
    agent.call(CHANGE, action="bury", term="tent", products=["T-1"])
    result = agent.call(CHANGE, action="banner", term="tent", banner={"text": "Dry feet", "linkUrl": "/c/outdoor"})
    assert result.body["rule"]["revision"] == 4
    assert rule(app) == {
        "term": "tent",
        "pins": [{"sku": "T-3", "position": 1}, {"sku": "T-4", "position": 2}],
        "boosts": ["T-2"],
        "buries": ["T-1"],
        "redirectUrl": None,
        "banner": {"text": "Dry feet", "linkUrl": "/c/outdoor"},
        "enabled": True,
        "startsAt": None,
        "endsAt": None,
        "note": "Autumn",
        "match": "exact",
        "otherTerms": [],
        "levels": [],
        "categories": [],
        "priority": 100,
        "boostGroups": [],
        "buryGroups": [],
    }
    assert entries(app) == [("rule.add", "MCP"), *[("rule.change", "MCP")] * 3]
    assert result.body["undo"].startswith("/admin/search/activity/")


def test_parts_of_a_rule_and_a_whole_rule_are_removed(app: Flask, agent: Agent) -> None:
    agent.call(CHANGE, action="redirect", term="tent", redirectUrl="/c/outdoor", startsAt="2027-01-01T00:00:00Z")
    agent.call(CHANGE, action="pin", term="tent", products=["T-1", "T-2"])
    for muddled in ({"part": "products"}, {"part": "rule", "products": ["T-1"]}):
        assert agent.call(CHANGE, action="remove", term="tent", **muddled).pointers == ["#/products"]
    agent.call(CHANGE, action="remove", term="tent", products=["T-1"])
    agent.call(CHANGE, action="remove", term="tent", part="schedule")
    agent.call(CHANGE, action="remove", term="tent", part="redirect")
    left = rule(app)
    assert left is not None
    assert (left["pins"], left["redirectUrl"], left["startsAt"]) == ([{"sku": "T-2", "position": 2}], None, None)
    refused = agent.call(CHANGE, action="remove", term="tent", products=["T-2"])
    assert refused.codes == ["without_effect"], "as the page says it"
    result = agent.call(CHANGE, action="remove", term="tent")
    assert (result.body["rule"], result.body["ruleBefore"]["term"]) == (None, "tent")
    assert rule(app) is None
    assert agent.call(CHANGE, action="remove", term="tent").codes == ["not_found"]


def test_a_dry_run_shows_the_first_ten_before_and_after_and_writes_nothing(app: Flask, agent: Agent) -> None:
    result = agent.call(CHANGE, action="pin", term="tent", products=["U-1"], position=1, dryRun=True)
    assert result.body["rule"]["pins"] == [{"sku": "U-1", "position": 1}]
    (search,) = result.body["preview"]["searches"]
    assert search["changed"]
    assert "U-1" not in [product["sku"] for product in search["before"]["products"]]
    assert search["after"]["products"][0] == {"sku": "U-1", "name": "Storm umbrella", "mark": "new", "steps": 0}
    assert (result.body["dryRun"], result.body["undo"], result.body["rule"]["id"]) == (True, None, None)
    assert (rule(app), entries(app)) == (None, [])
    agent.call(CHANGE, action="pin", term="tent", products=["U-1"])
    gone = agent.call(CHANGE, action="remove", term="tent", dryRun=True)
    assert gone.body["preview"]["searches"][0]["before"]["products"][0]["sku"] == "U-1"
    assert rule(app) is not None


def test_every_problem_is_named_at_its_argument(app: Flask, agent: Agent) -> None:
    agent.call(CHANGE, action="pin", term="tent", products=["T-1"], position=5)
    result = agent.call(CHANGE, action="pin", term="tent", products=["X-9", "T-2"], position=4, note="x" * 2_001)
    assert dict(zip(result.pointers, result.codes, strict=True)) == {
        "#/position": "duplicate_position",
        "#/products/0": "unknown_sku",
        "#/note": "too_long",
    }
    assert "X-9" in result.text and "5" in result.text
    wrong = agent.call(CHANGE, action="banner", term="tent", banner={"text": " ", "linkUrl": "//evil.test"})
    assert wrong.pointers == ["#/banner/text", "#/banner/linkUrl"]
    assert agent.call(CHANGE, action="redirect", term="tent", redirectUrl="/c/none").codes == ["unknown_page"]
    assert agent.call(CHANGE, action="redirect", term="tent", redirectUrl="/", endsAt="soon").pointers == ["#/endsAt"]
    missing = agent.call(CHANGE, action="pin", position=1, redirectUrl="/")
    assert set(missing.pointers) == {"#/term", "#/products", "#/redirectUrl"}
    assert rule(app)["pins"] == [{"sku": "T-1", "position": 5}]


def test_a_change_of_a_rule_that_was_read_before_another_change_is_refused(app: Flask, agent: Agent) -> None:
    read = agent.call(CHANGE, action="pin", term="tent", products=["T-1"]).body["rule"]["revision"]
    agent.call(CHANGE, action="boost", term="tent", products=["T-2"])
    stale = agent.call(CHANGE, action="bury", term="tent", products=["T-3"], revision=read)
    assert (stale.codes, stale.body["currentRevision"]) == (["stale_revision"], 2)
    assert agent.call(CHANGE, action="bury", term="none", products=["T-3"], revision=1).codes == ["not_found"]


def test_rules_are_listed_filtered_and_found_by_their_term(agent: Agent) -> None:
    agent.call(CHANGE, action="pin", term="tent", products=["T-1"])
    agent.call(CHANGE, action="boost", term="umbrella", products=["U-1"], enabled=False)
    listed = agent.call(READ, action="rules").body
    assert [one["term"] for one in listed["rules"]] == ["tent", "umbrella"]
    assert listed["paging"] == {"pageNumber": 1, "pageSize": 50, "totalItems": 2, "totalPages": 1}
    assert [one["state"] for one in agent.call(READ, action="rules", state="paused").body["rules"]] == ["paused"]
    assert [one["term"] for one in agent.call(READ, action="rules", words="u-1").body["rules"]] == ["umbrella"]
    (one,) = agent.call(READ, action="rules", term=" TENT").body["rules"]
    assert (one["pins"], one["synced"]) == ([{"sku": "T-1", "position": 1}], True)
    assert agent.call(READ, action="rules", term="none").body["rules"] == []


def test_landing_rules_are_set_switched_off_and_inherited(app: Flask, agent: Agent, category_id: int) -> None:
    rules = [{"facetId": "manufacturer", "minProducts": 3, "overrides": [{"value": "Fell", "heading": "By Fell"}]}]
    result = agent.call(CHANGE, action="setLanding", category="/c/outdoor", rules=rules)
    assert landing_rules(app, category_id) == rules
    assert (result.body["landingBefore"]["mode"], result.body["landing"]["mode"]) == ("inherit", "own")
    (page,) = result.body["landing"]["pages"]
    assert page == {
        "url": "https://localhost/c/outdoor/brand/fell",
        "facetId": "manufacturer",
        "value": "Fell",
        "slug": "fell",
        "products": 3,
        "heading": "By Fell",
    }
    read = agent.call(READ, action="landing", category="Outdoor").body
    assert read["landing"] == result.body["landing"]
    assert read["landing"]["facets"][0] == {"facetId": "manufacturer", "name": "Brand"}
    assert agent.call(CHANGE, action="setLanding", category=str(category_id), rules=[]).body["landing"]["mode"] == "off"
    assert landing_rules(app, category_id) == []
    agent.call(CHANGE, action="inheritLanding", category="outdoor")
    assert landing_rules(app, category_id) is None
    assert entries(app) == [("category.landing_rules", "MCP")] * 3


def test_a_dry_run_of_landing_rules_shows_the_pages_that_would_be(app: Flask, agent: Agent, category_id: int) -> None:
    sent = {"category": "outdoor", "rules": [{"facetId": "manufacturer"}], "dryRun": True}
    result = agent.call(CHANGE, action="setLanding", **sent)
    assert [page["value"] for page in result.body["landing"]["pages"]] == ["Fell"]
    assert (landing_rules(app, category_id), entries(app)) == (None, [])
    assert agent.call(READ, action="landing", category="outdoor").body["landing"]["pages"] == []


def test_a_segment_that_moves_pages_is_warned_of(agent: Agent) -> None:
    agent.call(CHANGE, action="setLanding", category="outdoor", rules=[{"facetId": "manufacturer"}])
    moved = [{"facetId": "manufacturer", "pathSegment": "by"}]
    (warning,) = agent.call(CHANGE, action="setLanding", category="outdoor", rules=moved).body["warnings"]
    assert warning.startswith("The pages below /c/outdoor/brand/ moved to /c/outdoor/by/.")


def test_wrong_landing_rules_are_refused_with_every_problem(app: Flask, agent: Agent, category_id: int) -> None:
    rules = [
        {"facetId": "price"},
        {"facetId": "manufacturer", "minProducts": "3", "colour": 1},
        {"facetId": "manufacturer", "pathSegment": "No Way", "overrides": [{"value": "A"}, {"value": "A"}]},
    ]
    result = agent.call(CHANGE, action="setLanding", category="outdoor", rules=rules)
    assert set(result.pointers) == {
        "#/rules/0/facetId",
        "#/rules/1/minProducts",
        "#/rules/1/colour",
        "#/rules/2/facetId",
        "#/rules/2/pathSegment",
        "#/rules/2/overrides/1/value",
    }
    assert landing_rules(app, category_id) is None


def test_an_ambiguous_category_is_answered_with_the_candidates(app: Flask, agent: Agent, category_id: int) -> None:
    with app.app_context(), transaction():
        known = db.session.get_one(Node, category_id)
        twin = Node(
            site_id=known.site_id, tree_id=known.tree_id, name="Outdoor", slug="old", path="old",
            updated_at=known.updated_at,
        )  # fmt: skip
        db.session.add(twin)
    result = agent.call(CHANGE, action="inheritLanding", category="Outdoor")
    assert result.codes == ["ambiguous_category"]
    assert [one["path"] for one in result.body["candidates"]] == ["old", "outdoor"]
    assert agent.call(READ, action="landing", category="nowhere").codes == ["not_found"]


def test_another_sites_category_and_products_are_unknown(app: Flask, agent_of: Any, category_id: int) -> None:
    with app.app_context(), transaction():
        make_product(make_site("other.localhost", "Other"), "THEIRS")
    result = agent_of(Role.ADMIN).call(CHANGE, action="pin", term="tent", products=["THEIRS"])
    assert result.codes == ["unknown_sku"]


def test_a_list_costs_the_same_statements_however_long_it_is(app: Flask, site_id: int, agent: Agent) -> None:
    counted = []
    for number in (2, 20):
        with app.app_context(), transaction():
            site = db.session.get_one(Site, site_id)
            for _ in range(number):
                make_rule(site)
        with statements(app) as seen:
            rules = agent.call(READ, action="rules").body["rules"]
        counted.append(len([one for one in seen if one.startswith("SELECT")]))
    assert len(rules) == 22
    assert counted[0] == counted[1]


def test_a_rule_by_condition_is_set_read_and_removed_beside_the_exact_one(
    app: Flask, agent: Agent, category_id: int
) -> None:
    agent.call(CHANGE, action="pin", term="tent", products=["T-1"])
    group = {"manufacturers": ["Acme"], "stock": "in", "newDays": 30}
    wide = {"term": "tent", "match": "contains"}
    made = agent.call(CHANGE, action="set", **wide, boostGroups=[group], priority=5, otherTerms=["shelter"])
    assert made.body["rule"]["boostGroups"][0]["manufacturers"] == ["Acme"]
    assert (made.body["rule"]["match"], made.body["rule"]["priority"], made.body["ruleBefore"]) == ("contains", 5, None)
    read = agent.call(READ, action="rules", term="Tent").body["rules"]
    assert [(rule["match"], rule["otherTerms"]) for rule in read] == [("exact", []), ("contains", ["shelter"])]
    refused = agent.call(CHANGE, action="set", **wide, buryGroups=[{"stock": "some"}, {"smell": "good"}])
    assert refused.pointers == ["#/buryGroups/0/stock", "#/buryGroups/1/smell"]
    tried = agent.call(CHANGE, action="set", **wide, buryGroups=[{"levels": ["nowhere"]}], dryRun=True)
    assert tried.pointers == ["#/buryGroups/0/levels/0"]
    heavy = [{"attributes": [{"id": "weight", "from": 2, "to": 1.5}]}]
    assert agent.call(CHANGE, action="set", **wide, buryGroups=heavy).pointers == [
        "#/buryGroups/0/attributes/0/id",
        "#/buryGroups/0/attributes/0/to",
    ]
    narrowed = agent.call(CHANGE, action="set", **wide, categories=["/c/outdoor"])
    assert narrowed.body["rule"]["categories"] == ["outdoor"]
    assert agent.call(CHANGE, action="set", **wide, categories=["boats"]).pointers == ["#/categories/0"]
    agent.call(CHANGE, action="remove", **wide)
    assert rule(app)["match"] == "exact"

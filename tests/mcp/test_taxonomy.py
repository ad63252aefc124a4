"""The tools of the product taxonomy."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.classified_shop import add_taxonomy, make_classified
from tests.factories import make_site
from tests.mcp.agent import Agent

TOOL, IMPACT = "manageProductTaxonomy", "taxonomyImpact"
Stored = tuple[str | None, dict[str, Any], int | None]


@pytest.fixture(autouse=True)
def tent(app: Flask, site_id: int) -> int:
    """The id of the product TENT-2."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        add_taxonomy(site)
        values = {"sleeps": 2, "colour": ["Moss"]}
        return make_classified(site, "tents", values, sku="TENT-2", name="Ridge tent").id


@pytest.fixture
def stored(app: Flask, tent: int) -> Callable[[], Stored]:
    def read() -> Stored:
        with app.app_context():
            found = db.session.get_one(Product, tent)
            return found.taxonomy_level_id, found.taxonomy_attributes, found.completeness_score

    return read


def test_a_product_is_read_with_every_attribute_that_it_can_have(agent: Agent) -> None:
    found = agent.call(TOOL, action="get", product="TENT-2").body["product"]
    assert found["now"] == {
        "level": {"levelId": "tents", "path": "Camping › Tents"},
        "values": {"sleeps": 2, "colour": ["Moss"]},
        "completenessScore": 50,
        "missing": ["free"],
    }
    sleeps = next(one for one in found["attributes"] if one["attributeId"] == "sleeps")
    assert (sleeps["type"], sleeps["mandatory"], sleeps["value"]) == ("NUMBER", True, 2)
    assert [one["attributeId"] for one in found["attributes"]][:2] == ["weight", "material"]


def test_attributes_are_set_and_others_stay(app: Flask, agent: Agent, stored: Callable[[], Stored]) -> None:
    result = agent.call(TOOL, action="set", product="TENT-2", attributes={"free": True, "colour": None})
    assert result.body["product"]["changed"]
    assert stored() == ("tents", {"sleeps": 2, "free": True}, 100)
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "product.save")).one()
        assert (entry.origin, entry.actor) == ("MCP", "Mia Moss")


def test_a_value_that_breaks_its_rules_is_dropped_and_the_rest_is_saved(
    agent: Agent, stored: Callable[[], Stored]
) -> None:
    sent = {"weight": 900, "season": "Autumn", "wings": 2, "free": False, "sleeps": "many"}
    found = agent.call(TOOL, action="set", product="TENT-2", attributes=sent).body["product"]
    assert {one["attributeId"]: one["code"] for one in found["dropped"]} == {
        "weight": "too_large",
        "season": "not_allowed",
        "wings": "not_applicable",
        "sleeps": "wrong_type",
    }
    assert stored() == ("tents", {"sleeps": 2, "colour": ["Moss"], "free": False}, 100)


@pytest.mark.parametrize("how", [{"action": "preview"}, {"action": "set", "dryRun": True}])
def test_a_preview_answers_what_would_be_and_writes_nothing(
    agent: Agent, stored: Callable[[], Stored], how: dict[str, Any]
) -> None:
    found = agent.call(TOOL, **how, product="TENT-2", levelId="stoves", attributes={"fuel": "gas"}).body["product"]
    assert found["now"]["values"] == {"colour": ["Moss"], "fuel": "Gas"}
    assert [one["attributeId"] for one in found["dropped"]] == ["sleeps"]
    assert found["before"]["level"]["levelId"] == "tents"
    assert stored() == ("tents", {"sleeps": 2, "colour": ["Moss"]}, 50)


def test_an_empty_level_takes_the_classification_away(agent: Agent, stored: Callable[[], Stored]) -> None:
    assert agent.call(TOOL, action="set", product="TENT-2", levelId="").body["product"]["now"]["level"] is None
    assert stored() == (None, {}, None)
    result = agent.call(TOOL, action="set", product="TENT-2", attributes={"free": True})
    assert (result.codes, result.pointers) == (["required"], ["#/levelId"])


def test_a_level_that_is_not_there_is_refused(agent: Agent, stored: Callable[[], Stored]) -> None:
    result = agent.call(TOOL, action="set", product="TENT-2", levelId="boats")
    assert (result.codes, result.pointers) == (["unknown_level"], ["#/levelId"])
    assert stored()[0] == "tents"


def test_nothing_is_listed_as_missing_of_a_level_that_is_not_there(agent: Agent) -> None:
    result = agent.call(TOOL, action="listMissing", levelId="boats")
    assert (result.codes, result.pointers) == (["unknown_level"], ["#/levelId"])


@pytest.mark.parametrize(
    "reading", [{"action": "get", "product": "TENT-2"}, {"action": "findLevels"}, {"action": "listMissing"}]
)
def test_an_answer_says_whether_it_was_a_dry_run(agent: Agent, reading: dict[str, Any]) -> None:
    assert agent.call(TOOL, **reading, dryRun=True).body["dryRun"] is True
    assert agent.call(TOOL, **reading).body["dryRun"] is False


def test_a_stale_revision_is_refused_with_the_current_one(agent: Agent) -> None:
    assert not agent.call(TOOL, action="set", product="TENT-2", attributes={"free": True}, revision=1).is_error
    result = agent.call(TOOL, action="set", product="TENT-2", attributes={"free": False}, revision=1)
    assert (result.body["code"], result.body["currentRevision"]) == ("stale_revision", 2)
    assert result.pointers == ["#/revision"]


def test_levels_are_found_by_words(agent: Agent) -> None:
    found = agent.call(TOOL, action="findLevels", words="camping tent").body["levels"]
    assert found == [{"levelId": "tents", "path": "Camping › Tents"}]


def test_what_is_missing_is_listed_for_a_product_and_for_a_level(agent: Agent, tent: int) -> None:
    assert agent.call(TOOL, action="listMissing", product="TENT-2").body["product"]["now"]["missing"] == ["free"]
    listed = agent.call(TOOL, action="listMissing", levelId="camping").body["incomplete"]
    assert (listed["paging"]["totalItems"], listed["items"][0]["productId"]) == (1, str(tent))
    assert listed["items"][0]["missing"] == ["free"]
    assert agent.call(TOOL, action="listMissing", levelId="books").body["incomplete"]["items"] == []


def test_without_an_active_taxonomy_nothing_is_cleared(
    app: Flask, agent: Agent, site_id: int, stored: Callable[[], Stored]
) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"taxonomy-active-id": None})
    assert agent.call(TOOL, action="set", product="TENT-2", levelId="").body["code"] == "no_active_taxonomy"
    assert stored()[0] == "tents"


def test_the_impact_of_a_changed_structure_counts_products(agent: Agent) -> None:
    levels = agent.call(IMPACT).body["rootLevels"]
    assert [level["levelId"] for level in levels] == ["camping", "books"]
    changed = deepcopy(levels)
    changed[0]["children"] = changed[0]["children"][1:]
    result = agent.call(IMPACT, rootLevels=changed)
    assert result.body["levelsRemoved"] == [{"levelId": "tents", "name": "Tents", "products": 1}]
    assert result.body["rootLevels"] is None


def test_a_structure_that_could_not_be_saved_is_answered_with_every_problem(agent: Agent) -> None:
    wrong = [{"levelId": "camping", "name": ""}, {"levelId": "books", "name": "Books", "parentLevelId": "camping"}]
    result = agent.call(IMPACT, rootLevels=wrong)
    assert result.is_error
    assert {"#/rootLevels/0/name", "#/rootLevels/1/parentLevelId"} <= set(result.pointers)


def test_another_sites_taxonomy_is_not_found(app: Flask, agent: Agent) -> None:
    with app.app_context(), transaction():
        add_taxonomy(make_site("there.localhost", "There"), "theirs")
    assert agent.call(IMPACT, taxonomyId="theirs").body["code"] == "not_found"

"""Trees of categories and their landing rules for other programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.adapters.null_engine import NullEngine
from app.blueprints.v1.merchandising import LandingPagesShape, NodeRulesShape, TreeRulesShape, TreesShape
from app.domain.merchandising.models import Node, Tree
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.v1.conftest import ApiClient
from tests.factories import make_user
from tests.fakes.clock import StoppedClock
from tests.snapshots import built
from tests.statements import statements

MERCHANDISING = "/v1/admin/merchandising"
BRAND = {"facetId": "manufacturer"}


def _small_shop() -> int:
    site_id = small_shop.build()
    with transaction():
        site = db.session.get_one(small_shop.Site, site_id)
        make_user(site, Role.MERCHANDISER, email="merchandiser@shop.test", name="The Merchandiser")
    return site_id


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, _small_shop)


@pytest.fixture
def program(app: Flask, site_id: int) -> ApiClient:
    client = ApiClient(app.test_client(), host="shop.test")
    assert client.sign_in("merchandiser@shop.test").status_code == 200
    return client


@pytest.fixture
def tree(program: ApiClient) -> dict[str, Any]:
    """The tree that shoppers browse, as a program lists it."""
    listed: dict[str, Any] = program.call("GET", f"{MERCHANDISING}/trees").json["items"][0]
    return listed


@pytest.fixture
def tents(tree: dict[str, Any]) -> str:
    """The id of the category Tents: eight tents on sale, five of Fell & Fern and three of Moor."""
    node_id: str = tree["nodes"][0]["children"][0]["id"]
    return node_id


def rules_of(kind: str, record_id: str) -> str:
    return f"{MERCHANDISING}/{kind}/{record_id}/landing-rules"


def test_trees_are_listed_with_their_categories_nested(app: Flask, program: ApiClient, site_id: int) -> None:
    with app.app_context(), transaction():
        db.session.add(Tree(site_id=site_id, name="A second", updated_at=small_shop.BEGAN))
    program.call("GET", f"{MERCHANDISING}/trees")  # The shop itself is read anew, once.
    with statements(app) as seen:
        answer = program.call("GET", f"{MERCHANDISING}/trees")
    assert sum("merchandising" in statement for statement in seen) == 2
    assert answer.status_code == 200 and TreesShape().validate(answer.json) == {}
    assert answer.json | {"items": []} == {
        "items": [],
        "pageNumber": 1,
        "pageSize": 20,
        "totalItems": 2,
        "totalPages": 1,
    }
    shop, second = answer.json["items"]
    assert (shop["name"], shop["primary"], second["name"], second["primary"], second["nodes"]) == (
        "Shop", True, "A second", False, [],
    )  # fmt: skip
    camping, gifts = shop["nodes"]
    assert [(node["name"], node["path"], node["visible"]) for node in camping["children"]] == [
        ("Tents", "camping/tents", True),
        ("Mugs", "camping/mugs", True),
        ("Hidden", "camping/hidden", False),
    ]
    assert gifts["children"] == [] and isinstance(gifts["id"], str) and isinstance(shop["id"], str)
    assert program.call("GET", f"{MERCHANDISING}/trees?pageNumber=3").json["items"] == []


def test_a_tree_has_default_rules_that_its_categories_inherit(program: ApiClient, tree: dict, tents: str) -> None:
    of_tree = rules_of("trees", tree["id"])
    assert program.call("GET", of_tree).json == {"rules": []}
    saved = program.call("PUT", of_tree, {"rules": [{"facetId": " manufacturer ", "pathSegment": "Maker"}]})
    rules = [{"facetId": "manufacturer", "pathSegment": "maker"}]
    assert (saved.status_code, saved.json) == (200, {"rules": rules}) and TreeRulesShape().validate(saved.json) == {}
    assert program.call("GET", of_tree).json == {"rules": rules}
    found = program.call("GET", rules_of("nodes", tents)).json
    assert found == {"mode": "inherit", "rules": None, "effectiveRules": rules}
    assert program.call("PUT", of_tree, {"rules": []}).json == {"rules": []}
    assert program.call("GET", rules_of("nodes", tents)).json["effectiveRules"] == []


def test_a_category_switches_off_has_its_own_and_inherits_again(program: ApiClient, tree: dict, tents: str) -> None:
    program.call("PUT", rules_of("trees", tree["id"]), {"rules": [BRAND]})
    path, colour = rules_of("nodes", tents), [{"facetId": "colour", "minProducts": 2}]
    off = program.call("PUT", path, {"rules": []})
    assert off.json == {"mode": "off", "rules": [], "effectiveRules": []} and NodeRulesShape().validate(off.json) == {}
    assert program.call("PUT", path, {"rules": colour, "inherit": False}).json == {
        "mode": "own",
        "rules": colour,
        "effectiveRules": colour,
    }
    assert program.call("GET", path).json["mode"] == "own"
    inherits = program.call("PUT", path, {"inherit": True})
    assert inherits.json == {"mode": "inherit", "rules": None, "effectiveRules": [BRAND]}
    assert program.call("GET", path).json == inherits.json


def test_the_pages_of_a_category_are_listed_as_they_are_now(program: ApiClient, tree: dict, tents: str) -> None:
    path = f"{MERCHANDISING}/nodes/{tents}/landing-pages"
    assert program.call("GET", path).json["items"] == []
    program.call("PUT", rules_of("trees", tree["id"]), {"rules": [BRAND]})
    answer = program.call("GET", path)
    assert answer.status_code == 200 and LandingPagesShape().validate(answer.json) == {}
    assert answer.json == {
        "items": [
            {
                "url": "https://shop.test/c/camping/tents/brand/fell-fern",
                "facetId": "manufacturer",
                "value": "Fell & Fern",
                "slug": "fell-fern",
                "products": 5,
                "heading": "Fell & Fern Tents",
            },
            {
                "url": "https://shop.test/c/camping/tents/brand/moor",
                "facetId": "manufacturer",
                "value": "Moor",
                "slug": "moor",
                "products": 3,
                "heading": "Moor Tents",
            },
        ],
        "pageNumber": 1,
        "pageSize": 20,
        "totalItems": 2,
        "totalPages": 1,
    }
    second = program.call("GET", f"{path}?pageNumber=2&pageSize=1").json
    assert ([item["slug"] for item in second["items"]], second["totalPages"]) == (["moor"], 2)
    rule = BRAND | {"minProducts": 5, "overrides": [{"value": "Fell & Fern", "heading": "Of Fell & Fern"}]}
    program.call("PUT", rules_of("nodes", tents), {"rules": [rule]})
    assert [item["heading"] for item in program.call("GET", path).json["items"]] == ["Of Fell & Fern"]


def test_a_category_that_can_have_no_pages_has_an_empty_list(
    app: Flask, program: ApiClient, tree: dict, tents: str, site_id: int
) -> None:
    program.call("PUT", rules_of("trees", tree["id"]), {"rules": [BRAND | {"minProducts": 1}]})
    with app.app_context(), transaction():
        other = Tree(site_id=site_id, name="Other", updated_at=small_shop.BEGAN, default_landing_rules=[BRAND])
        db.session.add(other)
        db.session.flush()
        node = Node(
            site_id=site_id, tree_id=other.id, name="Elsewhere", slug="x", path="x", updated_at=other.updated_at
        )
        db.session.add(node)
        db.session.flush()
        elsewhere = str(node.id)
    hidden = tree["nodes"][0]["children"][2]["id"]
    for node_id in (hidden, elsewhere):
        assert program.call("GET", f"{MERCHANDISING}/nodes/{node_id}/landing-pages").json["totalItems"] == 0
    path = f"{MERCHANDISING}/nodes/{tents}/landing-pages"
    assert program.call("GET", path).json["totalItems"] == 2
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    program.call("PUT", rules_of("nodes", tents), {"rules": [{"facetId": "colour", "minProducts": 1}]})
    answer = program.call("GET", path)
    assert (answer.status_code, answer.json["items"]) == (200, []), "nobody can count them now"


def test_every_problem_of_a_list_is_named_and_nothing_is_saved(program: ApiClient, tree: dict, tents: str) -> None:
    rules = [BRAND, {"facetId": "weight", "pathSegment": "a b"}, {"facetId": "colour", "minProducts": True}]
    for path in (rules_of("trees", tree["id"]), rules_of("nodes", tents)):
        answer = program.call("PUT", path, {"rules": rules})
        assert answer.status_code == 400 and answer.content_type == "application/problem+json"
        assert [error["pointer"] for error in answer.json["errors"]] == [
            "#/rules/1/facetId",
            "#/rules/1/pathSegment",
            "#/rules/2/minProducts",
        ]
    assert program.call("GET", rules_of("trees", tree["id"])).json == {"rules": []}
    assert program.call("GET", rules_of("nodes", tents)).json["mode"] == "inherit"


@pytest.mark.parametrize("display", ["range", "list"])
def test_what_a_category_shows_as_a_range_is_refused_there(
    app: Flask, program: ApiClient, tree: dict, tents: str, display: str
) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Node, int(tents)).facets = [{"facetId": "colour", "display": display}]
    rules = {"rules": [{"facetId": "colour"}]}
    assert program.call("PUT", rules_of("nodes", tents), rules).status_code == (400 if display == "range" else 200)
    assert program.call("PUT", rules_of("trees", tree["id"]), rules).status_code == 200


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#"),
        ({"inherit": False}, "#"),
        ({"inherit": True, "rules": []}, "#"),
        ({"inherit": "yes"}, "#/inherit"),
        ({"rules": None}, "#/rules"),
        ({"rules": {}}, "#/rules"),
        ({"rules": [], "mode": "off"}, "#/mode"),
        ([], "#"),
    ],
)
def test_a_category_takes_either_inherit_or_rules(program: ApiClient, tents: str, body: object, pointer: str) -> None:
    answer = program.call("PUT", rules_of("nodes", tents), body)
    assert answer.status_code == 400
    assert pointer in [error["pointer"] for error in answer.json["errors"]]


@pytest.mark.parametrize("body", [{}, {"rules": None}, {"rules": "x"}, {"inherit": True}, {"rules": [], "x": 1}])
def test_a_tree_takes_rules_alone(program: ApiClient, tree: dict, body: object) -> None:
    assert program.call("PUT", rules_of("trees", tree["id"]), body).status_code == 400


@pytest.mark.parametrize("record_id", ["0", "999999", "x", "-1", "1.0", "9" * 30, "%D9%A1", "%20"])
def test_an_unknown_tree_or_category_is_not_found(program: ApiClient, record_id: str) -> None:
    for path in (rules_of("trees", record_id), rules_of("nodes", record_id)):
        assert program.call("GET", path).status_code == 404
        assert program.call("PUT", path, {"rules": []}).status_code == 404
    answer = program.call("GET", f"{MERCHANDISING}/nodes/{record_id}/landing-pages")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def test_a_save_is_in_the_activity_log_with_what_was_before_and_dates_the_category(
    app: Flask, program: ApiClient, tree: dict, tents: str, clock: StoppedClock
) -> None:
    program.call("PUT", rules_of("nodes", tents), {"rules": [BRAND]})
    program.call("PUT", rules_of("nodes", tents), {"rules": [BRAND]})
    program.call("PUT", rules_of("trees", tree["id"]), {"rules": [BRAND]})
    with app.app_context():
        node = db.session.get_one(Node, int(tents))
        assert (node.updated_at, node.revision) == (clock.now(), 1)
        entries = db.session.scalars(select(AuditEntry).where(AuditEntry.action.like("%landing_rules"))).all()
        assert [(entry.actor, entry.subject_type, entry.subject_id, entry.before) for entry in entries] == [
            ("The Merchandiser", "category", tents, {"landingRules": None}),
            ("The Merchandiser", "tree", tree["id"], {"landingRules": []}),
        ]
        assert [entry.after for entry in entries] == [{"landingRules": [BRAND]}] * 2


def test_a_save_shows_in_the_shop_within_a_second(
    app: Flask, program: ApiClient, tree: dict, clock: StoppedClock
) -> None:
    def status() -> int:
        return app.test_client().get("/c/camping/tents/brand/moor", base_url="http://shop.test").status_code

    assert status() == 404
    program.call("PUT", rules_of("trees", tree["id"]), {"rules": [BRAND]})
    clock.move(seconds=1)
    assert status() == 200


@pytest.mark.parametrize("kind", ["trees", "nodes"])
def test_long_rules_are_let_in_and_huge_ones_are_not(
    program: ApiClient, tree: dict[str, Any], tents: str, kind: str
) -> None:
    address = rules_of(kind, {"trees": tree["id"], "nodes": tents}[kind])
    overrides = [{"value": f"Brand {n}", "intro": "x" * 5_000} for n in range(200)]
    saved = program.call("PUT", address, {"rules": [BRAND | {"overrides": overrides}]})
    assert (saved.status_code, len(saved.json["rules"][0]["overrides"])) == (200, 200)
    huge = program.call("PUT", address, {"rules": [BRAND | {"pathSegment": "x" * 8 * 1024 * 1024}]})
    assert (huge.status_code, huge.content_type) == (413, "application/problem+json")
    assert "larger than the 8 MB that this address takes" in huge.json["detail"]

"""Taxonomies for other programs."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from app.blueprints.v1.taxonomies import (
    EXAMPLE,
    ActivatedShape,
    CreatedShape,
    SavedShape,
    TaxonomiesShape,
    TaxonomyDataShape,
)
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.domain.taxonomy.taxonomies import active_id
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.conftest import ApiClient
from tests.statements import statements

TAXONOMIES = "/v1/admin/taxonomies"


@pytest.fixture
def admin(signed_in) -> ApiClient:
    return signed_in(Role.ADMIN)


def test_a_shop_without_taxonomies_has_an_empty_list(admin: ApiClient) -> None:
    answer = admin.call("GET", TAXONOMIES)
    assert answer.json == {"items": [], "pageNumber": 1, "pageSize": 20, "totalItems": 0, "totalPages": 0}
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_taxonomy_is_made_read_and_listed(admin: ApiClient) -> None:
    made = _make(admin, "Outdoor", sample=True)
    assert made.status_code == 201
    assert made.location == f"{TAXONOMIES}/outdoor"
    assert _fits(CreatedShape, made)
    data = admin.call("GET", made.location)
    assert _fits(TaxonomyDataShape, data)
    assert data.json == {"taxonomy": made.json["taxonomy"], "active": False, "counts": {}}
    listed = admin.call("GET", TAXONOMIES)
    assert _fits(TaxonomiesShape, listed)
    row = listed.json["items"][0]
    assert (row["id"], row["name"], row["active"], row["revision"]) == ("outdoor", "Outdoor", False, 1)
    assert row["levels"] > 1
    assert row["updatedAt"] == "2026-11-20T12:00:00Z"


def test_the_list_comes_in_pages(admin: ApiClient) -> None:
    for name in "ABC":
        _make(admin, name)
    page = admin.call("GET", f"{TAXONOMIES}?pageNumber=2&pageSize=2").json
    assert ([row["name"] for row in page["items"]], page["totalItems"], page["totalPages"]) == (["C"], 3, 2)
    for number in ("9999999", "10000000", "9" * 5_000):
        past = admin.call("GET", f"{TAXONOMIES}?pageNumber={number}").json
        assert (past["items"], past["pageNumber"]) == ([], 9_999_999)


NO_NUMBERS = ("0", "-1", "1.0", "%D9%A1", "1e3", "", "x", "%2B1", "1_0", "%201")


@pytest.mark.parametrize("query", [*(f"pageNumber={number}" for number in NO_NUMBERS), "pageSize=0", "pageSize=101"])
def test_a_page_that_is_no_number_is_400_with_its_name(admin: ApiClient, query: str) -> None:
    answer = admin.call("GET", f"{TAXONOMIES}?{query}")
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json["errors"]] == [f"#/{query.partition('=')[0]}"]


def test_a_structure_is_saved_on_the_revision_that_was_read(app: Flask, signed_in) -> None:
    merchandiser = signed_in()
    _make(merchandiser, "Outdoor")
    saved = _save(merchandiser, EXAMPLE | {"revision": 1, "note": "First levels"})
    assert saved.status_code == 200, saved.text
    assert _fits(SavedShape, saved)
    assert (saved.json["revision"], saved.json["ids"]) == (2, {"new-1": "family-tents"})
    assert saved.json["taxonomy"]["rootLevels"][0]["children"][0]["parentLevelId"] == "tents"
    stale = _save(merchandiser, EXAMPLE | {"revision": 1})
    assert (stale.status_code, stale.json["code"], stale.json["currentRevision"]) == (409, "stale_revision", 2)
    with app.app_context():
        entry = db.session.scalar(select(AuditEntry).where(AuditEntry.action == "taxonomy.save"))
        assert entry is not None
        assert entry.actor == "The Merchandiser"


def test_a_description_that_is_left_out_stays(admin: ApiClient) -> None:
    admin.call("POST", TAXONOMIES, {"name": "Outdoor", "description": "Tents"})
    assert _save(admin, EXAMPLE | {"revision": 1}).json["taxonomy"]["description"] == "Tents"
    assert _save(admin, EXAMPLE | {"revision": 2, "description": ""}).json["taxonomy"]["description"] == ""


def test_other_names_of_a_level_come_back_and_a_wrong_one_is_named(admin: ApiClient) -> None:
    _make(admin, "Outdoor")
    tree = [{"levelId": "drives", "name": "Solid-state drives", "otherNames": ["SSD", "flash drives"]}]
    saved = _save(admin, {"revision": 1, "name": "Outdoor", "rootLevels": tree})
    assert _fits(SavedShape, saved)
    assert saved.json["taxonomy"]["rootLevels"][0]["otherNames"] == ["SSD", "flash drives"]
    tree[0]["otherNames"] = ["SSD", "ssd"]
    refused = _save(admin, {"revision": 2, "name": "Outdoor", "rootLevels": tree})
    assert refused.status_code == 400
    assert [error["pointer"] for error in refused.json["errors"]] == ["#/rootLevels/0/otherNames/1"]


def test_every_problem_of_a_tree_names_its_row_and_nothing_is_saved(admin: ApiClient) -> None:
    _make(admin, "Outdoor")
    attribute = {"attributeId": "new-1", "name": "", "type": "SINGLE_SELECT"}
    tree = [{"levelId": "tents", "name": "Tents", "attributes": [attribute]}, {"levelId": "bags", "name": ""}]
    answer = _save(admin, {"revision": 1, "name": "Outdoor", "rootLevels": tree})
    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
    rows = {(error["levelId"], error.get("attributeId")) for error in answer.json["errors"]}
    assert {("tents", "new-1"), ("bags", None)} <= rows
    assert admin.call("GET", f"{TAXONOMIES}/outdoor").json["taxonomy"]["revision"] == 1


UNSOUND_STRUCTURES: tuple[tuple[dict[str, Any], str], ...] = (
    ({"revision": True}, "#/revision"),
    ({"revision": "1"}, "#/revision"),
    ({"revision": 1.5}, "#/revision"),
    ({"name": None}, "#/name"),
    ({"rootLevels": None}, "#/rootLevels"),
    ({"rootLevels": {}}, "#/rootLevels"),
    ({"siteId": 1}, "#/siteId"),
    ({"catalogueId": "2"}, "#/catalogueId"),
    ({"active": True}, "#/active"),
    ({"completenessScore": 100}, "#/completenessScore"),
    ({"id": "other"}, "#/id"),
    ({"createdAt": "2020-01-01T00:00:00Z"}, "#/createdAt"),
    ({"valueRenames": [{"levelId": "x"}]}, "#/valueRenames/0/attributeId"),
    ({"valueRenames": [{}] * 1_001}, "#/valueRenames"),
)


@pytest.mark.parametrize(("wrong", "pointer"), UNSOUND_STRUCTURES, ids=[place for _, place in UNSOUND_STRUCTURES])
def test_fields_of_another_kind_or_name_are_refused(admin: ApiClient, wrong: dict[str, Any], pointer: str) -> None:
    _make(admin, "Outdoor")
    answer = _save(admin, EXAMPLE | {"revision": 1} | wrong)
    assert answer.status_code == 400
    assert pointer in [error["pointer"] for error in answer.json["errors"]]
    assert admin.call("GET", f"{TAXONOMIES}/outdoor").json["taxonomy"]["revision"] == 1


@pytest.mark.parametrize(("sent", "code"), [(None, "required"), ("yes", "invalid")])
def test_null_is_no_value_of_another_kind(admin: ApiClient, sent: object, code: str) -> None:
    answer = admin.call("POST", TAXONOMIES, {"name": "Outdoor", "sample": sent})
    assert [(error["pointer"], error["code"]) for error in answer.json["errors"]] == [("#/sample", code)]


def test_a_large_tree_is_let_in_and_a_huge_one_is_not(app: Flask, admin: ApiClient) -> None:
    _make(admin, "Outdoor")
    levels = [{"levelId": f"level-{n}", "name": f"Level {n}", "description": "x" * 1_500} for n in range(500)]
    assert _save(admin, {"revision": 1, "name": "Outdoor", "rootLevels": levels}).status_code == 200
    huge = _save(admin, {"revision": 2, "name": "Outdoor", "rootLevels": [], "note": "x" * 9 * 1024 * 1024})
    assert (huge.status_code, huge.content_type) == (413, "application/problem+json")
    assert admin.call("POST", TAXONOMIES, {"name": "x" * 300_000}).status_code == 413


def test_the_first_activation_needs_no_name_and_a_switch_needs_it_to_the_letter(
    app: Flask, admin, site_id: int
) -> None:
    _make(admin, "Outdoor")
    _make(admin, "Indoor")
    first = admin.call("POST", f"{TAXONOMIES}/outdoor/activate")
    assert _fits(ActivatedShape, first)
    assert first.json == {"id": "outdoor", "active": True, "switched": False}
    for wrong in ("", "indoor", "Indoor ", "Ιndoor", None, ["Indoor"], 1, {"x": 1}):
        assert admin.call("POST", f"{TAXONOMIES}/indoor/activate", {"confirmName": wrong}).status_code == 400, wrong
    assert admin.call("POST", f"{TAXONOMIES}/indoor/activate").status_code == 400
    with app.app_context():
        assert active_id(site_id) == "outdoor"
    switched = admin.call("POST", f"{TAXONOMIES}/indoor/activate", {"confirmName": "Indoor"})
    assert switched.json == {"id": "indoor", "active": True, "switched": True}


def test_without_the_plan_nothing_is_activated(app: Flask, admin: ApiClient, site_id: int) -> None:
    _make(admin, "Outdoor")
    with app.app_context(), transaction():
        db.session.execute(update(Site).where(Site.id == site_id).values(capabilities=[]))
    answer = admin.call("POST", f"{TAXONOMIES}/outdoor/activate")
    assert (answer.status_code, answer.json["code"]) == (403, "forbidden")
    with app.app_context():
        assert active_id(site_id) is None


def test_the_active_taxonomy_cannot_be_deleted_and_others_can(admin: ApiClient) -> None:
    _make(admin, "Outdoor")
    _make(admin, "Indoor")
    admin.call("POST", f"{TAXONOMIES}/outdoor/activate")
    refused = admin.call("DELETE", f"{TAXONOMIES}/outdoor")
    assert (refused.status_code, refused.json["code"]) == (409, "conflict")
    gone = admin.call("DELETE", f"{TAXONOMIES}/indoor")
    assert (gone.status_code, gone.data) == (204, b"")
    assert admin.call("GET", f"{TAXONOMIES}/indoor").status_code == 404


def test_merchandisers_neither_delete_nor_activate(signed_in) -> None:
    merchandiser = signed_in()
    _make(merchandiser, "Outdoor")
    for method, path in (("DELETE", "outdoor"), ("POST", "outdoor/activate")):
        answer = merchandiser.call(method, f"{TAXONOMIES}/{path}")
        assert (answer.status_code, answer.json["code"]) == (403, "forbidden")


def test_more_taxonomies_take_no_more_queries(app: Flask, admin: ApiClient) -> None:
    _make(admin, "Outdoor")
    few = _queries(app, admin)
    for number in range(10):
        _make(admin, f"Further {number}")
    assert len(_queries(app, admin)) == len(few), few
    assert len(few) <= 6, few  # Two of them tell who calls.


def test_a_token_for_a_till_manages_nothing(signed_in) -> None:
    assert signed_in(Role.ADMIN, audience="pos").call("GET", TAXONOMIES).status_code == 403


def _queries(app: Flask, program: ApiClient) -> list[str]:
    with statements(app) as seen:
        assert program.call("GET", TAXONOMIES).status_code == 200
    return seen


def _make(program: ApiClient, name: str, **more: object) -> TestResponse:
    return program.call("POST", TAXONOMIES, {"name": name} | more)


def _save(program: ApiClient, body: dict[str, Any]) -> TestResponse:
    return program.call("PUT", f"{TAXONOMIES}/outdoor/structure", body)


def _fits(shape, answer: TestResponse) -> bool:
    """What is answered is what is described, and nothing else."""
    problems = shape().validate(answer.json)
    assert problems == {}
    return True

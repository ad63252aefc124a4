"""Search rules as JSON."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_rule, make_site

LIST = "/admin/search/ranking"
REST = f"{LIST}/rest"
RULE = {
    "term": "Rain  Coat",
    "pins": [{"sku": "COAT-1", "position": 2}],
    "banner": {"text": "Dry feet", "linkUrl": "/search?q=boots"},
    "startsAt": "2026-11-20T21:04:05Z",
}


@pytest.fixture
def client(app: Flask, site_id: int, signed_in) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    with app.app_context(), transaction():
        make_product(db.session.get(Site, site_id), "COAT-1")
    return signed_in().client


def test_a_rule_is_added_listed_changed_and_deleted(client: FlaskClient):
    made = client.post(REST, json=RULE)
    assert made.status_code == 201
    known = {name: made.json[name] for name in made.json if name not in ("id", "updatedAt")}
    assert known == {
        "term": "Rain Coat",
        "normalizedTerm": "rain coat",
        "pins": [{"sku": "COAT-1", "position": 2}],
        "boosts": [],
        "buries": [],
        "redirectUrl": None,
        "banner": {"text": "Dry feet", "linkUrl": "/search?q=boots"},
        "enabled": True,
        "startsAt": "2026-11-20T21:04:05Z",
        "endsAt": None,
        "note": "",
        "match": "exact",
        "otherTerms": [],
        "levels": [],
        "categories": [],
        "priority": 100,
        "boostGroups": [],
        "buryGroups": [],
        "revision": 1,
        "synced": True,
        "updatedBy": "The Merchandiser",
    }
    assert client.get(made.location).json == made.json
    listed = client.get(f"{LIST}?pageSize=1", headers={"Accept": "application/json"})
    assert listed.json == {"items": [made.json], "pageNumber": 1, "pageSize": 1, "totalItems": 1, "totalPages": 1}
    changed = client.put(made.location, json=made.json | {"enabled": False})
    assert (changed.status_code, changed.json["revision"], changed.json["enabled"]) == (200, 2, False)
    stale = client.put(made.location, json=made.json | {"note": "mine"})
    assert (stale.status_code, stale.json["currentRevision"]) == (409, 2)
    assert client.delete(made.location, json={"revision": 1}).status_code == 409
    assert client.delete(f"{made.location}?revision=2").status_code == 204
    assert client.get(made.location).status_code == 404


def test_every_problem_is_told_with_its_place(client: FlaskClient):
    answer = client.post(REST, json={"term": "", "pins": [{"sku": "NO", "position": 0}], "redirectUrl": "//evil"})
    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert [problem["pointer"] for problem in answer.json["errors"]] == [
        "#/term",
        "#/pins/0/position",
        "#/pins/0/sku",
        "#/redirectUrl",
    ]


@pytest.mark.parametrize(
    "body", [[], "x", {"term": "a", "colour": 1}, {"term": 3}, {"term": "a", "pins": [{"sku": 1}]}]
)
def test_what_is_no_rule_is_refused(client: FlaskClient, body: object):
    answer = client.post(REST, json=body)
    assert answer.status_code == 400 and answer.json["errors"]


def test_a_change_needs_the_revision_that_it_is_based_on(client: FlaskClient):
    made = client.post(REST, json=RULE)
    assert client.put(made.location, json=RULE).json["errors"][0]["pointer"] == "#/revision"
    assert client.delete(made.location).json["errors"][0]["pointer"] == "#/revision"


def test_another_shops_rule_is_not_found_before_anything_is_read(app: Flask, client: FlaskClient):
    with app.app_context(), transaction():
        theirs = make_rule(make_site("other.test")).id
    for answer in (
        client.get(f"{REST}/{theirs}"),
        client.put(f"{REST}/{theirs}", json=RULE | {"revision": 1}),
        client.delete(f"{REST}/{theirs}", json={"revision": 1}),
        client.put(f"{REST}/{theirs}", data="nonsense"),
    ):
        assert (answer.status_code, answer.content_type) == (404, "application/problem+json")

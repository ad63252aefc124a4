"""The Search section's JSON endpoints."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.adapters.null_engine import NullEngine
from app.domain.search.models import RebuildRun
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.factories import make_run, make_site
from tests.fakes.clock import StoppedClock

REINDEX = "/admin/search/rest/reindex"


@pytest.fixture
def client(app: Flask, signed_in) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return signed_in().client


def test_status_before_anything_was_built(client: FlaskClient) -> None:
    answer = client.get("/admin/search/rest/status")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json["engine"]["state"] == "UNREACHABLE"
    assert answer.json["engine"]["error"]
    known = {name: answer.json[name] for name in answer.json if name != "engine"}
    assert known == {
        "productsIndexed": None,
        "pagesIndexed": None,
        "contentSearch": True,
        "searchesToday": 0,
        "latestRun": None,
    }


def test_a_new_run_is_202_and_can_be_polled_at_its_location(client: FlaskClient) -> None:
    answer = _search(client, "PRODUCTS")
    assert (answer.status_code, answer.json["state"], answer.json["joined"]) == (202, "waiting", False)
    assert answer.location == f"{REINDEX}/{answer.json['runId']}"
    polled = client.get(answer.location)
    assert polled.json == answer.json
    assert polled.headers["Cache-Control"] == "no-store"


def test_a_joined_run_is_200_with_its_own_scope(client: FlaskClient, clock: StoppedClock) -> None:
    first = _search(client, "PRODUCTS")
    clock.move(minutes=29, seconds=59)
    second = _search(client, "ALL")
    assert second.status_code == 200
    assert second.json == first.json | {"joined": True, "queuedScope": "CONTENT"}
    assert client.get(first.location).json == first.json | {"queuedScope": "CONTENT"}
    assert _search(client, "PRODUCTS").json["joined"]


def test_after_half_an_hour_a_new_run_starts_and_the_old_one_failed(client: FlaskClient, clock: StoppedClock) -> None:
    first = _search(client, "ALL")
    clock.move(minutes=30, seconds=1)
    assert _search(client, "ALL").status_code == 202
    old = client.get(first.location).json
    assert (old["state"], old["outcome"]) == ("failed", "failed")
    assert old["error"]


def test_the_older_address_means_everything(client: FlaskClient) -> None:
    answer = client.post("/admin/merchandising/rest/reindex")
    assert (answer.status_code, answer.json["scope"]) == (202, "ALL")


def test_without_an_engine_it_is_409(app: Flask, client: FlaskClient) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    refused = _search(client, "ALL")
    assert refused.status_code == 409 and "Set SEARCH_ENGINE=whoosh" in refused.json["detail"]
    assert client.post("/admin/merchandising/rest/reindex").status_code == 409
    assert client.get("/admin/search/rest/status").json["engine"] == {"state": "NOT_SET_UP", "error": None}


def test_content_alone_needs_content_search(app: Flask, client: FlaskClient, site_id: int) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-content-enabled": False})
    answer = _search(client, "CONTENT")
    assert (answer.status_code, answer.json["code"]) == (409, "conflict")
    assert "Switch on “Find pages and collections too” in Search settings" in answer.json["detail"]
    assert _search(client, "ALL").status_code == 202


UNSOUND = (
    ({}, "#/scope"),
    ({"scope": None}, "#/scope"),
    ({"scope": 1}, "#/scope"),
    ({"scope": ["ALL"]}, "#/scope"),
    ({"scope": "all"}, "#/scope"),
    ({"scope": "ALL" * 1_000}, "#/scope"),
    ({"scope": "ALL", "siteId": 2}, "#/siteId"),
    ({"scope": "ALL", "a/b~c": 2}, "#/a~1b~0c"),
    (["ALL"], "#"),
    ("ALL", "#"),
)


def test_what_is_no_sound_request_is_400_with_its_place(app: Flask, client: FlaskClient) -> None:
    for body, pointer in UNSOUND:
        answer = client.post(REINDEX, json=body)
        assert answer.status_code == 400, body
        assert answer.content_type == "application/problem+json"
        assert [error["pointer"] for error in answer.json["errors"]] == [pointer]
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(RebuildRun)) == 0


def test_unsound_json_starts_nothing(client: FlaskClient) -> None:
    for data in (b'{"scope": "ALL", "scope": "PRODUCTS"}', b'{"scope": NaN}', b"{", b"[" * 100):
        assert client.post(REINDEX, data=data, content_type="application/json").status_code == 400, data


def test_a_form_in_disguise_is_not_json(client: FlaskClient) -> None:
    answer = client.post(REINDEX, data=b'{"scope": "ALL"}', content_type="text/plain")
    assert answer.status_code == 415


def test_another_shops_run_is_not_found(app: Flask, client: FlaskClient) -> None:
    with app.app_context(), transaction():
        run_id = make_run(make_site("other.localhost", "Other")).id
    answer = client.get(f"{REINDEX}/{run_id}")
    assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def test_a_hundred_requests_make_one_run(app: Flask, client: FlaskClient) -> None:
    statuses = [_search(client, "ALL").status_code for _ in range(100)]
    assert statuses == [202] + [200] * 99


def _search(client: FlaskClient, scope: str) -> TestResponse:
    return client.post(REINDEX, json={"scope": scope})

"""Parameters of addresses: /v1 refuses those that it does not know, as it refuses fields of a body."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.domain.orders.models import Order
from app.extensions import db
from tests.architecture.role_matrix import Principal
from tests.architecture.shop_for_routes import Shops
from tests.blueprints.v1.conftest import LOGOUT, REFRESH, WEBHOOK, ApiClient, Signed
from tests.blueprints.v1.test_against_description import OPERATIONS, _bearer, _known, shops

__all__ = ["shops"]
IGNORES = {"logout", "receiveProcessorEvent"}  # A page that closes, and the processor at an address of the owner's.


def call(app: Flask, shops: Shops, name: str, principal: Principal, **query: Any) -> TestResponse:
    operation, known = OPERATIONS[name], _known(app, shops)
    path = operation.path.format(**known)
    headers = _bearer(app, name, principal, known)
    return app.test_client().open(path, method=operation.method.upper(), query_string=query, headers=headers)


@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - IGNORES))
def test_an_unknown_parameter_is_refused_by_its_name(app: Flask, shops: Shops, name: str) -> None:
    answers = [
        call(app, shops, name, principal, utm_source="a", **{"a/b": ""})
        for principal in (Principal.ADMIN, Principal.POS_AGENT)
    ]
    refused = [answer for answer in answers if answer.status_code != 403]
    assert refused, [answer.text for answer in answers]
    for answer in refused:
        assert (answer.status_code, answer.mimetype) == (400, "application/problem+json"), answer.text
        assert answer.json["code"] == "invalid"
        problems = {(one["code"], one["pointer"]) for one in answer.json["errors"]}
        assert problems == {("unknown_parameter", "#/utm_source"), ("unknown_parameter", "#/a~1b")}
        assert "There is no parameter “utm_source” here." in {one["message"] for one in answer.json["errors"]}


@pytest.mark.parametrize("name", sorted(IGNORES))
def test_signing_out_and_what_the_processor_sends_pass_parameters_over(app: Flask, shops: Shops, name: str) -> None:
    answer = call(app, shops, name, Principal.ADMIN, utm_source="a")
    assert answer.status_code == 204 or answer.json["code"] == "bad_signature"


def test_it_is_refused_after_the_caller_is_known_and_before_anything_is_done(app: Flask, shops: Shops) -> None:
    stranger = ApiClient(app.test_client())
    for path in ("/v1/pos/locations", "/v1/admin/taxonomies", "/v1/basket/x"):
        assert stranger.call("GET", path, query_string={"a": 1}).status_code == 401
    with app.app_context():
        before = db.session.scalar(select(func.count()).select_from(Order))
    assert call(app, shops, "createBasket", Principal.POS_AGENT, a="1").status_code == 400
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(Order)) == before


def test_all_that_is_wrong_with_the_parameters_is_said_at_once(signed_in: Signed) -> None:
    answer = signed_in().call("GET", "/v1/admin/taxonomies", query_string={"pageSize": "many", "page": 1})
    assert answer.status_code == 400
    assert {one["pointer"] for one in answer.json["errors"]} == {"#/pageSize", "#/page"}


def test_a_spelling_of_a_parameter_that_is_not_its_own_is_unknown(stranger: ApiClient) -> None:
    assert stranger.call("GET", "/v1/product", query_string={"pageSize": 1, "q": ""}).status_code == 200
    for name in ("page_size", "pagesize", "PageSize", "pageSize[]"):
        answer = stranger.call("GET", "/v1/product", query_string={name: 1})
        assert answer.status_code == 400, name


def test_tokens_are_not_issued_at_an_address_with_further_parameters(stranger: ApiClient) -> None:
    assert stranger.call("POST", REFRESH, {"refreshToken": "x"}, query_string={"a": 1}).status_code == 400
    assert stranger.call("POST", LOGOUT, query_string={"a": 1}).status_code == 204
    assert stranger.call("POST", WEBHOOK, query_string={"a": 1}).json["code"] == "bad_signature"

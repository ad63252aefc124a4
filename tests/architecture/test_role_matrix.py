"""Every route declares who may call it, and lets in nobody else."""

from __future__ import annotations

import hashlib

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.extensions import db
from app.web.permissions import DECLARED, Permission
from tests.architecture.role_matrix import MATRIX, OPEN_TO_PROGRAMS, Principal
from tests.architecture.shop_for_routes import (
    COMMON,
    WITHOUT_TOKEN,
    Shops,
    address,
    bearer_of,
    build_shops,
    client_of,
    names_a_record,
    routes,
)
from tests.snapshots import built

Row = tuple[str, str]
FROM_HERE = {"Sec-Fetch-Site": "same-origin"}  # As a browser says it of the forms of a page.


@pytest.fixture
def shops(app: Flask) -> Shops:
    app.config["WTF_CSRF_ENABLED"] = False
    return built(app, build_shops)


def test_every_route_has_a_row_and_every_row_a_route(app: Flask) -> None:
    found = set(routes(app))
    assert found - MATRIX.keys() == set(), "give each of these routes a row in tests/architecture/role_matrix.py"
    assert MATRIX.keys() - found == set(), "these rows have no route any more"


def test_whatever_names_a_taxonomy_asks_for_the_permission_to_manage_taxonomies(app: Flask) -> None:
    """Roles have that of the catalogue with it today; nothing else says that they always will."""
    declared = {
        rule.rule: getattr(app.view_functions[rule.endpoint], DECLARED)
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/admin/catalogue/taxonomy/") and "<taxonomy_id>" in rule.rule
    }
    rebuild = "/admin/catalogue/taxonomy/<taxonomy_id>/rebuild"
    assert declared.pop(rebuild) == Permission.MANAGE_SEARCH, "what it starts is a rebuild as any other"
    assert set(declared.values()) == {Permission.MANAGE_TAXONOMY, Permission.ACTIVATE_TAXONOMY}


@pytest.mark.parametrize("principal", Principal)
def test_a_route_lets_in_whom_its_row_names_and_nobody_else(app: Flask, shops: Shops, principal: Principal) -> None:
    client, bearer = client_of(app, principal), bearer_of(app, principal)
    wrong = []
    for method, rule in routes(app):
        headers = bearer if rule.startswith("/v1/") else FROM_HERE
        answer = client.open(address(rule, shops.own), method=method, headers=headers, buffered=True)
        if not _is_right(principal, (method, rule), answer):
            wrong.append(f"{principal} {method} {rule}: {answer.status_code}")
    assert wrong == []


@pytest.mark.parametrize("principal", (Principal.MERCHANDISER, Principal.ADMIN, Principal.SUPERADMIN))
def test_another_shops_records_are_not_found(app: Flask, shops: Shops, principal: Principal) -> None:
    client, bearer = client_of(app, principal), bearer_of(app, principal)
    before = _digest(app, shops)
    wrong = []
    for method, rule in routes(app):
        if rule.startswith(("/admin", "/v1/")) and names_a_record(rule) and principal in MATRIX[method, rule]:
            sent = (
                {"data": _form(method, shops)}
                if rule.startswith("/admin")
                else {"headers": bearer} | _json(rule, shops)
            )
            answer = client.open(address(rule, shops.other), method=method, buffered=True, **sent)
            if answer.status_code != 404:
                wrong.append(f"{method} {rule}: {answer.status_code}")
    assert wrong == []
    assert _digest(app, shops) == before


@pytest.mark.parametrize("number", ("2147483648", "9223372036854775808", "1" + "0" * 30))
def test_a_number_that_no_database_holds_is_not_found(app: Flask, shops: Shops, number: str) -> None:
    client, bearer = client_of(app, Principal.SUPERADMIN), bearer_of(app, Principal.SUPERADMIN)
    ids = dict.fromkeys((*COMMON, *shops.own), number)
    request = "&".join(f"{name}={number}" for name in ("p", "pageNumber", "pageSize", "product", "revision", "days"))
    wrong = []
    for method, rule in routes(app):
        if "<" in rule:
            headers = bearer if rule.startswith("/v1/") else FROM_HERE
            path, form = f"{address(rule, ids)}?{request}", {"revision": number} if method == "POST" else {}
            answer = client.open(path, method=method, headers=headers, data=form, buffered=True)
            if answer.status_code >= 500 or (names_a_record(rule) and answer.status_code < 400):
                wrong.append(f"{method} {rule}: {answer.status_code}")
    assert wrong == []


@pytest.mark.parametrize("principal", (Principal.ADMIN, Principal.SUPERADMIN))
def test_a_session_in_a_browser_counts_for_nothing_where_programs_call(
    app: Flask, shops: Shops, principal: Principal
) -> None:
    client = client_of(app, principal)
    guarded = [pair for pair in routes(app) if pair[1].startswith("/v1/") and pair not in OPEN_TO_PROGRAMS]
    assert guarded
    answers = {pair: client.open(address(pair[1], shops.own), method=pair[0]).status_code for pair in guarded}
    assert set(answers.values()) == {401}


def _json(rule: str, shops: Shops) -> dict[str, object]:
    """A sound body for the routes that look at it before their record."""
    if rule.endswith("/landing-rules"):
        return {"json": {"rules": []}}
    if rule == "/v1/basket/<basket_id>/paymentIntent":
        return {"json": {"locationId": shops.own["location_id"]}}
    if rule == "/v1/pos/sessions/<session_id>/close":
        return {"json": {"countedCash": 0}}
    if rule == "/v1/basket/<basket_id>":
        return {"json": {"lines": [], "revision": 1}}
    return {"json": {"revision": 1, "name": "Theirs", "rootLevels": []}} if rule.endswith("/structure") else {}


def _form(method: str, shops: Shops) -> dict[str, str]:
    """What a form must hold to get as far as looking for its record."""
    return {"category": shops.own["node_id"]} if method == "POST" else {}


def _is_right(principal: Principal, row: Row, answer: TestResponse) -> bool:
    refused = answer.status_code in (401, 403) or (answer.location is not None and "/admin/login" in answer.location)
    # The first leads to sign-in for all, the others have tokens of their own.
    if row[1] in ("/admin/logout", "/metrics", "/v1/pos/simulator/paymentIntents/<payment_intent_id>/present"):
        return answer.status_code in (302, 401, 404)
    if principal in MATRIX[row]:
        return not refused and (answer.status_code < 500 or row[1] in ("/readyz", "/search", "/sitemap.xml"))
    if principal is Principal.ANYBODY or (row[1].startswith("/v1/") and principal in WITHOUT_TOKEN):
        return refused and answer.status_code in (302, 401)
    return answer.status_code == 403


def _digest(app: Flask, shops: Shops) -> str:
    """Of everything that the other shop owns."""
    digest = hashlib.sha256()
    with app.app_context():
        for table in db.metadata.sorted_tables:
            if "site_id" in table.columns:
                owned = select(table).where(table.c.site_id == int(shops.other["site_id"]))
                digest.update(repr(sorted(map(repr, db.session.execute(owned)))).encode())
    return digest.hexdigest()

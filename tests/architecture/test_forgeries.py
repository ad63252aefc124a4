"""Nothing changes for a request that did not come from a page of this admin, and every page forbids what it can."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import event
from werkzeug.test import TestResponse

from app.blueprints.admin.emails import PREVIEW_POLICY
from app.extensions import db
from app.web.guards import POLICY
from tests.architecture.role_matrix import OPEN, OPEN_TO_PROGRAMS, Principal
from tests.architecture.shop_for_routes import Shops, address, build_shops, client_of, routes
from tests.page_client import check_page
from tests.snapshots import built

FORGERIES: dict[str, dict[str, str]] = {
    "no token": {},
    "a made-up token": {"X-CSRFToken": "made-up"},
    "from another site": {"Sec-Fetch-Site": "cross-site", "X-CSRFToken": "{token}"},
    "from a sister site": {"Sec-Fetch-Site": "same-site", "X-CSRFToken": "{token}"},
    "an old browser at another site": {"Origin": "https://evil.example", "X-CSRFToken": "{token}"},
    "from nowhere": {"Origin": "null", "X-CSRFToken": "{token}"},
    "JSON as text": {"Content-Type": "text/plain"},
}


# Forgeries that say nothing of another site: no browser sends them, and in the shop there is no session to abuse.
ONLY_WITH_A_SESSION = ("no token", "a made-up token", "JSON as text")
SHOPPERS_ROUTES = ("/basket", "/basket/lines/<line_id>", "/checkout", "/orders/find", "/theme-preview/end")
# A mail is shown in a frame, as a document that runs nothing and has its styles at each element, as mails must.
SHOWS_A_MAIL, MAIL = "/admin/settings/emails", "/admin/settings/emails/<mail_kind>/preview"
POLICIES = {SHOWS_A_MAIL: f"{POLICY}; frame-src 'self'", MAIL: PREVIEW_POLICY}


@pytest.fixture
def shops(app: Flask) -> Shops:
    app.config["WTF_CSRF_ENABLED"] = False
    return built(app, build_shops)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_no_unsafe_route_takes_a_forged_request(app: Flask, shops: Shops, forgery: str) -> None:
    client = client_of(app, Principal.SUPERADMIN)
    token = client.get("/admin/password").text.split('name="csrf_token" value="')[1].split('"')[0]
    app.config["WTF_CSRF_ENABLED"] = True
    headers = {name: value.format(token=token) for name, value in FORGERIES[forgery].items()}
    writes = _watch_writes(app)
    answers = [
        (rule, client.open(address(rule, shops.own), method=method, headers=headers, data=b'{"scope": "ALL"}'))
        for method, rule in routes(app)
        if method not in ("GET", "HEAD") and not (rule in SHOPPERS_ROUTES and forgery in ONLY_WITH_A_SESSION)
    ]
    assert [(rule, answer.status_code) for rule, answer in answers if not _is_refused(rule, answer)] == []
    assert writes == []


SHOPPERS_POSTS = ("/basket", "/basket/lines/1", "/checkout", "/orders/find", "/theme-preview/end")


@pytest.mark.parametrize("path", SHOPPERS_POSTS)
def test_the_shops_own_forms_carry_no_token_but_may_not_come_from_elsewhere(
    app: Flask, shops: Shops, path: str
) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    client = app.test_client()
    refused: list[dict[str, str]] = [
        {"Origin": "null"},
        {"Referer": "https://evil.example/"},
        {"Origin": "https://evil.example", "Referer": "http://localhost/"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    ]
    taken: list[dict[str, str]] = [
        {},
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://localhost"},
        {"Referer": "http://localhost/p/x"},
    ]
    assert {client.post(path, headers=headers).status_code for headers in refused} == {403}
    assert 403 not in {client.post(path, headers=headers).status_code for headers in taken}


def test_every_page_forbids_scripts_frames_and_guesses(app: Flask, shops: Shops) -> None:
    client = client_of(app, Principal.SUPERADMIN)
    for method, rule in routes(app):
        if method == "GET":
            _check_headers(rule, client.get(address(rule, shops.own), buffered=True))


def test_every_page_of_the_admin_is_sound(app: Flask, shops: Shops) -> None:
    client = client_of(app, Principal.SUPERADMIN)
    pages = [
        (rule, client.get(address(rule, shops.own), buffered=True))
        for method, rule in routes(app)
        if _is_admin_page(method, rule)
    ]
    whole = [(rule, page.text) for rule, page in pages if "<!doctype" in page.text]
    assert len(whole) >= 15
    for rule, html in whole:
        try:
            check_page(html)
        except AssertionError as wrong:
            raise AssertionError(f"{rule}: {wrong}") from wrong


def _is_refused(rule: str, answer: TestResponse) -> bool:
    """Where programs call, a browser's session is none, so there is nothing to forge; and this body fits nowhere but
    where any ends well, and ends nothing."""
    if rule.startswith("/v1/"):
        return answer.status_code in (400, 401, 415) or rule == "/v1/auth/logout"
    return answer.status_code == 403


def _is_admin_page(method: str, rule: str) -> bool:
    return method == "GET" and rule.startswith("/admin") and rule not in ("/admin/login", MAIL)


def _check_headers(rule: str, answer: TestResponse) -> None:
    if answer.mimetype != "text/html":
        assert answer.headers["X-Content-Type-Options"] == "nosniff", rule
        return
    assert answer.headers["Content-Security-Policy"] == POLICIES.get(rule, POLICY), rule
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin", rule
    if rule.startswith("/admin"):
        assert answer.headers["Cache-Control"] == "no-store", rule
    assert (" style=" not in answer.text or rule == MAIL) and " onclick=" not in answer.text, rule
    assert ("GET", rule) in OPEN | OPEN_TO_PROGRAMS or rule.startswith("/admin")


def _watch_writes(app: Flask) -> list[str]:
    statements: list[str] = []

    def note(_connection, _cursor, statement: str, *_more: object) -> None:
        if statement.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")):
            statements.append(statement)

    with app.app_context():
        event.listen(db.engine, "before_cursor_execute", note)
    return statements

"""Signing in for a token, exchanging it, signing out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app import ports
from app.domain.shared.author import Author
from app.domain.sites import accounts, personal_tokens
from app.domain.sites.accounts import DEMO_PASSWORD, Role
from app.domain.sites.models import ApiSession, AuditEntry, Domain, SignInFailure
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.conftest import LOGIN, LOGOUT, REFRESH, ApiClient
from tests.factories import PASSWORD, make_site
from tests.fakes.clock import StoppedClock

ADMIN = "admin@shop.test"


def test_signing_in_tells_all_that_a_program_needs(stranger: ApiClient, site_id: int) -> None:
    answer = stranger.sign_in(ADMIN)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    body = answer.json
    assert list(body) == [
        "token",
        "tokenType",
        "expiresIn",
        "expiresAt",
        "refreshToken",
        "endToken",
        "sessionId",
        "sessionExpiresAt",
        "user",
        "agent",
        "locations",
        "deviceToken",
    ]
    assert (body["tokenType"], body["expiresIn"]) == ("Bearer", 900)
    assert (body["expiresAt"], body["sessionExpiresAt"]) == ("2026-11-20T12:15:00Z", "2026-11-21T12:00:00Z")
    assert body["user"]["email"] == ADMIN
    assert body["user"]["roles"] == ["ADMIN"]
    assert isinstance(body["user"]["id"], str)
    assert (body["agent"], body["locations"]) == (None, [])


@pytest.mark.parametrize(
    ("email", "password"), [(ADMIN, "wrong"), ("who@shop.test", PASSWORD), ("", ""), ("no address", PASSWORD)]
)
def test_every_wrong_credential_sounds_the_same(stranger: ApiClient, email: str, password: str) -> None:
    answer = stranger.sign_in(email, password)
    assert answer.status_code == 401
    assert answer.content_type == "application/problem+json"
    assert (answer.json["code"], answer.json["detail"]) == ("invalid_credentials", accounts.WRONG)
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="shop"'
    assert answer.headers["Cache-Control"] == "no-store"


def test_wrong_passwords_here_and_in_a_browser_count_together(app: Flask, stranger: ApiClient) -> None:
    app.config["WTF_CSRF_ENABLED"] = False
    for _ in range(3):
        assert stranger.sign_in(ADMIN, "wrong").status_code == 401
    for _ in range(2):
        assert stranger.client.post("/admin/login", data={"email": ADMIN, "password": "wrong"}).status_code == 400
    answer = stranger.sign_in(ADMIN)
    assert (answer.status_code, answer.json["code"]) == (429, "rate_limited")
    assert answer.headers["Retry-After"] == "2"
    assert stranger.sign_in("merchandiser@shop.test").status_code == 200


def test_the_demo_password_is_refused_in_production(app: Flask, stranger: ApiClient) -> None:
    with app.app_context(), transaction():
        accounts.set_password(8, accounts.get_user(ADMIN), DEMO_PASSWORD)
    app.config["SHOP"] = replace(app.config["SHOP"], environment="production")
    assert stranger.sign_in(ADMIN, DEMO_PASSWORD).status_code == 401


def test_a_host_without_a_shop_signs_nobody_in(stranger: ApiClient) -> None:
    stranger.host = "evil.example"
    assert stranger.sign_in(ADMIN).status_code == 404


def test_a_till_wants_a_role_for_it(stranger: ApiClient) -> None:
    answer = stranger.sign_in("merchandiser@shop.test", audience="pos")
    assert (answer.status_code, answer.json["code"]) == (403, "pos_role_required")
    assert answer.json["missingRoles"] == ["POS_AGENT", "ADMIN", "SUPERADMIN"]
    assert "POS_AGENT, ADMIN or SUPERADMIN" in answer.json["detail"]
    assert stranger.sign_in("nobody@shop.test", audience="pos").json["missingRoles"]
    wrong = stranger.sign_in("merchandiser@shop.test", "wrong", audience="pos")
    assert (wrong.status_code, "missingRoles" in wrong.json) == (401, False), "roles are nobody else's business"
    for role in ("pos_agent", "admin", "superadmin"):
        assert stranger.sign_in(f"{role}@shop.test", audience="pos").status_code == 200


UNSOUND_LOGINS = (
    ({}, {"#/email": "required", "#/password": "required"}),
    ({"email": None, "password": 1}, {"#/email": "required", "#/password": "invalid"}),
    ({"email": ADMIN, "password": PASSWORD, "siteId": 2}, {"#/siteId": "unknown_field"}),
    ({"email": ADMIN, "password": PASSWORD, "a/b~c": 2}, {"#/a~1b~0c": "unknown_field"}),
    ({"email": ADMIN, "password": PASSWORD, "deviceId": "x\ny"}, {"#/deviceId": "invalid"}),
    ({"email": ADMIN, "password": PASSWORD, "deviceName": "x" * 101}, {"#/deviceName": "invalid"}),
    ({"email": ADMIN, "password": PASSWORD, "audience": "admin"}, {"#/audience": "invalid"}),
    ({"email": "x" * 255, "password": "x" * 201}, {"#/email": "invalid", "#/password": "invalid"}),
    ([], {"#": "not_an_object"}),
    ("x", {"#": "not_an_object"}),
)


def test_every_problem_of_a_body_is_told_with_its_place(app: Flask, stranger: ApiClient) -> None:
    for body, problems in UNSOUND_LOGINS:
        answer = stranger.call("POST", LOGIN, body)
        assert answer.status_code == 400, body
        assert {error["pointer"]: error["code"] for error in answer.json["errors"]} == problems
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(ApiSession)) == 0
        assert db.session.scalar(select(func.count()).select_from(SignInFailure)) == 0


UNSOUND_JSON = (b'{"email": 1, "email": 2}', b"{", b"[" * 5_000, b'{"email": NaN}', b'{"email": "\\ud800"}', b"\xff")


def test_unsound_json_is_refused(stranger: ApiClient) -> None:
    for path in (LOGIN, REFRESH):
        for data in UNSOUND_JSON:
            answer = stranger.client.post(path, data=data, content_type="application/json")
            assert (answer.status_code, answer.json["code"]) == (400, "bad_request"), data
        assert stranger.client.post(path, data=b"{}", content_type="text/plain").status_code == 415
        assert stranger.client.post(path, json={"email": "x" * 300_000}).status_code == 413


def test_a_refresh_gives_a_new_pair_for_the_same_session(signed_in, clock: StoppedClock) -> None:
    program = signed_in()
    before = program.tokens
    clock.move(minutes=14)
    answer = program.refresh()
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    same = ("sessionId", "sessionExpiresAt", "user")
    assert [answer.json[name] for name in same] == [before[name] for name in same]
    assert answer.json["expiresAt"] == "2026-11-20T12:29:00Z"
    assert answer.json["refreshToken"] != before["refreshToken"]
    assert answer.json["token"] != before["token"]


def test_a_spent_refresh_token_ends_the_session(app: Flask, signed_in, clock: StoppedClock) -> None:
    program = signed_in()
    stolen = program.tokens["refreshToken"]
    fresh = program.refresh().json["refreshToken"]
    clock.move(seconds=21)
    assert _refusal(program.refresh(stolen)) == "refresh_reused"
    assert _refusal(program.refresh(fresh)) == "refresh_reused"
    assert _refusal(program.call("GET", "/v1/admin/taxonomies")) == "session_revoked"
    with app.app_context():
        assert db.session.scalar(select(AuditEntry.action)) == "api_session.end"


def test_a_lost_answer_is_given_again_within_twenty_seconds(signed_in, clock: StoppedClock) -> None:
    program = signed_in()
    first = program.refresh().json
    clock.move(seconds=20)
    again = program.refresh()
    assert again.json["refreshToken"] == first["refreshToken"]
    assert program.refresh(first["refreshToken"]).status_code == 200


def test_a_program_asks_for_thirty_tokens_an_hour_at_most(signed_in, clock: StoppedClock) -> None:
    program = signed_in()
    for _ in range(30):
        program.tokens = program.refresh().json
    answer = program.refresh()
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3601")
    clock.move(hours=1)
    assert program.refresh().status_code == 200


def test_a_session_of_a_device_refreshes_only_there(signed_in) -> None:
    program = signed_in(deviceId="till-7")
    forgotten = program.refresh()
    assert (forgotten.status_code, forgotten.json["errors"][0]["pointer"]) == (400, "#/deviceId")
    program.tokens = program.refresh(deviceId="till-7").json
    assert _refusal(program.refresh(deviceId="a thief's")) == "session_revoked"
    assert _refusal(program.refresh(deviceId="till-7")) == "session_revoked"


@pytest.mark.parametrize("end", ["access token", "refresh token", "end token", "access token that is over"])
def test_after_signing_out_no_token_is_good_for_anything(signed_in, clock: StoppedClock, end: str) -> None:
    program = signed_in()
    if end in ("refresh token", "end token"):
        name = "refreshToken" if end == "refresh token" else "endToken"
        answer = program.client.post(LOGOUT, json={name: program.tokens[name]})
    else:
        clock.move(minutes=16 if end.endswith("over") else 0)
        answer = program.call("POST", LOGOUT, {"reason": "PIN_LOCKOUT"})
    assert (answer.status_code, answer.data) == (204, b"")
    assert _refusal(program.refresh()) == "session_revoked"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        *((data, "application/json") for data in UNSOUND_JSON),
        (b'{"reason": "bye"}', "application/json"),
        (b'{"reason": ["LOGOUT"], "more": 1}', "application/json"),
        (b'{"refreshToken": null}', "application/json"),
        (b'["refreshToken"]', "application/json"),
        (b'{"refreshToken": "%s"}' % (b"x" * 300_000), "application/json"),
        (b"bye", "text/plain"),
        (b"a=b", "application/x-www-form-urlencoded"),
    ],
    ids=lambda part: str(part[:40]),
)
def test_signing_out_ends_the_session_whatever_the_body_is(app: Flask, signed_in, data: bytes, kind: str) -> None:
    program = signed_in()
    bearer = {"Authorization": f"Bearer {program.tokens['token']}"}
    answer = program.client.post(LOGOUT, data=data, content_type=kind, headers=bearer)
    assert (answer.status_code, answer.data) == (204, b"")
    assert _refusal(program.refresh()) == "session_revoked"
    with app.app_context():
        assert db.session.scalar(select(ApiSession.ended_because)) == "LOGOUT"


def test_a_page_that_is_closed_can_still_sign_out(signed_in) -> None:
    program = signed_in()
    body = json.dumps({"refreshToken": program.tokens["refreshToken"], "reason": "PIN_LOCKOUT"})
    assert program.client.post(LOGOUT, data=body, content_type="text/plain").status_code == 204
    assert _refusal(program.refresh()) == "session_revoked"


def test_an_end_token_opens_nothing(signed_in) -> None:
    program = signed_in()
    end_token = program.tokens["endToken"]
    assert program.call("GET", "/v1/auth/devices", token=end_token).status_code == 401
    assert _refusal(program.refresh(end_token)) == "token_invalid"
    assert program.refresh().status_code == 200


def test_signing_out_ends_well_whatever_is_sent(app: Flask, signed_in) -> None:
    program = signed_in()
    for token in ("", "nonsense", "a.b.c"):
        assert program.call("POST", LOGOUT, {"refreshToken": "x"}, token=token).status_code == 204
    assert program.client.post(LOGOUT).status_code == 204
    assert program.refresh().status_code == 200


@pytest.mark.parametrize("body", [None, {}, {"refreshToken": "of the session"}])
def test_a_personal_access_token_cannot_be_signed_out(app: Flask, signed_in, site_id: int, body: object) -> None:
    program = signed_in(Role.ADMIN)
    with app.app_context(), transaction():
        author = Author(site_id, "The Admin", ports.clock())
        token = personal_tokens.make_token(author, accounts.get_user(ADMIN).id, "nightly import", 30).text
    if body:
        body = {"refreshToken": program.tokens["refreshToken"]}
    for sent in (token, "shop_pat_of_nobody"):
        answer = program.call("POST", LOGOUT, body, token=sent)
        assert (answer.status_code, answer.json["code"]) == (403, "personal_token")
    assert "ends no session" in answer.json["detail"]
    assert program.call("GET", "/v1/admin/taxonomies", token=token).status_code == 200
    assert program.refresh().status_code == 200


def test_made_up_refresh_tokens_are_refused_and_end_nothing(signed_in) -> None:
    program = signed_in()
    session_id, mine = program.tokens["sessionId"], program.tokens["refreshToken"]
    for token in ("x", session_id, f"{session_id}.{'x' * 43}", f"{mine}x", mine[:-1], mine.upper(), "é" * 80):
        assert _refusal(program.refresh(token)) == "token_invalid", token
    assert program.refresh().status_code == 200


def test_a_refresh_token_of_one_shop_is_none_at_another(app: Flask, signed_in, site_id: int) -> None:
    with app.app_context(), transaction():
        make_site("other.localhost", "Other")
        db.session.add(Domain(site_id=site_id, host="www.localhost", primary=False))
    program = signed_in()
    program.host = "other.localhost"
    assert _refusal(program.refresh()) == "token_invalid"
    program.host = "www.localhost"
    assert program.refresh().status_code == 200


def test_somebody_without_a_role_gets_no_token(app: Flask, stranger: ApiClient) -> None:
    answer = stranger.sign_in("nobody@shop.test")
    assert (answer.status_code, answer.json["code"]) == (403, "role_required")
    with app.app_context():
        assert db.session.scalar(select(func.count()).select_from(ApiSession)) == 0


def test_pages_elsewhere_stay_pages(stranger: ApiClient) -> None:
    assert "<h1" in stranger.client.get("/nothing/here").text
    assert stranger.client.get("/admin/nothing").mimetype == "text/html"
    for path in ("/v1/nothing", "/v1/auth/nothing"):
        answer = stranger.client.get(path, headers={"HX-Request": "true", "Accept": "text/html"})
        assert (answer.status_code, answer.content_type) == (404, "application/problem+json")
    wrong_method = stranger.client.get(LOGIN)
    assert (wrong_method.status_code, wrong_method.json["code"]) == (405, "method_not_allowed")
    assert "POST" in wrong_method.headers["Allow"]


def test_a_session_in_a_browser_opens_nothing_here(app: Flask, signed_in, site_id: int) -> None:
    app.config["WTF_CSRF_ENABLED"] = False
    client = app.test_client()
    client.post("/admin/login", data={"email": ADMIN, "password": PASSWORD})
    assert client.get("/admin/").status_code == 200
    answer = client.post(REFRESH, json={"refreshToken": "x"})
    assert answer.status_code == 401
    assert "Set-Cookie" not in answer.headers


def _refusal(answer: TestResponse) -> str:
    """The code of a 401, which says how to do better."""
    assert answer.status_code == 401, answer.text
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
    assert answer.headers["Cache-Control"] == "no-store"
    code: str = answer.json["code"]
    return code

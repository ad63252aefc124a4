"""Every request keeps to limits, and every answer tells the browser what to forbid."""

import pytest
from flask import Flask, jsonify, request

from app.config import Config
from app.web.errors import init_errors
from app.web.guards import MAX_PARAMETERS, POLICY, init_guards


@pytest.fixture
def guarded():
    app = Flask(__name__)
    init_guards(app, Config(secret_key="k"))
    init_errors(app)
    app.config["MAX_CONTENT_LENGTH"] = 10_000

    @app.route("/rest/echo", methods=["GET", "POST"])
    def echo():
        return jsonify(request.get_json() if request.is_json else request.form or request.args)

    @app.route("/admin/page")
    def page():
        return "<p>page</p>"

    return app.test_client()


def test_every_answer_carries_the_policy(guarded) -> None:
    for path in ("/admin/page", "/rest/echo", "/rest/nothing"):
        headers = guarded.get(path).headers
        assert headers["Content-Security-Policy"] == POLICY
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "Referrer-Policy" in headers


def test_the_policy_allows_no_inline_code_and_no_frames() -> None:
    assert "unsafe" not in POLICY
    for directive in ("script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
        assert directive in POLICY


def test_pages_differ_by_who_asks_and_admin_pages_are_not_kept(guarded) -> None:
    headers = guarded.get("/admin/page").headers
    assert "HX-Request" in headers["Vary"]
    assert headers["Cache-Control"] == "no-store"


def test_production_insists_on_https() -> None:
    app = Flask(__name__)
    init_guards(app, Config(environment="production"))
    assert "Strict-Transport-Security" in app.test_client().get("/").headers


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("&".join(f"a{n}=1" for n in range(MAX_PARAMETERS)), 200),
        ("&".join(f"a{n}=1" for n in range(MAX_PARAMETERS + 1)), 400),
        ("&".join(["a=1"] * (MAX_PARAMETERS + 1)), 400),
        ("n" * 201 + "=1", 400),
        ("a=" + "v" * 9_000, 414),
        ("a=%00", 400),
    ],
)
def test_queries_are_limited(guarded, query: str, status: int) -> None:
    assert guarded.get(f"/rest/echo?{query}").status_code == status


def test_a_large_body_is_refused(guarded) -> None:
    assert guarded.post("/rest/echo", json={"a": "v" * 20_000}).status_code == 413


def test_a_compressed_body_is_refused(guarded) -> None:
    answer = guarded.post("/rest/echo", data=b"x", headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 415


def test_a_body_in_chunks_is_refused(guarded) -> None:
    answer = guarded.post("/rest/echo", data=b"x", headers={"Transfer-Encoding": "chunked"})
    assert answer.status_code == 411


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "http://localhost:99"},
    ],
)
def test_another_site_cannot_change_anything(guarded, headers: dict[str, str]) -> None:
    assert guarded.post("/rest/echo", json={}, headers=headers).status_code == 403


@pytest.mark.parametrize("headers", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://localhost"}])
def test_pages_of_this_host_may(guarded, headers: dict[str, str]) -> None:
    assert guarded.post("/rest/echo", json={}, headers=headers).status_code == 200


def test_a_link_from_another_site_may_be_followed(guarded) -> None:
    assert guarded.get("/admin/page", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "not valid JSON"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "Infinity"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": 1, "a": 2}', "'a' occurs twice"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"\\u0000": 1}', "NUL"),
        (b"[" * 65 + b"]" * 65, "64 levels"),
        (b"[" * 4_000, "64 levels"),
        (b'{"a":' * 1_900, "64 levels"),
        (b"\xff", "not valid JSON"),
        (b"9" * 5_000, "not valid JSON"),
    ],
)
def test_unsound_json_is_refused_with_the_reason(guarded, body: bytes, reason: str) -> None:
    answer = guarded.post("/rest/echo", data=body, content_type="application/json")
    assert answer.status_code == 400
    assert (answer.json["code"], answer.json["errors"][0]["code"]) == ("bad_request", "malformed_json")
    assert reason in answer.json["detail"]


@pytest.mark.parametrize("body", [b'{"b": 1, "a": ["\\u00e9", "[[{{"]}', b'"\\ud83d\\ude00"', b"[" * 64 + b"]" * 64])
def test_sound_json_is_read(guarded, body: bytes) -> None:
    assert guarded.post("/rest/echo", data=body, content_type="application/json").status_code == 200


def test_a_form_with_nul_is_refused(guarded) -> None:
    assert guarded.post("/rest/echo", data={"name": "a\0b"}, headers={"Accept": "application/json"}).status_code == 400

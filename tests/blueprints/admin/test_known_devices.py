"""Wrong guesses from elsewhere lock nobody out of a browser in which they signed in before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.domain.sites import accounts
from app.transaction import transaction
from app.web.tokens import DEVICE, Signer
from tests.factories import PASSWORD, WHEN
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

OWNER, OTHER = "merchandiser@shop.test", "admin@shop.test"


@pytest.fixture
def owner(app: Flask, site_id: int) -> PageClient:
    """A browser in which the owner signed in, and out again."""
    browser = PageClient(app).signed_in_by_form(OWNER)
    browser.post("/admin/logout", {})
    browser.get("/admin/login")
    return browser


@pytest.fixture
def attacked(app: Flask, owner: PageClient) -> PageClient:
    """The same while somebody else guesses, from the same address even, until they have to wait."""
    attacker = PageClient(app)
    attacker.get("/admin/login")
    for number in range(20):
        try_to_sign_in(attacker, "wrong", OWNER if number < 5 else f"user{number}@shop.test")
    assert try_to_sign_in(attacker, PASSWORD).status_code == 429
    return owner


def try_to_sign_in(browser: PageClient, password: str, email: str = OWNER) -> TestResponse:
    form = {"csrf_token": browser.token, "email": email, "password": password}
    return browser.client.post("/admin/login", data=form)


def test_the_owner_signs_in_while_others_guess(attacked: PageClient) -> None:
    assert try_to_sign_in(attacked, PASSWORD).status_code == 302


def test_the_owner_changes_the_password_while_others_guess(app: Flask, owner: PageClient) -> None:
    owner.signed_in_by_form(OWNER)
    attacker = PageClient(app)
    attacker.get("/admin/login")
    for _ in range(5):
        try_to_sign_in(attacker, "wrong")
    owner.post("/admin/password", {"current": PASSWORD, "password": "nine blue kettles"})
    assert owner.get("/admin/").texts["h1"] == "Dashboard"


def test_a_sign_in_of_the_owner_lets_nobody_else_guess_on(app: Flask, attacked: PageClient) -> None:
    try_to_sign_in(attacked, PASSWORD)
    stranger = PageClient(app)
    stranger.get("/admin/login")
    assert try_to_sign_in(stranger, PASSWORD).status_code == 429


def test_wrong_passwords_of_the_owner_cost_seconds_and_only_there(
    app: Flask, owner: PageClient, clock: StoppedClock
) -> None:
    for _ in range(5):
        assert try_to_sign_in(owner, "wrong").status_code == 400
    waits = []
    for _ in range(3):
        refused = try_to_sign_in(owner, PASSWORD)
        waits.append((refused.status_code, refused.headers["Retry-After"]))
        clock.move(seconds=int(refused.headers["Retry-After"]))
        assert try_to_sign_in(owner, "wrong").status_code == 400
    assert waits == [(429, "2"), (429, "3"), (429, "5")]
    elsewhere = PageClient(app)
    elsewhere.get("/admin/login")
    assert try_to_sign_in(elsewhere, PASSWORD).status_code == 302


def test_a_browser_that_is_known_says_the_same_words(app: Flask, owner: PageClient) -> None:
    stranger = PageClient(app)
    stranger.get("/admin/login")
    pages = []
    for browser in (owner, stranger):
        answers = [try_to_sign_in(browser, "wrong") for _ in range(6)]
        pages.append([(answer.status_code, accounts.WRONG in answer.text) for answer in answers])
    assert pages[0] == pages[1] == [(400, True)] * 5 + [(429, False)]


def test_a_browser_is_known_for_those_who_signed_in_there_alone(attacked: PageClient) -> None:
    """Twenty tries a minute came from this address."""
    assert try_to_sign_in(attacked, PASSWORD, OTHER).status_code == 429


def test_after_a_change_of_the_password_browsers_are_unknown(app: Flask, attacked: PageClient) -> None:
    with app.app_context(), transaction():
        accounts.set_password(8, accounts.get_user(OWNER), "nine blue kettles")
    assert try_to_sign_in(attacked, "nine blue kettles").status_code == 429


def test_two_people_may_share_a_browser(app: Flask, owner: PageClient) -> None:
    owner.signed_in_by_form(OTHER)
    owner.post("/admin/logout", {})
    owner.get("/admin/login")
    for _ in range(5):
        try_to_sign_in(owner, "wrong", OTHER)
    assert try_to_sign_in(owner, PASSWORD, OTHER).status_code == 429
    assert try_to_sign_in(owner, PASSWORD).status_code == 302


@pytest.mark.parametrize("forged", ["x", "W10.x", "", "x" * 3_000, "signed by another key"])
def test_a_cookie_that_the_shop_did_not_sign_is_none(attacked: PageClient, forged: str) -> None:
    if " " in forged:
        forged = Signer(b"another key").sign(DEVICE, [["a laptop", 1, 1, 1_790_000_000]], WHEN)
    attacked.client.set_cookie("device", forged)
    assert try_to_sign_in(attacked, PASSWORD).status_code == 429


def test_the_cookie_is_for_the_browser_alone_and_outlives_the_session(owner: PageClient) -> None:
    cookie = owner.client.get_cookie("device")
    assert (cookie.http_only, cookie.same_site, cookie.path) == (True, "Lax", "/")
    assert cookie.max_age == 400 * 24 * 60 * 60
    assert OWNER not in cookie.value


def test_in_production_no_other_host_can_set_it(app: Flask, site_id: int) -> None:
    app.config["SHOP"] = replace(app.config["SHOP"], environment="production")
    app.config["SESSION_COOKIE_SECURE"] = True
    app.config["WTF_CSRF_ENABLED"] = False
    form = {"email": OWNER, "password": PASSWORD}
    answer = app.test_client().post("/admin/login", data=form, base_url="https://localhost")
    cookies = answer.headers.getlist("Set-Cookie")
    device = next(cookie for cookie in cookies if "device=" in cookie)
    assert device.startswith("__Host-device=")
    assert {"Secure", "HttpOnly", "Path=/"} <= set(device.split("; "))
    assert "Domain" not in device


def test_a_new_browser_waits_for_the_guesses_of_others_for_half_a_minute_at_most(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    """The others guess whenever a delay ends, each time from another address."""
    app.config["WTF_CSRF_ENABLED"] = False
    addresses = (f"198.51.100.{number}" for number in range(200))

    def sign_in(password: str, address: str) -> TestResponse:
        form = {"email": OWNER, "password": password}
        return app.test_client().post("/admin/login", data=form, environ_overrides={"REMOTE_ADDR": address})

    for _ in range(40):
        refused = sign_in("wrong", next(addresses))
        clock.move(seconds=int(refused.headers.get("Retry-After", 0)))
    sign_in("wrong", next(addresses))
    wait = int(sign_in(PASSWORD, "203.0.113.9").headers["Retry-After"])
    assert 0 < wait <= 31
    for _ in range(wait):
        clock.move(seconds=1)
        sign_in("wrong", next(addresses))
    assert sign_in(PASSWORD, "203.0.113.9").status_code == 302

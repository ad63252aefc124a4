"""Signing in, staying signed in, and being signed out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import delete, func, select, update

from app.domain.sites import accounts
from app.domain.sites.accounts import DEMO_PASSWORD, Role
from app.domain.sites.models import Domain, RoleGrant, SignInSession, User
from app.extensions import db
from app.transaction import transaction
from tests.factories import PASSWORD, make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

MERCHANDISER = "merchandiser@shop.test"


@pytest.fixture
def browser(app: Flask, site_id: int) -> PageClient:
    return PageClient(app)


def test_the_right_password_opens_the_dashboard(browser: PageClient) -> None:
    browser.get("/admin/login")
    answer = browser.post("/admin/login", {"email": f" {MERCHANDISER.upper()} ", "password": PASSWORD})
    assert answer.location == "/admin/"
    assert browser.get("/admin/").texts["h1"] == "Dashboard"


def test_a_wrong_password_tells_no_more_than_that_and_keeps_the_address(browser: PageClient) -> None:
    browser.get("/admin/login")
    page = browser.post("/admin/login", {"email": MERCHANDISER, "password": "wrong"}, status=400)
    assert accounts.WRONG in page.texts["li"]
    assert page.value("email") == MERCHANDISER
    assert browser.client.get("/admin/").status_code == 302


def test_who_is_not_signed_in_signs_in_and_comes_back(browser: PageClient) -> None:
    sent_to_sign_in = browser.client.get("/admin/search?x=1")
    assert sent_to_sign_in.location == "/admin/login?next=/admin/search?x%3D1"
    page = browser.get(sent_to_sign_in.location)
    form = {"email": MERCHANDISER, "password": PASSWORD, "next": page.value("next")}
    assert browser.post("/admin/login", form).location == "/admin/search?x=1"


def test_who_only_sells_reads_where_and_sees_nothing_else(browser: PageClient) -> None:
    browser.get("/admin/login")
    form = {"email": "pos_agent@shop.test", "password": PASSWORD, "next": "/admin/search"}
    answer = browser.post("/admin/login", form)
    assert answer.location == "/admin/login"
    page = browser.get("/admin/login")
    assert page.texts["h1"] == "Sell in the till app"
    facts = browser.client.get("/admin/login").text
    assert "<dd>localhost</dd>" in facts and "<dd>pos_agent@shop.test</dd>" in facts
    assert [form["action"] for form in page.all("form")] == ["/admin/logout"]
    assert "http://localhost/till" in [link.get("href") for link in page.all("a")]
    assert browser.client.get("/admin/").status_code == 403
    browser.post("/admin/logout", {})
    assert browser.get("/admin/login").texts["h1"] == "Sign in"


def test_who_sells_for_another_shop_reads_the_address_of_that_shop(app: Flask, browser: PageClient) -> None:
    with app.app_context(), transaction():
        make_user(make_site("other.localhost", "Other"), Role.POS_AGENT, email="tilly@other.test")
    browser.get("/admin/login")
    browser.post("/admin/login", {"email": "tilly@other.test", "password": PASSWORD})
    page = browser.client.get("/admin/login").text
    assert "<dd>other.localhost</dd>" in page and 'href="http://other.localhost/till"' in page


def test_who_sells_and_manages_opens_the_admin(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        accounts.grant(accounts.get_user("pos_agent@shop.test"), site_id, Role.MERCHANDISER)
    browser.get("/admin/login")
    answer = browser.post("/admin/login", {"email": "pos_agent@shop.test", "password": PASSWORD})
    assert answer.location == "/admin/"


def test_the_sixth_try_must_wait_even_with_the_right_password(browser: PageClient, clock: StoppedClock) -> None:
    browser.get("/admin/login")
    for _ in range(5):
        browser.post("/admin/login", {"email": MERCHANDISER, "password": "wrong"}, status=400)
    right = {"csrf_token": browser.token, "email": MERCHANDISER, "password": PASSWORD}
    refused = browser.client.post("/admin/login", data=right)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
    clock.move(seconds=2)
    assert browser.client.post("/admin/login", data=right).status_code == 302


def test_unknown_accounts_are_slowed_down_like_known_ones(browser: PageClient) -> None:
    browser.get("/admin/login")
    for _ in range(5):
        browser.post("/admin/login", {"email": "nobody@shop.test", "password": "wrong"}, status=400)
    browser.post("/admin/login", {"email": "nobody@shop.test", "password": "wrong"}, status=429)


def test_a_session_ends_after_eight_idle_hours(signed_in, clock: StoppedClock) -> None:
    browser = signed_in()
    for _ in range(3):
        clock.move(hours=7, minutes=59)
        if clock.now().hour == 11:  # The third one would pass 24 hours.
            break
        browser.get("/admin/")
    clock.move(hours=8)
    assert browser.client.get("/admin/").status_code == 302


def test_a_session_ends_after_a_day_however_busy(signed_in, clock: StoppedClock) -> None:
    browser = signed_in()
    for _ in range(5):
        clock.move(hours=4, minutes=45)
        browser.get("/admin/")
    clock.move(minutes=15)
    assert browser.client.get("/admin/").status_code == 302


def test_signing_in_starts_a_new_session_and_ends_the_one_before(app: Flask, signed_in) -> None:
    browser = signed_in()
    with browser.client.session_transaction() as session:
        before, session["planted"] = session["_user_id"], "by somebody"
    browser.post("/admin/login", {"email": "admin@shop.test", "password": PASSWORD})
    with browser.client.session_transaction() as session:
        assert session["_user_id"] != before
        assert "planted" not in session
    assert _is_dead(app, before)


def test_after_signing_out_the_cookie_opens_nothing(app: Flask, signed_in) -> None:
    browser = signed_in()
    kept = browser.client.get_cookie("shop").value
    browser.post("/admin/logout", {})
    thief = app.test_client()
    thief.set_cookie("shop", kept)
    assert thief.get("/admin/").status_code == 302


def test_a_session_of_one_host_is_none_at_another(app: Flask, signed_in, site_id: int) -> None:
    with app.app_context(), transaction():
        db.session.add(Domain(site_id=site_id, host="www.localhost", primary=False))
    browser = signed_in()
    thief = app.test_client()
    thief.set_cookie("shop", browser.client.get_cookie("shop").value, domain="www.localhost")
    assert thief.get("/admin/", base_url="http://www.localhost").status_code == 302
    assert thief.get("/admin/search/rest/status", base_url="http://www.localhost").status_code == 401


@pytest.mark.parametrize("change", ["disabled", "password", "role"])
def test_what_is_taken_away_is_gone_at_the_next_request(app: Flask, signed_in, change: str) -> None:
    browser = signed_in()
    with app.app_context(), transaction():
        user = accounts.get_user(MERCHANDISER)
        if change == "disabled":
            db.session.execute(update(User).where(User.id == user.id).values(enabled=False))
        elif change == "password":
            accounts.set_password(8, user, "nine blue kettles")
        else:
            db.session.execute(delete(RoleGrant).where(RoleGrant.user_id == user.id))
    assert browser.client.get("/admin/").status_code == (403 if change == "role" else 302)


def test_a_host_without_a_shop_has_no_admin(browser: PageClient) -> None:
    for path in ("/admin/login", "/admin/", "/admin/search"):
        assert browser.client.get(path, base_url="http://evil.example").status_code == 404


def test_the_demo_password_is_refused_in_production(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        accounts.set_password(8, accounts.get_user(MERCHANDISER), DEMO_PASSWORD)
    app.config["SHOP"] = replace(app.config["SHOP"], environment="production")
    browser.get("/admin/login")
    page = browser.post("/admin/login", {"email": MERCHANDISER, "password": DEMO_PASSWORD}, status=400)
    assert page.value("email") == MERCHANDISER, "it is the page of signing in again"


def test_a_superadmin_switches_to_any_shop(app: Flask, signed_in) -> None:
    other = _other_shop(app)
    browser = signed_in(Role.SUPERADMIN)
    browser.post("/admin/site", {"site": other})
    assert "Other" in browser.get("/admin/").texts["title"]


def test_nobody_switches_to_a_shop_that_is_not_theirs(app: Flask, signed_in) -> None:
    browser = signed_in(Role.ADMIN)
    for wanted in (_other_shop(app), "999999", "", "x", "-1", "1e3", "٣", "9" * 40):
        browser.post("/admin/site", {"site": wanted}, status=404)
    assert "Fern & Fell" in browser.get("/admin/").texts["title"]


def test_somebody_of_another_shop_works_on_that_shop(app: Flask, browser: PageClient) -> None:
    with app.app_context(), transaction():
        make_user(make_site("other.localhost", "Other"), Role.MERCHANDISER, email="oz@shop.test")
    browser.signed_in_by_form("oz@shop.test")
    assert "Other" in browser.get("/admin/").texts["title"]


def test_changing_the_password_signs_out_everywhere_else(signed_in) -> None:
    here, there = signed_in(), signed_in()
    here.get("/admin/password")
    here.post("/admin/password", {"current": PASSWORD, "password": "nine blue kettles"})
    assert here.get("/admin/").texts["h1"] == "Dashboard"
    assert there.client.get("/admin/").status_code == 302


def test_changing_the_password_leaves_the_user_on_the_shop_that_they_switched_to(app: Flask, signed_in) -> None:
    other = _other_shop(app)
    browser = signed_in(Role.SUPERADMIN)
    browser.post("/admin/site", {"site": other})
    browser.get("/admin/password")
    browser.post("/admin/password", {"current": PASSWORD, "password": "nine blue kettles"})
    assert "Other" in browser.get("/admin/").texts["title"]


def test_the_role_on_that_shop_still_counts_after_the_password_has_changed(app: Flask, signed_in) -> None:
    other = _other_shop(app)
    browser = signed_in(Role.ADMIN)
    with app.app_context(), transaction():
        mia = accounts.get_user("admin@shop.test")
        grant = accounts.grant(mia, other, Role.MERCHANDISER)
    assert grant
    browser.post("/admin/site", {"site": other})
    browser.get("/admin/password")
    browser.post("/admin/password", {"current": PASSWORD, "password": "nine blue kettles"})
    assert "Other" in browser.get("/admin/").texts["title"]
    assert browser.client.get("/admin/users").status_code == 403, "they are an admin of the other one only"
    with app.app_context(), transaction():
        db.session.execute(delete(RoleGrant).where(RoleGrant.site_id == other))
    assert browser.client.get("/admin/").status_code == 403


def test_the_password_stays_without_the_old_one_or_with_a_short_one(app: Flask, signed_in) -> None:
    browser = signed_in()
    browser.get("/admin/password")
    browser.post("/admin/password", {"current": "wrong", "password": "nine blue kettles"}, status=400)
    browser.post("/admin/password", {"current": PASSWORD, "password": "short"}, status=400)
    with app.app_context():
        assert accounts.check_password(8, MERCHANDISER, PASSWORD)


def test_the_cookie_is_not_for_scripts_nor_for_other_sites(signed_in) -> None:
    cookie = signed_in().client.get_cookie("shop")
    assert cookie.http_only
    assert cookie.same_site == "Lax"


def _other_shop(app: Flask) -> int:
    with app.app_context(), transaction():
        return make_site("other.localhost", "Other").id


def _is_dead(app: Flask, token: str) -> bool:
    with app.app_context():
        sessions = db.session.scalar(select(func.count()).select_from(SignInSession))
        return sessions == 1 and token != ""


def test_the_first_empty_field_has_the_focus(browser: PageClient) -> None:
    page = browser.get("/admin/login")
    assert [field["name"] for field in page.all("input") if "autofocus" in field] == ["email"]
    page = browser.post("/admin/login", {"email": MERCHANDISER, "password": "wrong"}, status=400)
    assert [field["name"] for field in page.all("input") if "autofocus" in field] == ["password"]

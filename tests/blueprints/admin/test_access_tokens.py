"""Users make, copy and revoke their own access tokens; admins see and revoke those of the people of their shop."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.sites import accounts, personal_tokens
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, PersonalToken, Site
from app.extensions import db
from app.ports import clock as shop_clock
from app.transaction import transaction
from app.web.callers import token_caller
from tests.factories import PASSWORD, make_site, make_token, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

FORM = {"name": "Agent on my laptop", "days": "90", "password": PASSWORD}
TOKEN = re.compile(r"shop_pat_[0-9a-f]{48}")


@pytest.fixture
def merchandiser(signed_in) -> PageClient:
    browser: PageClient = signed_in(Role.MERCHANDISER)
    browser.get("/admin/tokens")
    return browser


def made(browser: PageClient) -> str:
    page = browser.post("/admin/tokens", FORM, status=200)
    return next(field["value"] for field in page.all("input") if TOKEN.fullmatch(field.get("value", "")))


def test_a_token_is_shown_once_and_acts_as_its_user(app: Flask, merchandiser: PageClient, site_id: int) -> None:
    token = made(merchandiser)
    page = merchandiser.client.get("/admin/tokens")
    assert FORM["name"] in page.text and not TOKEN.search(page.text)
    assert page.headers["Cache-Control"] == "no-store"
    with app.app_context():
        caller = token_caller(token)
        assert (caller.email, caller.site_id) == ("merchandiser@shop.test", site_id)


def test_the_day_on_which_a_token_expires_is_that_of_the_shop(
    app: Flask, merchandiser: PageClient, site_id: int
) -> None:
    """It is noon in UTC, and the next day already where the shop is."""
    with app.app_context(), transaction():
        db.session.get_one(Site, site_id).time_zone = "Pacific/Auckland"
    made(merchandiser)
    assert "19 February 2027" in merchandiser.get("/admin/tokens").texts["td"]


def test_the_page_that_shows_a_token_loads_the_script_that_copies_it(merchandiser: PageClient) -> None:
    page = merchandiser.post("/admin/tokens", FORM, status=200)
    assert any("data-copies" in button for button in page.all("button"))
    assert any(script.get("src", "").endswith("/admin/copying.js") for script in page.all("script"))


def test_all_that_is_wrong_is_said_and_no_token_is_made(app: Flask, merchandiser: PageClient) -> None:
    page = merchandiser.post("/admin/tokens", {"name": " ", "days": "soon", "password": "wrong"}, status=400)
    links = [link["href"] for link in page.all("a") if link.get("href", "").startswith("#f-")]
    assert links == ["#f-name", "#f-days", "#f-password"]
    assert merchandiser.post("/admin/tokens", FORM | {"days": "366"}, status=400)
    with app.app_context():
        assert db.session.scalars(select(PersonalToken)).all() == []


def test_who_has_too_many_tokens_reads_so(app: Flask, merchandiser: PageClient) -> None:
    with app.app_context(), transaction():
        user = accounts.get_user("merchandiser@shop.test")
        site = accounts.reachable_sites(user.id)[0]
        for number in range(20):
            make_token(site, user, f"Agent {number}")
    page = merchandiser.post("/admin/tokens", FORM, status=409)
    assert "Revoke one that is no longer used." in page.texts["p"]


def test_a_revoked_token_is_out_and_listed_as_such(app: Flask, merchandiser: PageClient) -> None:
    token = made(merchandiser)
    merchandiser.post(f"/admin/tokens/{_id(app)}/revoke", {})
    assert "Revoked" in merchandiser.client.get("/admin/tokens").text
    assert _status(app, token) == 401
    with app.app_context():
        actions = db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
        assert actions == ["token.create", "token.revoke"]


def test_nobody_revokes_anothers_token_but_an_admin_of_the_shop(
    app: Flask, merchandiser: PageClient, signed_in
) -> None:
    token, admin = made(merchandiser), signed_in(Role.ADMIN)
    admin.get("/admin/tokens")
    admin.post(f"/admin/tokens/{_id(app)}/revoke", {}, status=404)
    with app.app_context():
        owner = accounts.get_user("merchandiser@shop.test").id
    page = admin.get(f"/admin/user/{owner}")
    address = f"/admin/user/{owner}/tokens/{_id(app)}/revoke"
    assert address in {form.get("action") for form in page.all("form")}
    merchandiser.post(address, {}, status=403)
    assert _status(app, token) == 200
    admin.post(address, {})
    assert _status(app, token) == 401


def test_an_admin_sees_the_tokens_for_their_own_shop_alone(app: Flask, signed_in) -> None:
    admin = signed_in(Role.ADMIN)
    with app.app_context(), transaction():
        user, other = accounts.get_user("merchandiser@shop.test"), make_site("other.localhost", "Other")
        accounts.grant(user, other.id, Role.MERCHANDISER)
        elsewhere = make_token(other, user, "Elsewhere").listed.id
        user_id = user.id
    assert "Elsewhere" not in admin.client.get(f"/admin/user/{user_id}").text
    admin.get("/admin/users")
    admin.post(f"/admin/user/{user_id}/tokens/{elsewhere}/revoke", {}, status=404)


def test_the_api_takes_a_personal_token_where_shops_are_managed(app: Flask, merchandiser: PageClient) -> None:
    token = made(merchandiser)
    assert _status(app, token) == 200
    assert _status(app, token, "/v1/pos/locations") == 401, "no payments with a token that lives for months"
    assert _status(app, token[:-1]) == 401
    with app.app_context(), transaction():
        other = make_site("other.localhost", "Other")
        make_user(other, Role.ADMIN)
    assert _status(app, token, host="other.localhost") == 401, "another shop's token"


def test_the_permission_is_that_of_the_user_now(app: Flask, merchandiser: PageClient) -> None:
    token = made(merchandiser)
    with app.app_context(), transaction():
        user = accounts.get_user("merchandiser@shop.test")
        user.grants[0].role = Role.POS_AGENT.value
    assert _status(app, token) == 403


def test_the_last_use_is_noted_on_the_page(app: Flask, merchandiser: PageClient, clock: StoppedClock) -> None:
    token = made(merchandiser)
    assert "Never" in merchandiser.client.get("/admin/tokens").text
    _status(app, token)
    clock.move(minutes=30)
    _status(app, token)
    assert "Never" not in merchandiser.client.get("/admin/tokens").text
    with app.app_context():
        assert db.session.scalars(select(PersonalToken.last_used_at)).one() == clock.now() - timedelta(minutes=30)


def test_commands_make_list_and_revoke_tokens(app: Flask, merchandiser: PageClient) -> None:
    run, email = app.test_cli_runner().invoke, "merchandiser@shop.test"
    result = run(args=["user", "token", email, "--site", "localhost", "--name", "Agent", "--days", "30"])
    assert result.exit_code == 0
    token = result.stdout.strip()
    assert TOKEN.fullmatch(token), "nothing else stands on standard output"
    assert _status(app, token) == 200
    assert run(args=["user", "token", email, "--name", "Agent", "--days", "400"]).exit_code == 1
    listed = run(args=["user", "tokens", email]).stdout
    assert "Agent" in listed and "ACTIVE" in listed and token not in listed
    assert run(args=["user", "revoke-token", email, "--name", "Agent"]).exit_code == 0
    assert _status(app, token) == 401
    assert run(args=["user", "revoke-token", email, "--name", "Agent"]).exit_code == 1


def _status(app: Flask, token: str, path: str = "/v1/admin/taxonomies", host: str = "localhost") -> int:
    answer = app.test_client().get(path, base_url=f"http://{host}", headers={"Authorization": f"Bearer {token}"})
    return answer.status_code


def _id(app: Flask) -> int:
    with app.app_context():
        user_id = accounts.get_user("merchandiser@shop.test").id
        site_id = accounts.reachable_sites(user_id)[0].id
        return personal_tokens.tokens_of(shop_clock(), site_id, user_id)[0].id


def test_the_page_has_a_configuration_for_agents_filled_in_with_a_new_token(merchandiser: PageClient) -> None:
    before = merchandiser.get("/admin/tokens")
    address = next(field["value"] for field in before.all("input") if field.get("id") == "agent-address")
    assert address.startswith("http://localhost:") and address.endswith("/mcp")
    assert f'"url": "{address}"' in before.texts["textarea"] and "Bearer <the token>" in before.texts["textarea"]
    page = merchandiser.post("/admin/tokens", FORM, status=200)
    [token] = set(TOKEN.findall(page.texts["textarea"]))
    command = next(field["value"] for field in page.all("input") if field.get("id") == "agent-command")
    assert address in command and token in command


def test_behind_https_agents_reach_the_tools_at_the_address_of_the_shop(merchandiser: PageClient) -> None:
    page = merchandiser.client.get("/admin/tokens", base_url="https://localhost").text
    assert 'value="https://localhost/mcp"' in page

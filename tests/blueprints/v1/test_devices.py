"""Users see the devices on which they signed in, and remove those that they lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.pos.models import PosSession
from app.domain.shared.author import Author
from app.domain.sites import accounts, personal_tokens
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, UserDevice
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.conftest import LOGIN, ApiClient
from tests.factories import PASSWORD, make_site
from tests.fakes.clock import StoppedClock

DEVICES = "/v1/auth/devices"
AGENT = "pos_agent@shop.test"
SignedIn = Callable[..., ApiClient]


@pytest.fixture
def phone(signed_in: SignedIn) -> ApiClient:
    """The till app on the agent's phone."""
    return signed_in(Role.POS_AGENT, audience="pos", deviceId="phone-1", deviceName="Tilly’s phone")


def listed(program: ApiClient) -> list[dict[str, Any]]:
    answer = program.call("GET", DEVICES)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json["items"]
    return found


def test_the_list_names_each_device_once_and_the_one_that_reads_it(
    phone: ApiClient, signed_in: SignedIn, clock: StoppedClock
) -> None:
    clock.move(minutes=5)
    tablet = signed_in(Role.POS_AGENT, deviceId="tablet")
    signed_in(Role.POS_AGENT, audience="pos", deviceId="tablet")
    signed_in(Role.POS_AGENT)
    expected = [(None, "2026-11-20T12:05:00Z", True), ("Tilly’s phone", "2026-11-20T12:00:00Z", False)]
    assert [(one["name"], one["lastSeenAt"], one["current"]) for one in listed(tablet)] == expected
    assert [one["current"] for one in listed(phone)] == [False, True]
    assert all(set(one) == {"id", "name", "lastSeenAt", "current"} for one in listed(phone))
    assert listed(signed_in(Role.ADMIN)) == []


def test_a_device_is_seen_at_each_refresh_and_takes_another_name_at_the_next_sign_in(
    phone: ApiClient, signed_in: SignedIn, clock: StoppedClock
) -> None:
    admins = signed_in(Role.ADMIN, deviceId="phone-1")
    clock.move(minutes=10)
    phone.tokens = phone.refresh(deviceId="phone-1").json
    assert [one["lastSeenAt"] for one in listed(phone)] == ["2026-11-20T12:10:00Z"]
    assert [one["lastSeenAt"] for one in listed(admins)] == ["2026-11-20T12:00:00Z"]
    before = listed(phone)[0]["id"]
    phone.sign_in(AGENT, audience="pos", deviceId="phone-1")
    assert [(one["id"], one["name"]) for one in listed(phone)] == [(before, "Tilly’s phone")]
    phone.sign_in(AGENT, audience="pos", deviceId="phone-1", deviceName="Stall")
    assert [(one["id"], one["name"]) for one in listed(phone)] == [(before, "Stall")]


def test_a_lost_phone_is_out_at_once(app: Flask, phone: ApiClient, signed_in: SignedIn) -> None:
    tablet = signed_in(Role.POS_AGENT, audience="pos", deviceId="tablet")
    lost = next(one["id"] for one in listed(tablet) if not one["current"])
    answer = tablet.call("DELETE", f"{DEVICES}/{lost}")
    assert (answer.status_code, answer.data) == (204, b"")
    assert [one["current"] for one in listed(tablet)] == [True]
    for refused in (phone.call("GET", DEVICES), phone.refresh(deviceId="phone-1")):
        assert (refused.status_code, refused.json["code"]) == (401, "session_revoked")
    with app.app_context():
        ends = {session.device_id: session.end_reason for session in db.session.scalars(select(PosSession))}
        assert ends == {"phone-1": "REVOKED", "tablet": None}
        entry = db.session.scalars(select(AuditEntry)).one()
        assert (entry.action, entry.actor, entry.origin) == ("device.remove", "The Pos_Agent", "API")
        assert "phone" not in repr((entry.summary, entry.before, entry.after))
    again = tablet.call("DELETE", f"{DEVICES}/{lost}")
    assert (again.status_code, again.json["code"]) == (404, "device_not_found")


def test_who_removes_the_current_device_signs_out_there(phone: ApiClient) -> None:
    assert phone.call("DELETE", f"{DEVICES}/{listed(phone)[0]['id']}").status_code == 204
    assert phone.call("GET", DEVICES).status_code == 401
    phone.sign_in(AGENT, audience="pos", deviceId="phone-1")
    assert [one["current"] for one in listed(phone)] == [True]


def test_nobody_removes_the_device_of_another(app: Flask, phone: ApiClient, signed_in: SignedIn) -> None:
    """Neither a superadmin through the API, nor the same user at another shop."""
    theirs = listed(phone)[0]["id"]
    with app.app_context(), transaction():
        accounts.grant(accounts.get_user(AGENT), make_site("other.localhost", "Other").id, Role.POS_AGENT)
    elsewhere = ApiClient(app.test_client(), "other.localhost")
    elsewhere.sign_in(AGENT, deviceId="phone-1")
    for program in (signed_in(Role.SUPERADMIN, deviceId="phone-1"), elsewhere):
        assert theirs not in [one["id"] for one in listed(program)]
        for named in (theirs, "nothing", "x" * 300):
            answer = program.call("DELETE", f"{DEVICES}/{named}")
            assert (answer.status_code, answer.json["code"]) == (404, "device_not_found")
    assert phone.call("GET", DEVICES).status_code == 200


def test_a_personal_access_token_has_no_devices(
    app: Flask, phone: ApiClient, site_id: int, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        author = Author(site_id, "The Admin", clock)
        token = personal_tokens.make_token(author, accounts.get_user("admin@shop.test").id, "Script", 30).text
    for method, path in (("GET", DEVICES), ("DELETE", f"{DEVICES}/{listed(phone)[0]['id']}")):
        answer = phone.call(method, path, token=token)
        assert (answer.status_code, answer.json["code"]) == (403, "personal_token")
        assert phone.call(method, path, token="shop_pat_nothing").status_code == 401
        assert phone.call(method, path, token="").status_code == 401


@pytest.mark.parametrize("removed", (False, True))
def test_the_token_of_a_removed_device_shortens_no_wait(
    app: Flask, phone: ApiClient, site_id: int, removed: bool
) -> None:
    if removed:
        phone.call("DELETE", f"{DEVICES}/{listed(phone)[0]['id']}")
    guesser = ApiClient(app.test_client())
    for _ in range(5):
        assert guesser.sign_in(AGENT, "wrong").status_code == 401
    body = {"email": AGENT, "password": PASSWORD, "deviceToken": phone.tokens["deviceToken"]}
    assert guesser.call("POST", LOGIN, body).status_code == (429 if removed else 200)


def test_a_device_is_named_after_no_card(app: Flask, stranger: ApiClient) -> None:
    assert stranger.sign_in(AGENT, deviceId="x", deviceName="4242 4242 4242 4242").status_code == 400
    with app.app_context():
        assert db.session.scalars(select(UserDevice)).all() == []

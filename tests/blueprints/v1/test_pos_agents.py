"""Who works at a till, and how they sign in there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.pos import agents
from app.domain.pos.models import PosAgent, PosSession
from app.domain.shared.author import Author
from app.domain.sites import staff
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site, User
from app.domain.sites.settings import change_settings
from app.domain.sites.sign_in_sessions import SignedIn
from app.extensions import db
from app.jobs.scheduled import run_scheduled
from app.transaction import transaction
from tests.blueprints.v1.conftest import LOGOUT, ApiClient, Signed
from tests.factories import make_agent, make_location
from tests.fakes.clock import StoppedClock

AGENT, ADMIN = "pos_agent@shop.test", "admin@shop.test"
ME, LOCATIONS, SESSION = "/v1/pos/agents/me", "/v1/pos/locations", "/v1/pos/sessions/current"
MAIN_STREET = {"line1": "1 Main Street", "city": "Leeds", "postal_code": "LS1 1AA"}

MakeAgent = Callable[..., None]


@pytest.fixture
def make_till_agent(app: Flask, site_id: int) -> MakeAgent:
    """Makes a user an agent who may work at the first of two locations."""

    def made(email: str = AGENT, **more: object) -> None:
        with app.app_context(), transaction():
            site, user = db.session.get(Site, site_id), db.session.query(User).filter_by(email=email).one()
            fair = make_location(site, "tml_fair", display_name="Fair", **MAIN_STREET)
            make_location(site, "tml_shop", display_name="Shop")
            make_agent(site, user, fair, **({"display_name": "Tilly", "max_transaction_amount": 5_000} | more))

    return made


@pytest.mark.parametrize("audience", [{}, {"audience": "pos"}], ids=["no audience", "pos"])
def test_an_agent_learns_at_signing_in_what_they_may_do_and_where(
    stranger: ApiClient, make_till_agent: MakeAgent, audience: dict[str, str]
) -> None:
    make_till_agent()
    answer = stranger.sign_in(AGENT, **audience)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    agent = answer.json["agent"]
    assert agent | {"id": "", "userId": ""} == {
        "id": "",
        "userId": "",
        "displayName": "Tilly",
        "enabled": True,
        "canProcessQuickPayments": True,
        "canBuildOrders": True,
        "canRefund": False,
        "canDiscount": False,
        "canTakeCash": True,
        "canMoveCash": False,
        "maxTransactionAmount": 5_000,
    }
    assert isinstance(agent["id"], str) and agent["userId"] == answer.json["user"]["id"]
    address = {"line1": "1 Main Street", "line2": "", "city": "Leeds", "state": "", "postalCode": "LS1 1AA"}
    fair = {"id": "tml_fair", "displayName": "Fair", "address": address | {"country": "GB"}}
    assert answer.json["locations"] == [fair]
    refreshed = stranger.refresh().json
    assert (refreshed["agent"], refreshed["locations"]) == (agent, [fair])
    assert stranger.call("GET", LOCATIONS, token=refreshed["token"]).json == {"items": [fair]}


def test_the_lower_limit_is_the_effective_one(
    app: Flask, site_id: int, signed_in: Signed, make_till_agent: MakeAgent
) -> None:
    make_till_agent()
    program = signed_in(Role.POS_AGENT)
    me = program.call("GET", ME)
    assert (me.status_code, me.json["effectiveMaxAmount"]) == (200, 5_000)
    assert [place["id"] for place in me.json["locations"]] == ["tml_fair"]
    with app.app_context(), transaction():
        change_settings(site_id, {"posMaxTransactionAmount": 4_999})
    assert program.call("GET", ME).json["effectiveMaxAmount"] == 4_999


def test_who_is_no_agent_hears_what_is_missing(signed_in: Signed) -> None:
    for role, answers in (
        (Role.POS_AGENT, (403, "agent_required")),
        (Role.ADMIN, (404, "agent_not_found")),
        (Role.MERCHANDISER, (403, "pos_role_required")),
    ):
        answer = signed_in(role).call("GET", ME)
        assert (answer.status_code, answer.json["code"]) == answers
    assert signed_in(Role.POS_AGENT, audience="pos").tokens["agent"] is None


def test_an_admin_works_at_every_location(signed_in: Signed, make_till_agent: MakeAgent) -> None:
    make_till_agent()
    program = signed_in(Role.ADMIN, audience="pos")
    assert [place["id"] for place in program.tokens["locations"]] == ["tml_fair", "tml_shop"]
    assert [place["id"] for place in program.call("GET", LOCATIONS).json["items"]] == ["tml_fair", "tml_shop"]


@pytest.mark.parametrize("audience", [{}, {"audience": "pos"}], ids=["no audience", "pos"])
def test_a_disabled_agent_is_out_at_the_next_call(
    app: Flask, site_id: int, clock: StoppedClock, signed_in: Signed, stranger: ApiClient,
    make_till_agent: MakeAgent, audience: dict[str, str],
) -> None:  # fmt: skip
    make_till_agent()
    program = signed_in(Role.POS_AGENT, **audience)
    author = Author(site_id, "Ada Admin", clock)
    with app.app_context(), transaction():
        agent = db.session.query(PosAgent).one()
        agents.disable(author, agent.id, agent.revision)
    for answer in (program.call("GET", ME), program.refresh()):
        assert (answer.status_code, answer.json["code"]) == (401, "session_revoked")
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    answer = stranger.sign_in(AGENT, audience="pos")
    assert (answer.status_code, answer.json["code"]) == (403, "agent_disabled")
    stranger.sign_in(AGENT)
    assert (stranger.tokens["agent"]["enabled"], stranger.tokens["locations"]) == (False, [])
    answer = stranger.call("GET", ME)
    assert (answer.status_code, answer.json["code"]) == (403, "agent_disabled")
    with app.app_context(), transaction():
        agents.enable(author, 1, 2)
    assert stranger.sign_in(AGENT, audience="pos").status_code == 200
    assert stranger.call("GET", ME).status_code == 200


def test_a_till_session_holds_for_a_day_to_the_minute(
    signed_in: Signed, make_till_agent: MakeAgent, clock: StoppedClock
) -> None:
    make_till_agent()
    program = signed_in(Role.POS_AGENT, audience="pos")
    for hours in (8, 8, 7.75):
        clock.move(hours=hours)
        program.tokens = program.refresh().json
    clock.move(minutes=14)  # 23:59
    assert program.call("GET", ME).status_code == 200
    clock.move(minutes=2)  # 24:01
    assert program.call("GET", ME).status_code == 401
    answer = program.refresh()
    assert (answer.status_code, answer.json["code"]) == (401, "session_expired")


def test_another_program_with_the_refresh_token_ends_the_session(
    app: Flask, signed_in: Signed, make_till_agent: MakeAgent
) -> None:
    make_till_agent()
    program = signed_in(Role.POS_AGENT, audience="pos")
    stolen = {"refreshToken": program.tokens["refreshToken"]}
    answer = program.client.post("/v1/auth/refresh", json=stolen, headers={"User-Agent": "curl/8"})
    assert (answer.status_code, answer.json["code"]) == (401, "session_revoked")
    assert program.call("GET", ME).json["code"] == "session_revoked"
    with app.app_context():
        assert db.session.scalar(select(PosSession.end_reason)) == "DEVICE_CHANGED"
        assert db.session.scalar(select(AuditEntry.action)) == "api_session.end"


@pytest.mark.parametrize("reason", ["LOGOUT", "PIN_LOCKOUT"])
def test_signing_out_ends_the_work_session_for_its_reason(
    app: Flask, signed_in: Signed, make_till_agent: MakeAgent, reason: str
) -> None:
    make_till_agent()
    program = signed_in(Role.POS_AGENT, audience="pos")
    assert program.call("POST", LOGOUT, {"reason": reason}).status_code == 204
    with app.app_context():
        assert db.session.scalar(select(PosSession.end_reason)) == reason
        noted = db.session.scalars(select(AuditEntry.summary).order_by(AuditEntry.id)).all()
        assert bool(noted) == (reason == "PIN_LOCKOUT")


def test_no_field_of_the_api_takes_a_pin(app: Flask, stranger: ApiClient) -> None:
    """But for the simulated reader’s, where a customer types it."""
    schemas = stranger.call("GET", "/v1/openapi.json").json["components"]["schemas"]
    named = {(shape, name) for shape, known in schemas.items() for name in known.get("properties", {})}
    assert [(shape, name) for shape, name in named if name.lower() == "pin" and "Present" not in shape] == []
    for path in ("/v1/auth/login", "/v1/auth/refresh"):
        answer = stranger.call("POST", path, {"email": AGENT, "password": "x", "refreshToken": "x", "pin": "1234"})
        assert "#/pin" in [error["pointer"] for error in answer.json["errors"]]


@pytest.mark.parametrize(
    ("change", "reason"), [("password", "PASSWORD_CHANGED"), ("disabled", "REVOKED"), ("role", "REVOKED")]
)
def test_what_an_admin_takes_away_ends_the_work_session_at_once(
    app: Flask,
    site_id: int,
    clock: StoppedClock,
    signed_in: Signed,
    make_till_agent: MakeAgent,
    change: str,
    reason: str,
) -> None:
    make_till_agent()
    program = signed_in(Role.POS_AGENT, audience="pos")
    with app.app_context(), transaction():
        admin, user = (db.session.query(User).filter_by(email=email).one() for email in (ADMIN, AGENT))
        actor = SignedIn("", admin.id, admin.email, "Ada", site_id, "Shop", frozenset((Role.ADMIN,)), "localhost")
        if change == "password":
            staff.reset_password(clock, 8, actor, user.id, "nine blue bottles")
        else:
            roles = ["MERCHANDISER"] if change == "role" else ["POS_AGENT"]
            staff.change(clock, actor, user.id, "Tilly", roles, enabled=change == "role")
    answer = program.call("GET", ME)
    assert (answer.status_code, answer.json["code"]) == (401, "session_revoked")
    with app.app_context():
        assert db.session.scalar(select(PosSession.end_reason)) == reason


def test_the_schedule_ends_what_time_ended(
    app: Flask, signed_in: Signed, make_till_agent: MakeAgent, clock: StoppedClock
) -> None:
    make_till_agent()
    signed_in(Role.POS_AGENT, audience="pos")
    clock.move(hours=25)
    with app.app_context():
        run_scheduled("pos-sessions")
        assert db.session.scalar(select(PosSession.end_reason)) == "EXPIRED"


def test_a_session_is_seen_once_a_minute(
    app: Flask, signed_in: Signed, make_till_agent: MakeAgent, clock: StoppedClock
) -> None:
    make_till_agent()
    program = signed_in(Role.POS_AGENT)
    clock.move(seconds=59)
    assert program.call("GET", SESSION).json["lastSeenAt"] == "2026-11-20T12:00:00Z"
    clock.move(seconds=1)
    assert program.call("GET", SESSION).json["lastSeenAt"] == "2026-11-20T12:01:00Z"


def test_a_work_session_is_opened_reported_and_closed(signed_in: Signed, make_till_agent: MakeAgent) -> None:
    make_till_agent()
    program = signed_in(Role.POS_AGENT, audience="pos", deviceId="till-7", deviceName="The till")
    session = program.call("GET", SESSION).json
    assert session | {"agentId": "", "id": ""} == {
        "id": "",
        "agentId": "",
        "locationId": None,
        "deviceId": "till-7",
        "deviceName": "The till",
        "startedAt": "2026-11-20T12:00:00Z",
        "lastSeenAt": "2026-11-20T12:00:00Z",
        "expiresAt": "2026-11-21T12:00:00Z",
        "endedAt": None,
        "endReason": None,
        "currency": "gbp",
        "openingFloat": None,
        "countedCash": None,
        "closingNote": "",
        "closedAt": None,
    }
    assert program.call("PUT", SESSION, {"openingFloat": 5_000}).json["openingFloat"] == 5_000
    report = program.call("GET", f"{SESSION}/report").json
    nothing = {"count": 0, "gross": 0, "refundCount": 0, "refunds": 0, "net": 0}
    assert (report["type"], report["cards"], report["total"]) == ("X", [], nothing)
    closed = program.call("POST", f"{SESSION}/close", {"countedCash": 5_100, "closingNote": "Fine"})
    assert (closed.status_code, closed.json["type"], closed.json["cashDifference"]) == (200, "Z", 100)
    assert closed.json["session"]["endReason"] == "LOGOUT"
    answer = program.call("GET", SESSION)
    assert (answer.status_code, answer.json["code"]) == (401, "session_revoked")


UNSOUND_FLOATS: tuple[object, ...] = (True, "5000", 50.5, None, -1, 10**10)


def test_a_float_is_a_whole_number_of_pence(signed_in: Signed, make_till_agent: MakeAgent) -> None:
    make_till_agent()
    program = signed_in(Role.POS_AGENT)
    for amount in UNSOUND_FLOATS:
        answer = program.call("PUT", SESSION, {"openingFloat": amount})
        assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (400, "#/openingFloat"), amount
    answer = program.call("POST", f"{SESSION}/close", {"countedCash": 1, "closingNote": "4242 4242 4242 4242"})
    assert (answer.status_code, answer.json["errors"][0]["code"]) == (400, "card_number")


def test_a_program_that_manages_the_shop_has_no_work_session(signed_in: Signed) -> None:
    answer = signed_in(Role.ADMIN).call("GET", SESSION)
    assert (answer.status_code, answer.json["code"]) == (404, "work_session_not_found")

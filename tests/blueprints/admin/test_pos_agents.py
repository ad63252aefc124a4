"""The pages of the agents: who is one, what they may do, and signing them out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.blueprints.admin.pos.agents import END_REASONS
from app.domain.pos import agents
from app.domain.pos.models import PosAgent, PosRefund, PosSession
from app.domain.pos.rules import AgentFields
from app.domain.pos.sessions import EndReason
from app.domain.sites.accounts import Role
from app.domain.sites.models import ApiSession, AuditEntry, Site, User
from app.extensions import db
from app.transaction import transaction
from tests.factories import WHEN, make_agent, make_location, make_site, make_transaction, make_user, make_work_session
from tests.page_client import PageClient, Reading
from tests.snapshots import built
from tests.statements import statements

AGENTS, NEW = "/admin/pos/agents", "/admin/pos/agents/new"
AGENT = f"{AGENTS}/1"


@dataclass(frozen=True)
class Ids:
    site: int
    mia: int


@pytest.fixture
def ids(app: Flask) -> Ids:
    return built(app, _shop)


def _shop() -> Ids:
    with transaction():
        site = make_site()
        make_user(site, Role.ADMIN, email="admin@shop.test", name="Ada Admin")
        mia = make_user(site, Role.MERCHANDISER, email="mia@shop.test", name="Mia Moss")
        make_location(site, "tml_fair", display_name="Fair")
        return Ids(site.id, mia.id)


@pytest.fixture
def admin(app: Flask, ids: Ids) -> PageClient:
    return PageClient(app).signed_in("admin@shop.test")


@pytest.fixture
def tilly(app: Flask, ids: Ids) -> None:
    """An agent with a payment, a session open on a phone and one that is over."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, ids.site)
        fair = make_location(site, "tml_stall", display_name="Stall")
        user = make_user(site, Role.POS_AGENT, email="tilly@shop.test", name="Tilly Till")
        agent = make_agent(site, user, fair, max_transaction_amount=5_000)
        make_work_session(agent, id="open")
        over = make_work_session(agent, id="over", ended_at=WHEN, end_reason="PIN_LOCKOUT", opening_float=1_000)
        card = {"session_id": over.id, "card_brand": "visa", "card_last4": "4242"}
        paid = make_transaction(agent, fair, "PARTIALLY_REFUNDED", **card)
        refund = {"amount": 250, "reason": "Torn", "status": "SUCCEEDED", "requested_by": "Ada Admin"}
        dates = {"created_at": WHEN, "updated_at": WHEN}
        db.session.add(PosRefund(id="refund", site_id=site.id, transaction_id=paid.id, **refund, **dates))


def test_an_empty_list_leads_to_the_first_step(admin: PageClient) -> None:
    page = admin.get(AGENTS)
    assert page.texts["h1"] == "Agents"
    assert NEW in [link.get("href") for link in page.all("a")]


def test_one_of_the_shops_users_becomes_an_agent(app: Flask, admin: PageClient, ids: Ids) -> None:
    page = admin.get(NEW)
    assert [field["value"] for field in page.all("input") if field.get("name") == "userId"] == _users(app)
    form = {"userId": str(ids.mia), "canBuildOrders": "on", "maxTransactionAmount": "12.50", "locations": "tml_fair"}
    answer = admin.post(NEW, form)
    assert answer.location.endswith(AGENT)
    with app.app_context():
        agent = agents.agent_of(ids.site, 1)
        expected = AgentFields(
            "Mia Moss", False, can_take_cash=False, max_transaction_amount=1_250, location_ids=("tml_fair",)
        )
        assert agents.fields_of(agent) == expected
        assert db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all() == ["pos_agent.enable"]
    page = admin.get(AGENT)
    assert page.value("maxTransactionAmount") == "12.50"
    assert _checked(page) == {"canBuildOrders", "locations"}


def _users(app: Flask) -> list[str]:
    with app.app_context():
        return [str(user.id) for user in db.session.scalars(select(User).order_by(User.display_name))] + ["new"]


def _checked(page: Reading) -> set[str]:
    return {field["name"] for field in page.all("input") if "checked" in field}


def test_someone_new_becomes_an_agent(app: Flask, admin: PageClient) -> None:
    form = {"userId": "new", "email": "ned@shop.test", "password": "seven red kettles", "displayName": "Ned New"}
    assert admin.post(NEW, form).status_code == 302
    with app.app_context():
        user = db.session.scalars(select(User).where(User.email == "ned@shop.test")).one()
        assert [grant.role for grant in user.grants] == ["POS_AGENT"]


def test_what_is_wrong_is_shown_at_its_field_and_nothing_is_saved(app: Flask, admin: PageClient, ids: Ids) -> None:
    page = admin.post(NEW, {"userId": str(ids.mia), "maxTransactionAmount": "a lot", "displayName": "x" * 101}, 400)
    assert {"#f-maxTransactionAmount", "#f-displayName"} <= {link.get("href") for link in page.all("a")}
    assert page.value("maxTransactionAmount") == "a lot"
    for form in ({}, {"userId": "99"}, {"userId": "x"}, {"userId": "new", "email": "no", "displayName": "N"}):
        admin.post(NEW, form, 400)
    admin.post(NEW, {"userId": str(ids.mia), "locations": "tml_theirs"}, 400)
    with app.app_context():
        assert db.session.scalars(select(PosAgent)).all() == []


def test_of_someone_new_every_problem_is_shown_at_once(admin: PageClient) -> None:
    form = {"userId": "new", "email": "no", "password": "short", "displayName": "", "maxTransactionAmount": "a lot"}
    page = admin.post(NEW, form, 400)
    fields = ["maxTransactionAmount", "displayName", "email", "password"]
    assert [link["href"] for link in page.all("a") if link.get("href", "").startswith("#f-")] == [
        f"#f-{f}" for f in fields
    ]


def test_devices_without_a_name_are_told_apart_by_their_time(app: Flask, admin: PageClient, tilly: None) -> None:
    with app.app_context(), transaction():
        agent = db.session.get_one(PosAgent, 1)
        for day in (1, 2):
            make_work_session(agent, id=f"open-{day}", device_name=None, started_at=WHEN - timedelta(days=day))
    page = " ".join(admin.client.get(AGENT, base_url=admin.base).text.split())
    buttons = re.findall(r'Sign out<span class="unseen"> (.*?)</span>', page)
    assert len(buttons) == len(set(buttons)) == 3
    assert sum(button.startswith("the unnamed device of ") for button in buttons) == 2


def test_an_agent_is_changed_unless_another_user_was_first(app: Flask, admin: PageClient, tilly: None) -> None:
    form = {"displayName": "Till", "revision": "1", "canRefund": "on"}
    assert admin.post(AGENT, form).status_code == 302
    page = admin.post(AGENT, form | {"displayName": "Late"}, 409)
    assert page.value("displayName") == "Late"
    with app.app_context():
        assert db.session.scalar(select(PosAgent.display_name)) == "Till"


def test_the_page_has_a_word_for_every_end_of_a_session(app: Flask, admin: PageClient, tilly: None) -> None:
    assert END_REASONS.keys() == set(EndReason)
    with app.app_context(), transaction():
        for reason in EndReason:
            make_work_session(db.session.get_one(PosAgent, 1), id=reason, ended_at=WHEN, end_reason=reason)
    page = admin.client.get(AGENT, base_url=admin.base).text
    assert [words for words in END_REASONS.values() if words not in page] == []


def test_disabling_and_enabling(app: Flask, admin: PageClient, tilly: None) -> None:
    admin.post(f"{AGENT}/disable", {"revision": "1"})
    page = admin.get(AGENT)
    assert "Disabled" in page.texts["p"] or "Disabled" in page.texts["span"]
    with app.app_context():
        assert db.session.get_one(PosSession, "open").end_reason is not None
    admin.post(f"{AGENT}/enable", {"revision": "1"})
    admin.get(AGENT)
    with app.app_context():
        assert not db.session.scalar(select(PosAgent.enabled)), "an old page changes nothing"
    admin.post(f"{AGENT}/enable", {"revision": "2"})
    with app.app_context():
        assert db.session.scalar(select(PosAgent.enabled))


def test_an_agents_page_leads_to_sessions_and_payments(admin: PageClient, tilly: None) -> None:
    links = [link.get("href", "") for link in admin.get(AGENT).all("a")]
    assert "/admin/pos/sessions/open" in links and "/admin/pos/sessions/over" in links
    assert [href for href in links if "/transactions/" in href]


@pytest.mark.parametrize(("currency", "example"), [("gbp", "250.00"), ("jpy", "250")])
def test_the_hint_is_an_amount_of_the_shops_currency(
    app: Flask, admin: PageClient, ids: Ids, currency: str, example: str
) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Site, ids.site).currency = currency
    page = admin.get(NEW)
    assert f"In {currency.upper()}, such as {example}. Empty" in page.texts["p"]
    assert "Display name" in page.texts["label"]


def test_a_session_is_signed_out(app: Flask, admin: PageClient, tilly: None) -> None:
    with app.app_context(), transaction():
        agent, now = db.session.get_one(PosAgent, 1), WHEN
        db.session.add(
            ApiSession(
                id="open", user_id=agent.user_id, site_id=agent.site_id, refresh_hash="x", audience="pos",
                session_version=1, created_at=now, last_used_at=now, expires_at=now,
            )
        )  # fmt: skip
    admin.get(AGENT)
    assert admin.post(f"{AGENT}/sessions/open/revoke", {}).status_code == 302
    with app.app_context():
        assert db.session.get_one(PosSession, "open").end_reason == "REVOKED"


def test_an_agent_may_take_and_move_cash(app: Flask, admin: PageClient, tilly: None, ids: Ids) -> None:
    page = admin.get(AGENT)
    assert _checked(page) == {"canProcessQuickPayments", "canBuildOrders", "canTakeCash", "locations"}
    shown = admin.get(AGENTS).texts["span"]
    assert ("Cash" in shown, "Cash movements" in shown) == (True, False)
    form = {"revision": "1", "displayName": "Tilly Till", "canMoveCash": "on"}
    admin.post(AGENT, form)
    assert _checked(admin.get(AGENT)) == {"canMoveCash"}
    assert "Cash movements" in admin.get(AGENTS).texts["span"]


def test_the_list_is_searched_and_asks_as_much_for_many_as_for_one(
    app: Flask, admin: PageClient, tilly: None, ids: Ids
) -> None:
    assert "Tilly" in admin.get(f"{AGENTS}?q=TILLY%40shop").texts["a"]
    assert "No agent matches" in admin.get(f"{AGENTS}?q=100%25").texts["p"]

    def request_status() -> int:
        with statements(app) as seen:
            admin.get(AGENTS)
        return len(seen)

    one = request_status()
    with app.app_context(), transaction():
        shop = db.session.get_one(Site, ids.site)
        for number in range(5):
            make_agent(shop, make_user(shop, Role.POS_AGENT), make_location(shop, display_name=f"Place {number}"))
    assert request_status() == one

"""The pages of work sessions: X and Z reports, closing a session that nobody closed, and the list of Z reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.pos import sessions
from app.domain.pos.models import PosAgent, PosLocation, PosSession
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import (
    WHEN,
    make_agent,
    make_location,
    make_movement,
    make_refund,
    make_site,
    make_transaction,
    make_user,
    make_work_session,
)
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.snapshots import built
from tests.statements import statements

REPORTS, SESSIONS = "/admin/pos/reports", "/admin/pos/sessions"


@dataclass(frozen=True)
class Ids:
    site: int
    agent: int
    stall: int
    shop: int


@pytest.fixture
def ids(app: Flask) -> Ids:
    return built(app, _shop)


def _shop() -> Ids:
    """An agent with a session at two locations that ended without being closed, and one by an admin who is none."""
    with transaction():
        site = make_site()
        admin = make_user(site, Role.ADMIN, email="admin@shop.test", name="Ada Admin")
        stall, shop = (make_location(site, f"tml_{name.lower()}", display_name=name) for name in ("Stall", "Shop"))
        user = make_user(site, Role.POS_AGENT, email="tilly@shop.test", name="Tilly Till")
        agent = make_agent(site, user, stall, shop)
        at = {"location_id": stall.id, "opened_location_id": stall.id}
        session = make_work_session(agent, id="over", ended_at=WHEN, end_reason="EXPIRED", opening_float=10_000, **at)
        of = {"session_id": session.id}
        cash = of | {"tender_type": "CASH", "rounding_in_pence": 2}
        mugs = make_transaction(agent, stall, "PARTIALLY_REFUNDED", amount_in_pence=1_248, **cash)
        make_transaction(agent, shop, "SUCCEEDED", amount_in_pence=700, **(cash | {"rounding_in_pence": 0}))
        make_transaction(
            agent, stall, "SUCCEEDED", card_brand="visa", tip_in_pence=300, captured_amount=2_300,
            amount_in_pence=2_000, **of,
        )  # fmt: skip
        make_refund(mugs, 250, **of)
        make_movement(session, "DROP", 5_000, reason="To the safe")
        make_movement(session, "PAY_IN", 2_000, agent_id=None)
        for status, amount in (("UNKNOWN", 1_500), ("AUTHORIZED", 2_000), ("PENDING", 400)):
            make_transaction(agent, stall, status, amount_in_pence=amount, **of)
        db.session.add(
            PosSession(
                id="admin's", site_id=site.id, user_id=admin.id, started_at=WHEN, last_seen_at=WHEN, expires_at=WHEN,
                currency="gbp",
            )
        )  # fmt: skip
        return Ids(site.id, agent.id, stall.id, shop.id)


@pytest.fixture
def admin(app: Flask, ids: Ids) -> PageClient:
    return PageClient(app).signed_in("admin@shop.test")


def text_of(admin: PageClient, path: str) -> str:
    return " ".join(admin.client.get(path, base_url=admin.base).text.split())


def test_an_x_report_shows_tenders_tips_movements_and_the_drawer(admin: PageClient) -> None:
    page = admin.get(f"{SESSIONS}/over")
    assert page.texts["h1"] == "X report"
    shown = text_of(admin, f"{SESSIONS}/over")
    for figure in ("£19.48", "£20.00", "£39.48", "£36.98", "£3.00", "+£0.02", "−£2.50", "−£50.00", "+£20.00", "£87.00"):
        assert figure in shown, figure
    for words in ("To the safe", "Tilly Till", "Elsewhere", "£7.00", "was not closed", "0" * 64):
        assert words in shown, words
    assert "3 payments" not in shown
    assert "2 payments, £35.00 together, are still under way and in no figure below." in shown
    assert "1 payment, £4.00, only waits for a card: no money was taken." in shown
    assert "data-prints" in shown
    admin.get(f"{SESSIONS}/nothing", 404)


def test_an_x_report_is_among_the_reports(admin: PageClient) -> None:
    here = [link["href"] for link in admin.get(f"{SESSIONS}/over").all("a") if "aria-current" in link]
    assert "/admin/pos/reports" in here and "/admin/pos/agents" not in here


def test_a_session_that_nobody_closed_is_closed_by_an_admin(app: Flask, admin: PageClient) -> None:
    for form, field in (
        ({"countedCash": ""}, "countedCash"),
        ({"countedCash": "much"}, "countedCash"),
        ({"countedCash": "1", "closingNote": "4242 4242 4242 4242"}, "closingNote"),
    ):
        page = admin.post(f"{SESSIONS}/over/close", form, 400)
        assert f"#f-{field}" in {link.get("href") for link in page.all("a")}
        assert page.value("countedCash") == form["countedCash"]
    answer = admin.post(f"{SESSIONS}/over/close", {"countedCash": "86.90", "closingNote": "Found it open"})
    assert answer.location.endswith(f"{SESSIONS}/over")
    page = admin.get(f"{SESSIONS}/over")
    assert page.texts["h1"] == "Z report 1"
    shown = text_of(admin, f"{SESSIONS}/over")
    for words in ("Short", "−£0.10", "£86.90", "Found it open"):
        assert words in shown, words
    assert "Close session" not in shown
    admin.post(f"{SESSIONS}/over/close", {"countedCash": "1"}, 409)
    with app.app_context():
        assert db.session.scalars(select(AuditEntry.action)).all() == ["pos_session.close"]
        session = db.session.get_one(PosSession, "over")
        assert (session.end_reason, session.counted_cash) == ("EXPIRED", 8_690)


def test_an_admins_own_session_has_a_page_and_a_report(admin: PageClient) -> None:
    assert "Ada Admin" in text_of(admin, f"{SESSIONS}/admin's")
    admin.post(f"{SESSIONS}/admin's/close", {"countedCash": "0"})
    shown = text_of(admin, f"{SESSIONS}/admin's")
    assert "Nothing was taken" in shown and "Exact" in shown


def test_an_empty_list_says_how_reports_come_about(admin: PageClient) -> None:
    page = admin.get(REPORTS)
    assert page.texts["h1"] == "Reports"
    assert "No Z reports yet" in page.texts["p"]


@pytest.fixture
def closed(app: Flask, ids: Ids, clock: StoppedClock) -> list[str]:
    """Sessions that were closed on three days, the first at the shop."""
    names = []
    for day, place in enumerate((ids.shop, ids.stall, ids.stall)):
        with app.app_context(), transaction():
            agent = db.session.get_one(PosAgent, ids.agent)
            session = make_work_session(agent, id=f"day-{day}", opened_location_id=place)
            author = Author(ids.site, "Ada Admin", clock)
            sessions.close(author, session, 100, "")
        names.append(f"day-{day}")
        clock.move(days=1)
    return names


def listed(admin: PageClient, query: str = "") -> list[str]:
    """Return the sessions whose Z reports are listed."""
    admin.get(f"{REPORTS}{query}")
    return linked(text_of(admin, f"{REPORTS}{query}").partition('id="results"')[2])


def linked(html: str) -> list[str]:
    return [link.partition('"')[0].replace("&#39;", "'") for link in html.split(f'href="{SESSIONS}/')[1:]]


def test_the_list_is_filtered_by_location_and_day(ids: Ids, closed: list[str], admin: PageClient) -> None:
    assert listed(admin) == closed[::-1]
    assert listed(admin, f"?location={ids.stall}") == ["day-2", "day-1"]
    assert listed(admin, "?from=2026-11-21&to=2026-11-21") == ["day-1"]
    assert listed(admin, "?p=2") == []
    shown = text_of(admin, REPORTS)
    for words in ("Tilly Till", "Stall", "+£1.00", "Over", "3 Z reports"):
        assert words in shown, words
    assert "No Z report matches" in admin.get(f"{REPORTS}?to=2026-11-19").texts["p"]
    for query in ("?location=x", "?from=yesterday", "?from=2026-11-21&to=2026-11-20"):
        assert 'role="alert"' in text_of(admin, f"{REPORTS}{query}")
    assert listed(admin, "?from=0001-01-01&to=9999-12-31") == closed[::-1]


def test_the_list_is_of_this_shop_and_asks_as_much_for_many_as_for_one(
    app: Flask, admin: PageClient, ids: Ids, clock: StoppedClock
) -> None:
    def close(number: int, site_id: int) -> None:
        with app.app_context(), transaction():
            agent = db.session.query(PosAgent).filter_by(site_id=site_id).first()
            session = make_work_session(agent, id=f"{site_id}-{number}")
            sessions.close(Author(site_id, "Ada Admin", clock), session, 0, "")

    def count() -> int:
        with statements(app) as seen:
            admin.get(REPORTS)
        return len(seen)

    close(0, ids.site)
    one = count()
    for number in range(1, 6):
        close(number, ids.site)
    with app.app_context(), transaction():
        other = make_site("other.localhost", "Other")
        make_agent(other, make_user(other, Role.POS_AGENT), make_location(other))
        other_id = other.id
    close(0, other_id)
    assert count() == one
    assert len(listed(admin)) == 6
    admin.get(f"{SESSIONS}/{other_id}-0", 404)
    with app.app_context():
        assert db.session.get(Site, other_id) and db.session.query(PosLocation).count() == 3


def test_a_report_from_before_they_were_stored_is_listed_all_the_same(
    app: Flask, admin: PageClient, ids: Ids, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        agent = db.session.get_one(PosAgent, ids.agent)
        make_work_session(agent, id="old", closed_at=clock.now() - timedelta(days=1), counted_cash=5)
    assert listed(admin) == ["old"]
    assert admin.get(f"{SESSIONS}/old").texts["h1"] == "Z report"


def test_the_reports_begin_with_the_x_reports_of_sessions_that_are_not_closed(
    app: Flask, admin: PageClient, ids: Ids, clock: StoppedClock
) -> None:
    def with_x_reports() -> list[str]:
        return linked(text_of(admin, REPORTS).partition('id="results"')[0])

    assert sorted(with_x_reports()) == ["admin's", "over"]
    with app.app_context(), transaction():
        session = db.session.get_one(PosSession, "over")
        sessions.close(Author(ids.site, "Ada Admin", clock), session, 0, "")
    assert (with_x_reports(), listed(admin)) == (["admin's"], ["over"])

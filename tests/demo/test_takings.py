"""The demo shop's counter has taken money for a week, and its session of today is open."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.demo.shop import BUNDLE, HOST
from app.demo.takings import COUNTER_ID, EMAIL, TAKINGS, write_takings
from app.domain.bundles.importer import import_bundle
from app.domain.pos import journal, sessions
from app.domain.pos.models import PosLocation, PosSession, PosTransaction
from app.domain.pos.reports import figures_of_today
from app.domain.sites import accounts
from app.domain.sites.sites import site_at
from app.extensions import db
from app.ports import images
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

DAYS = [json.loads(line) for line in TAKINGS.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def demo(app: Flask, clock: StoppedClock, tmp_path: Path) -> Flask:
    """The demo shop's people and tills, without its products, which take a while."""
    folder = tmp_path / "demo"
    folder.mkdir()
    for name in ("site.json", "users.json", "pos.json"):
        shutil.copy(BUNDLE / name, folder)
    with app.app_context():
        import_bundle(folder, HOST, clock, images(), transaction, "The tests", 8)
        with transaction():
            site = site_at(HOST)
            write_takings(clock, site, 8, "The tests")
    return app


@pytest.fixture
def site_id(demo: Flask) -> Iterator[int]:
    with demo.app_context():
        yield site_at(HOST).id


def test_every_day_before_today_is_closed_with_a_z_report_of_its_sales(site_id: int) -> None:
    closed = db.session.scalars(
        select(PosSession).where(PosSession.closed_at.is_not(None)).order_by(PosSession.z_number)
    )
    for day, session in zip(DAYS[:-1], closed, strict=True):
        assert session.z_report is not None and session.end_reason == "LOGOUT"
        cash = sum(sale["amount"] for sale in day["sales"] if "tendered" in sale)
        dropped = day["drop"]["amount"] if "drop" in day else 0
        assert session.counted_cash == day["float"] + cash - dropped + day["difference"]
    assert [day["daysAgo"] for day in DAYS] == [7, 6, 5, 4, 3, 2, 1, 0]


def test_the_dashboard_has_takings_of_today_and_of_a_week_ago(clock: StoppedClock, site_id: int) -> None:
    shown = figures_of_today(clock, site_id)
    assert shown.figures.gross == sum(sale["amount"] for sale in DAYS[-1]["sales"])
    assert shown.before.gross > 0
    assert [place.display_name for place in shown.locations if place.taken] == ["Shop counter"]


def test_sales_of_today_are_neither_ahead_of_the_clock_nor_of_yesterday(clock: StoppedClock, site_id: int) -> None:
    newest = db.session.scalar(select(func.max(PosTransaction.captured_at)))
    open_session = db.session.scalars(select(PosSession).where(PosSession.closed_at.is_(None))).one()
    assert newest is not None and clock.now() - timedelta(hours=4) <= open_session.started_at <= newest <= clock.now()


def test_the_session_of_today_stays_open_and_another_location_is_untouched(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        assert sessions.apply_ends(clock) == 0
    z_numbers = dict(db.session.execute(select(PosLocation.location_id, PosLocation.last_z_number)).all())
    assert z_numbers == {COUNTER_ID: len(DAYS) - 1, "tml_demo_market": 0}


def test_the_journal_of_all_of_it_is_whole(site_id: int) -> None:
    found = journal.verify(site_id)
    assert found.is_whole and found.total == sum(len(day["sales"]) for day in DAYS) + len(DAYS) - 1 + 2


def test_admins_open_its_payments_and_reports(demo: Flask) -> None:
    with demo.app_context():
        payments = db.session.scalars(select(PosTransaction.id).order_by(PosTransaction.created_at).limit(12)).all()
        work_sessions = db.session.scalars(select(PosSession.id)).all()
    admin = PageClient(demo).signed_in("admin@demo.test")
    for payment_id in payments:
        assert "Shop counter" in admin.client.get(f"/admin/pos/transactions/{payment_id}").text
    for session_id in work_sessions:
        assert "Cora Counter" in admin.client.get(f"/admin/pos/sessions/{session_id}").text


def test_its_agent_signs_in_as_everybody_of_the_demo_shop(site_id: int) -> None:
    assert accounts.check_password(8, EMAIL, "demo-password-1").display_name == "Cora Counter"

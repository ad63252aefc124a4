"""The till today."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from flask import Flask

from app import ports
from app.domain.pos.ledger import note_difference
from app.domain.pos.ledger_comparison import Difference, DifferenceKind
from app.domain.pos.models import LedgerDifference, PosRefund
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.blueprints.admin.pos_till import AtTill, at_till
from tests.factories import make_site, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.statements import statements

PAGE = "/admin/pos"
WEEK = timedelta(days=7)


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def till(app: Flask, site_id: int, clock: StoppedClock) -> AtTill:
    return at_till(app, site_id, clock.now())


def text_of(client: PageClient, path: str = PAGE) -> str:
    return " ".join(client.client.get(path, base_url=client.base).text.split())


def figure(page: str, label: str) -> str:
    found = re.search(rf"<dt>{label}</dt><dd>(.*?)</dd>", page)
    assert found, label
    return found[1]


def test_the_day_is_summed_up(ada: PageClient, till: AtTill, app: Flask) -> None:
    paid = till.payment(amount_in_pence=3_000, attempts=2)
    till.payment(amount_in_pence=1_000)
    till.payment("CANCELLED", attempts=1)
    with app.app_context(), transaction():
        db.session.add(
            PosRefund(
                id="r",
                site_id=till.site_id,
                transaction_id=paid,
                amount=500,
                reason="Torn",
                status="SUCCEEDED",
                requested_by="Ada",
                created_at=till.now,
                updated_at=till.now,
            )
        )
    ada.get(PAGE)
    page = text_of(ada)
    assert [figure(page, label) for label in ("Sales", "Gross", "Refunds", "Net", "Average sale", "Declined")] == [
        "2", "£40.00", "£5.00", "£35.00", "£20.00", "3",
    ]  # fmt: skip


def test_the_till_is_opened_from_here(ada: PageClient) -> None:
    assert "/till" in [link.get("href") for link in ada.get(PAGE).all("a")]


def test_a_day_is_shown_by_tender_with_tips_apart(ada: PageClient, till: AtTill) -> None:
    till.payment(amount_in_pence=1_000, tip_in_pence=150, captured_amount=1_150)
    assert [figure(text_of(ada), label) for label in ("Gross", "Card", "Cash", "Tips")] == [
        "£10.00", "£10.00", "£0.00", "£1.50",
    ]  # fmt: skip
    till.cash()
    till.cash("CANCELLED", captured_amount=0)
    page = text_of(ada)
    assert [figure(page, label) for label in ("Sales", "Gross", "Net", "Card", "Cash", "Tips")] == [
        "2", "£22.52", "£22.52", "£10.00", "£12.52", "£1.50",
    ]  # fmt: skip


def test_a_shop_without_cash_and_tips_sees_no_tenders(ada: PageClient, till: AtTill) -> None:
    till.payment()
    assert "<dt>Cash</dt>" not in text_of(ada)


def test_a_day_is_one_of_the_shops_time_zone(
    app: Flask, ada: PageClient, till: AtTill, site_id: int, clock: StoppedClock
) -> None:
    till.payment(created_at=till.now.replace(hour=0, minute=0))
    till.payment(created_at=till.now.replace(hour=0, minute=0) - timedelta(seconds=1))
    assert figure(text_of(ada), "Sales") == "1"


def test_figures_stand_beside_those_of_the_same_weekday_up_to_the_same_time(ada: PageClient, till: AtTill) -> None:
    till.payment(amount_in_pence=3_000)
    till.payment(amount_in_pence=2_000, created_at=till.now - WEEK - timedelta(hours=1))
    till.payment(amount_in_pence=9_900, created_at=till.now - WEEK + timedelta(hours=1))
    page = text_of(ada)
    assert "+50 %" in page and "13 November up to this time" in page
    assert "12:00, so far: £30.00" in page and "13:00: Friday a week ago: £99.00" in page


def test_who_is_at_a_till_is_listed_with_what_they_took(ada: PageClient, till: AtTill) -> None:
    till.session(last_seen_at=till.now - timedelta(minutes=4))
    till.session(ended_at=till.now, device_name="Gone")
    till.session(expires_at=till.now, device_name="Expired")
    till.payment(amount_in_pence=700)
    page = text_of(ada)
    assert "Tilly Till" in page and "Pixel 9" in page and "4 minutes ago" in page and "£7.00" in page
    assert "Gone" not in page and "Expired" not in page


def test_an_agent_with_two_devices_stands_once_with_the_one_seen_last(ada: PageClient, till: AtTill) -> None:
    till.session(last_seen_at=till.now - timedelta(minutes=9), device_name="Old phone")
    till.session(last_seen_at=till.now - timedelta(minutes=4))
    page = text_of(ada)
    assert page.count("Tilly Till") == 1 and "Pixel 9" in page and "and 1 more" in page and "Old phone" not in page


def test_unknown_outcomes_and_anomalies_are_shown_with_where_they_are_listed(ada: PageClient, till: AtTill) -> None:
    assert "Needs attention" not in text_of(ada)
    till.payment("UNKNOWN")
    till.payment("UNKNOWN")
    till.payment(anomaly="amount_differs")
    page = text_of(ada)
    assert "2 payments is unknown" in page and "/admin/pos/transactions?status=unknown" in page
    assert "1 payment needs attention" in page and "/admin/pos/transactions?status=anomaly" in page


def test_a_till_that_is_off_or_has_nobody_says_so(ada: PageClient, app: Flask, site_id: int) -> None:
    ada.get(PAGE)
    page = text_of(ada)
    assert "Mobile POS is off" in page and "No agents yet" in page and "No sales today" in page
    with app.app_context(), transaction():
        change_settings(site_id, {"posEnabled": True})
    assert "Mobile POS is off" not in text_of(ada)


def test_it_takes_the_same_few_statements_however_much_was_sold(app: Flask, ada: PageClient, till: AtTill) -> None:
    till.session()
    till.payment()
    with statements(app) as few:
        ada.get(PAGE)
    for number in range(10):
        till.payment(created_at=till.now - timedelta(hours=number))
        till.session()
    with statements(app) as many:
        ada.get(PAGE)
    assert len(many) == len(few) < 25


def test_another_shops_money_is_not_counted(app: Flask, ada: PageClient, till: AtTill, signed_in: SignedIn) -> None:
    till.payment(amount_in_pence=123_456)
    assert "£1,234.56" in text_of(ada)
    with app.app_context(), transaction():
        other = make_site("other.test")
        make_user(other, Role.ADMIN, email="other@shop.test")
    elsewhere = PageClient(app, "other.test").signed_in("other@shop.test")
    assert "1,234.56" not in text_of(elsewhere) and "1,234.56" not in text_of(elsewhere, "/admin/pos/transactions")


def test_a_difference_with_the_processors_books_is_shown_and_settled(
    app: Flask, ada: PageClient, till: AtTill, signed_in: SignedIn
) -> None:
    ada.get("/admin/pos/differences")
    assert "No differences" in text_of(ada, "/admin/pos/differences")
    with app.app_context(), transaction():
        author = Author(till.site_id, "reconciliation", ports.clock())
        kind = next(iter(DifferenceKind))
        note_difference(author, Difference(kind, "", "pi_lost", None, ours="nothing", theirs="12.50 GBP"))
        difference_id = db.session.query(LedgerDifference).one().id
    assert "1 difference with the payment processor’s books" in text_of(ada)
    ada.get("/admin/pos/differences")
    page = text_of(ada, "/admin/pos/differences")
    assert kind.label in page and "pi_lost" in page and "12.50 GBP" in page
    with app.app_context(), transaction():
        row = db.session.get_one(LedgerDifference, difference_id)
        row.kind, row.ours, row.theirs = DifferenceKind.STATUS.value, "SUCCEEDED", "CANCELLED"
    statuses = text_of(ada, "/admin/pos/differences")
    assert ">Paid<" in statuses and ">Cancelled<" in statuses, "in the words of the other pages"
    ada.get("/admin/pos/differences")
    ada.post(f"/admin/pos/differences/{difference_id}/settle", {})
    assert "No differences" in text_of(ada, "/admin/pos/differences")
    assert "with the payment processor’s books" not in text_of(ada)

"""The X and Z report: what was taken in a session, by brand of card."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app.domain.pos import reports, sessions
from app.domain.pos.models import PosAgent, PosLocation, PosRefund, PosSession, PosTransaction
from app.domain.pos.report_figures import BrandSums, CountedPayments, Sums, Unresolved, sums_by_brand, total_of
from app.domain.sites.models import Site, User
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import SignIn, Staff, stored
from tests.factories import make_agent, make_transaction
from tests.fakes.clock import StoppedClock
from tests.statements import statements

counts = st.integers(0, 1_000)
amounts = st.integers(0, 10**12)
payments = st.builds(CountedPayments, st.sampled_from(["visa", "amex", "", None]), counts, amounts, counts, amounts)


@given(st.lists(payments))
def test_the_brands_add_up_to_the_total(counted: list[CountedPayments]) -> None:
    cards = sums_by_brand(counted)
    total = total_of(cards)
    assert [card.card_brand for card in cards] == sorted({one.card_brand or "unknown" for one in counted})
    assert total.count == sum(one.count for one in counted)
    assert total.net == sum(one.gross - one.refunds for one in counted)
    assert total.net == sum(card.net for card in cards)


Take = Callable[..., str]


@pytest.fixture
def session(staff: Staff, sign_in: SignIn) -> PosSession:
    return sign_in(staff.tilly)


@pytest.fixture
def take(staff: Staff, session: PosSession) -> Take:
    """Takes a payment in the session, or in none."""
    session_id = session.id
    with transaction():
        location = db.session.query(PosLocation).first()
        agent_id, location_id = (
            make_agent(db.session.get(Site, staff.site_id), db.session.get(User, staff.tilly)).id,
            location.id,
        )

    def taken(
        status: str = "SUCCEEDED", amount: int = 1_000, brand: str | None = "visa", in_session: bool = True
    ) -> str:
        with transaction():
            agent, location = db.session.get(PosAgent, agent_id), db.session.get(PosLocation, location_id)
            of = {"session_id": session_id} if in_session else {}
            return make_transaction(agent, location, status, amount_in_pence=amount, card_brand=brand, **of).id

    return taken


def test_what_was_taken_and_given_back_is_counted_by_brand(
    app: Flask, staff: Staff, session: PosSession, take: Take, clock: StoppedClock
) -> None:
    first = take("PARTIALLY_REFUNDED", 1_000)
    take("SUCCEEDED", 500)
    take("SUCCEEDED", 700, "amex")
    take("UNKNOWN", 900)
    take("PENDING", 400)
    for status in ("CANCELLED", "FAILED"):
        take(status)
    take(in_session=False)
    _refund(staff, first, 300)
    _refund(staff, first, 300, status="FAILED")
    known = stored(session.id)
    with statements(app) as queries:
        report = reports.report_of_session(clock, known)
    assert len([one for one in queries if one.startswith("SELECT")]) <= 4
    visa, amex = Sums(2, 1_500, 1, 300), Sums(1, 700)
    assert report.cards == (BrandSums("amex", amex), BrandSums("visa", visa))
    assert (report.type, report.total, report.total.net) == ("X", Sums(3, 2_200, 1, 300), 1_900)
    assert report.unresolved == Unresolved(2, 1_300, waiting=1, waiting_amount=400)
    assert (report.unresolved.under_way, report.unresolved.amount_under_way) == (1, 900)
    assert report.cash_difference is None


def test_a_z_report_stays_as_it_was_whatever_is_refunded_later(
    staff: Staff, session: PosSession, take: Take, clock: StoppedClock
) -> None:
    payment = take()
    with transaction():
        known = sessions.session_of(staff.site_id, session.id)
        sessions.set_opening_float(staff.author, known, 5_000)
        sessions.close(staff.author, known, 4_950, "")
    before = reports.report_of_session(clock, stored(session.id))
    clock.move(minutes=1)
    _refund(staff, payment, 1_000)
    after = reports.report_of_session(clock, stored(session.id))
    assert (before.type, before.total, before.cash_difference) == ("Z", Sums(1, 1_000), -50)
    assert after.total == before.total


def test_a_z_report_stays_as_it_was_when_a_payment_is_settled_later(
    staff: Staff, session: PosSession, take: Take, clock: StoppedClock
) -> None:
    take()
    payment = take("UNKNOWN", 700)
    with transaction():
        sessions.close(staff.author, sessions.session_of(staff.site_id, session.id), 0, "")
    before = reports.report_of_session(clock, stored(session.id))
    clock.move(minutes=1)
    with transaction():
        known = db.session.get_one(PosTransaction, payment)
        known.status, known.captured_amount, known.captured_at = "SUCCEEDED", 700, clock.now()
    after = reports.report_of_session(clock, stored(session.id))
    assert (after.cards, after.total, after.unresolved) == (before.cards, Sums(1, 1_000), Unresolved(1, 700))
    assert after.unresolved == before.unresolved


def test_an_empty_session_has_a_report_of_nothing(session: PosSession, clock: StoppedClock) -> None:
    report = reports.report_of_session(clock, session)
    assert (report.cards, report.total, report.unresolved.count) == ((), Sums(), 0)


def _refund(staff: Staff, transaction_id: str, amount: int, status: str = "SUCCEEDED") -> None:
    now = staff.author.now()
    with transaction():
        db.session.add(
            PosRefund(
                id=f"{transaction_id}-{status}", site_id=staff.site_id, transaction_id=transaction_id, amount=amount,
                reason="Torn", status=status, requested_by="Ada Admin", created_at=now, updated_at=now,
            )
        )  # fmt: skip

"""The X and Z report: what was taken in a session, by brand of card."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC

import pytest
from flask import Flask
from hypothesis import given
from hypothesis import strategies as st

from app.domain.pos import reports, sessions
from app.domain.pos.models import PosAgent, PosLocation, PosSession, PosTransaction
from app.domain.pos.report_figures import (
    BrandSums,
    CountedPayments,
    LocationSums,
    Movements,
    ReportType,
    SessionReport,
    Sums,
    Unresolved,
    report_from_json,
    report_to_json,
    sums_by_brand,
    total_of,
)
from app.domain.sites.models import Site, User
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import SignIn, Staff, stored
from tests.factories import make_agent, make_refund, make_transaction
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
    elsewhere = take(in_session=False)
    for payment, amount, of in ((first, 300, session.id), (elsewhere, 400, session.id), (first, 500, None)):
        _refund(clock, payment, amount, of)
    _refund(clock, first, 300, session.id, status="FAILED")
    known = stored(session.id)
    with statements(app) as queries:
        report = reports.report_of_session(clock, known)
    assert len([one for one in queries if one.startswith("SELECT")]) <= 6
    visa, amex = Sums(2, 1_500, 2, 700), Sums(1, 700)
    assert report.cards == (BrandSums("amex", amex), BrandSums("visa", visa))
    assert (report.type, report.total, report.total.net) == ("X", Sums(3, 2_200, 2, 700), 1_500)
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
    _refund(clock, payment, 1_000, session.id)
    after = reports.report_of_session(clock, stored(session.id))
    assert (before.type, before.total, before.cash_difference) == ("Z", Sums(1, 1_000), -50)
    assert after == before


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


@pytest.mark.parametrize("refunded_after", [False, True])
def test_a_session_that_was_closed_before_reports_were_stored_counts_up_to_its_end(
    session: PosSession, take: Take, clock: StoppedClock, refunded_after: bool
) -> None:
    payment = take()
    with transaction():
        stored(session.id).closed_at = clock.now()
    clock.move(minutes=int(refunded_after))
    _refund(clock, payment, 300, session.id)
    report = reports.report_of_session(clock, stored(session.id))
    assert (report.type, report.total.net) == ("Z", 1_000 if refunded_after else 700)
    assert sessions.journal_head_of(stored(session.id)) is None


sums = st.builds(Sums, counts, amounts, counts, amounts)
maybe = st.none() | st.integers(0, 10**9)
whole_reports = st.builds(
    SessionReport,
    type=st.sampled_from(ReportType),
    generated_at=st.datetimes(timezones=st.just(UTC)),
    currency=st.just("gbp"),
    cards=st.lists(st.builds(BrandSums, st.text(), sums)).map(tuple),
    cash=sums,
    tips=amounts,
    rounding=st.integers(-100, 100),
    movements=st.builds(Movements, amounts, amounts, amounts),
    unresolved=st.builds(Unresolved, counts, amounts, counts, amounts),
    opening_float=maybe,
    counted_cash=maybe,
    other_locations=st.lists(st.builds(LocationSums, st.text(), st.text(), sums, sums)).map(tuple),
)


@given(whole_reports)
def test_a_stored_report_is_read_as_it_was(report: SessionReport) -> None:
    written = json.loads(json.dumps(report_to_json(report)))
    assert report_from_json(written) == report
    del written["other_locations"], written["movements"]["drop"]
    older = report_from_json(written)
    assert (older.other_locations, older.movements.drop) == ((), 0), "what an older version did not store"


@given(whole_reports)
def test_the_drawer_holds_the_float_the_net_cash_and_what_was_moved(report: SessionReport) -> None:
    moved = report.movements.pay_in - report.movements.pay_out - report.movements.drop
    in_drawer = (report.opening_float or 0) + report.cash.gross - report.cash.refunds + report.rounding + moved
    assert report.expected_cash == in_drawer
    counted = report.counted_cash
    assert report.difference == (None if counted is None else counted - in_drawer)
    assert report.cash_difference == (None if report.opening_float is None else report.difference)


def _refund(
    clock: StoppedClock, transaction_id: str, amount: int, session_id: str | None, status: str = "SUCCEEDED"
) -> None:
    with transaction():
        payment = db.session.get_one(PosTransaction, transaction_id)
        make_refund(payment, amount, at=clock.now(), status=status, session_id=session_id)

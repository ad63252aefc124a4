"""Sessions that are closed while others sell: no payment falls between the Z report and the journal, and no number is
given twice, on every database."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.pos import sessions
from app.domain.pos.journal import EntryType
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosAgent, PosLocation, PosSession, PosTransaction
from app.domain.pos.movements import MovementRequest, MovementType, move_cash
from app.domain.pos.payments.cash import CashRequest, take_cash
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.creation import PaymentRequest, create_payment
from app.domain.pos.payments.settlement import capture
from app.domain.pos.payments.transitions import record_money
from app.domain.pos.refunds import RefundRequest, request_refund
from app.domain.pos.report_figures import report_from_json
from app.domain.sites import api_sessions
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.models import User
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.broken_transactions import noting
from tests.domain.pos.payments.conftest import Shop
from tests.domain.pos.payments.test_at_once import at_once
from tests.factories import make_work_session
from tests.fakes.payment_processor import FakeProcessor
from tests.waiting import wait_until_one_waits

pytestmark = pytest.mark.concurrent


@pytest.fixture
def cashiers(shop: Shop) -> list[Cashier]:
    """An agent with eight sessions at one location."""
    with transaction():
        agent = db.session.get_one(PosAgent, shop.agent_id)
        agent.can_move_cash = True
        ids = [make_work_session(agent, id=f"till-{number}").id for number in range(8)]
        for session_id in ids:
            sessions.note_use(shop.author.clock, session_id, shop.location_id)
    return [replace(shop.cashier, session_id=session_id) for session_id in ids]


def close(shop: Shop, session_id: str) -> str:
    with transaction():
        session = sessions.session_of(shop.author.site_id, session_id, to_change=True)
        sessions.close(shop.author, session, 0, "")
        return "closed"


def test_a_z_report_has_what_the_journal_had_before_it(
    app: Flask, shop: Shop, cashiers: list[Cashier], processor: FakeProcessor
) -> None:
    context, cashier = WorkContext(shop.author.clock, transaction), cashiers[0]
    paid = [take_cash(context, cashier, CashRequest(1_000)).payment.id for _ in range(4)]
    intents = [create_payment(context, processor, cashier, PaymentRequest(500)).intent.id for _ in range(8)]
    for intent_id in intents:
        processor.tap(intent_id)

    def act(index: int) -> str:
        turn, of = divmod(index, 5)
        if of == 0:
            return take_cash(context, cashier, CashRequest(100)).payment.status
        if of == 1:
            return capture(context, processor, cashier, intents[turn]).payment.status
        if of == 2:
            return move_cash(context, cashier, MovementRequest(MovementType.PAY_IN, 7, "Coins")).movement.type
        if of == 3 and turn < 4:
            wanted = RefundRequest(paid[turn], 10, "Torn", session_id=cashier.session_id)
            return request_refund(context, shop.author, processor, wanted).status
        return close(shop, cashier.session_id or "") if turn in (3, 5) else "idle"

    answers = at_once(app, 40, act)
    assert answers["closed"] == 1
    _check_session(cashier.session_id or "")
    assert db.session.query(PosTransaction).filter_by(status="SUCCEEDED", tender_type="CARD").count() == 8


def _check_session(session_id: str) -> None:
    """Compare the Z report with the journal: cash moves only before it; a card may be charged after it, which then is
    unresolved."""
    session = db.session.get_one(PosSession, session_id)
    assert session.z_report is not None
    report = report_from_json(session.z_report)
    entries = db.session.scalars(select(PosJournalEntry).order_by(PosJournalEntry.sequence)).all()
    place = next(index for index, entry in enumerate(entries) if entry.type == "Z_REPORT")
    before, after = entries[:place], entries[place + 1 :]
    cash = sum(entry.amount or 0 for entry in before if entry.tender_type == "CASH")
    cards = [entry.amount or 0 for entry in before if entry.tender_type == "CARD"]
    assert (report.expected_cash, report.card.gross, report.card.count) == (cash, sum(cards), len(cards))
    assert {entry.tender_type for entry in after} <= {"CARD"}
    assert report.unresolved.count == len(after) == 8 - len(cards)
    assert session.journal_head == entries[place].hash


def test_a_card_that_is_charged_before_the_z_report_is_in_it(
    app: Flask, shop: Shop, cashiers: list[Cashier], processor: FakeProcessor
) -> None:
    """Its sale stands in the journal already when the session closes, and is committed after that began."""
    context, session_id = WorkContext(shop.author.clock, transaction), cashiers[0].session_id or ""
    payment_id = create_payment(context, processor, cashiers[0], PaymentRequest(500)).transaction_id

    def close_beside() -> None:
        with app.app_context():
            close(shop, session_id)

    closing = threading.Thread(target=close_beside)
    with transaction():
        payment = db.session.get_one(PosTransaction, payment_id)
        payment.status, payment.captured_amount, payment.captured_at = "SUCCEEDED", 500, shop.author.now()
        record_money(shop.author, payment, EntryType.SALE, 500, session_id)
        closing.start()
        wait_until_one_waits()
    closing.join()
    session = db.session.get_one(PosSession, session_id, populate_existing=True)
    report = report_from_json(session.z_report or {})
    assert (report.card.gross, report.unresolved.count) == (500, 0)


def test_sessions_that_close_at_once_get_numbers_without_gaps(app: Flask, shop: Shop, cashiers: list[Cashier]) -> None:
    ids = [cashier.session_id or "" for cashier in cashiers]
    assert at_once(app, 8, lambda index: close(shop, ids[index])) == {"closed": 8}
    numbers = db.session.scalars(select(PosSession.z_number).order_by(PosSession.z_number)).all()
    assert numbers == list(range(1, 9))
    assert db.session.scalar(select(PosLocation.last_z_number)) == 8
    hashes = db.session.scalars(select(PosJournalEntry.hash).where(PosJournalEntry.type == "Z_REPORT")).all()
    assert set(db.session.scalars(select(PosSession.journal_head))) == set(hashes)


def test_of_closes_of_one_session_one_counts(app: Flask, shop: Shop, cashiers: list[Cashier]) -> None:
    session_id = cashiers[0].session_id or ""
    assert at_once(app, 10, lambda _index: close(shop, session_id)) == {"closed": 1, "work_session_closed": 9}


def test_a_session_that_an_admin_ends_while_it_is_closed_waits_for_that(app: Flask, shop: Shop) -> None:
    """Both lock the API session first: neither is broken off for a deadlock."""
    broken, session_id = list[str](), _sign_in(shop)

    def end_beside() -> None:
        with app.app_context(), noting(broken)():
            sessions.revoke(shop.author, session_id)

    ending = threading.Thread(target=end_beside)
    with noting(broken)():
        session = sessions.session_of(shop.author.site_id, session_id, to_change=True)
        ending.start()
        wait_until_one_waits()
        sessions.close(shop.author, session, 0, "")
    ending.join()
    session = db.session.get_one(PosSession, session_id, populate_existing=True)
    assert (broken, session.end_reason, session.closed_at is not None) == ([], "LOGOUT", True)


def _sign_in(shop: Shop) -> str:
    """The agent signs in at a till; the id of the work session."""
    with transaction():
        user = db.session.get_one(User, shop.user_id)
        granted = api_sessions.open_session(shop.author.clock, user, shop.author.site_id, Audience.POS, Device())
        sessions.open_session(shop.author.clock, granted.caller, Device(), "TillApp/1", "192.0.2.1")
        return granted.caller.session_id

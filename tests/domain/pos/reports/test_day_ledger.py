"""X and Z reports against a ledger that was written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from app.domain.pos import reports, sessions
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosLocation, PosSession
from app.domain.pos.movements import MovementRequest, MovementType, move_cash
from app.domain.pos.payments.cash import CashRequest, take_cash, void_cash
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.creation import PaymentRequest, create_payment
from app.domain.pos.payments.settlement import capture
from app.domain.pos.refunds import RefundRequest, request_refund
from app.domain.pos.report_figures import SessionReport, Sums
from app.domain.sites.models import Site, User
from app.domain.sites.settings import change_settings
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import SignIn, Staff, stored
from tests.domain.pos.reports.day_ledger import FAIR, JOURNAL, Till, check_days
from tests.factories import make_agent
from tests.fakes.payment_processor import FakeProcessor


class DomainTill(Till):
    """Calls the domain, as the views do."""

    def __init__(self, staff: Staff, agent_id: int, sign_in: SignIn, processor: FakeProcessor) -> None:
        self.staff, self.agent_id, self.open, self.processor = staff, agent_id, sign_in, processor
        self.context = WorkContext(staff.author.clock, transaction)
        self.places = {each.location_id: each.id for each in db.session.scalars(select(PosLocation))}
        self.sales: dict[str, str] = {}
        self.session_id, self.closed_id = "", ""

    def sign_in(self) -> None:
        self.session_id = self.open(self.staff.tilly).id

    def _cashier(self, place: str = FAIR) -> Cashier:
        location_id = self.places[place]
        with transaction():
            sessions.note_use(self.staff.author.clock, self.session_id, location_id)
        return Cashier(self.staff.author, self.staff.tilly, self.agent_id, location_id, self.session_id)

    def set_float(self, amount: int) -> None:
        with transaction():
            sessions.set_opening_float(self.staff.author, stored(self.session_id), amount)

    def cash(self, sale: str, amount: int, place: str = FAIR) -> None:
        self.sales[sale] = take_cash(self.context, self._cashier(place), CashRequest(amount, 20_000)).payment.id

    def card(self, sale: str, card: str, amount: int, tip: int = 0) -> None:
        made = create_payment(self.context, self.processor, self._cashier(), PaymentRequest(amount, tip=tip))
        self.processor.tap(made.intent.id, card)
        capture(self.context, self.processor, self._cashier(), made.intent.id)
        self.sales[sale] = made.transaction_id

    def begin(self, amount: int) -> None:
        create_payment(self.context, self.processor, self._cashier(), PaymentRequest(amount))

    def void(self, sale: str) -> None:
        void_cash(self.context, self._cashier(), self.sales[sale], "Mistyped")

    def move(self, type: str, amount: int) -> None:
        move_cash(self.context, self._cashier(), MovementRequest(MovementType(type), amount, "As agreed"))

    def refund(self, sale: str, amount: int, tender: str) -> None:
        wanted = RefundRequest(
            self.sales[sale], amount, "Brought back", tender_type=tender, session_id=self._cashier().session_id
        )
        request_refund(self.context, self.staff.author, self.processor, wanted)

    def report(self) -> dict[str, Any]:
        return self._figures(stored(self.session_id))

    def close(self, counted: int) -> dict[str, Any]:
        self.closed_id = self.session_id
        with transaction():
            session = sessions.session_of(self.staff.site_id, self.session_id, to_change=True)
            sessions.close(self.staff.author, session, counted, "")
        return self.report_again()

    def report_again(self) -> dict[str, Any]:
        return self._figures(stored(self.closed_id))

    def _figures(self, session: PosSession) -> dict[str, Any]:
        report = reports.report_of_session(self.staff.author.clock, session)
        return figures(report) | {"zNumber": session.z_number}


def figures(report: SessionReport) -> dict[str, Any]:
    by_brand = [{"brand": card.card_brand} | _tender(card.sums) for card in report.cards]
    total, open_ = report.total, report.unresolved
    return {
        "type": report.type.value,
        "currency": report.currency,
        "tenders": {"cash": _tender(report.cash), "card": _tender(report.card) | {"byBrand": by_brand}},
        "total": {"count": total.count, "gross": total.gross, "refundCount": total.refund_count,
                  "refunds": total.refunds, "net": total.net},
        "tips": report.tips,
        "rounding": report.rounding,
        "movements": {"payIn": report.movements.pay_in, "payOut": report.movements.pay_out,
                      "drop": report.movements.drop},
        "unresolved": {"count": open_.count, "amount": open_.amount},
        "openingFloat": report.opening_float,
        "expectedCash": report.expected_cash,
        "countedCash": report.counted_cash,
        "difference": report.difference,
        "cashDifference": report.cash_difference,
        "otherLocations": [
            {"locationId": each.location_id, "displayName": each.display_name, "cash": _sales(each.cash),
             "card": _sales(each.card)}
            for each in report.other_locations
        ],
    }  # fmt: skip


def _sales(sums: Sums) -> dict[str, int]:
    return {"sales": sums.gross, "count": sums.count}


def _tender(sums: Sums) -> dict[str, int]:
    return _sales(sums) | {"refunds": sums.refunds}


@pytest.fixture
def till(staff: Staff, sign_in: SignIn, processor: FakeProcessor) -> DomainTill:
    with transaction():
        site, user = db.session.get_one(Site, staff.site_id), db.session.get_one(User, staff.tilly)
        change_settings(site.id, {"posEnabled": True, "posTipsEnabled": True, "posCashRounding": 5})
        places = db.session.scalars(select(PosLocation)).all()
        agent_id = make_agent(site, user, *places, can_move_cash=True).id
    return DomainTill(staff, agent_id, sign_in, processor)


def test_reports_are_as_the_ledger_has_them(till: DomainTill) -> None:
    check_days(till)
    query = select(PosJournalEntry.type, PosJournalEntry.amount).order_by(PosJournalEntry.sequence)
    assert [tuple(row) for row in db.session.execute(query)] == JOURNAL

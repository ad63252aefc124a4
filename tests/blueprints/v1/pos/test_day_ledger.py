"""X and Z reports over the API against a ledger that was written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosAgent, PosAgentLocation, PosLocation
from app.domain.sites import accounts
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import AGENT, FAIR, TillClient, Tills
from tests.domain.pos.reports.day_ledger import JOURNAL, SHOP, Till, check_days

SESSIONS = "/v1/pos/sessions"


class ApiTill(Till):
    """Calls the API as an app does."""

    def __init__(self, open_till: Tills) -> None:
        self.open = open_till
        self.sales: dict[str, str] = {}
        self.session_id, self.closed_id = "", ""

    def sign_in(self) -> None:
        self.app: TillClient = self.open()
        self.session_id = self._call("GET", f"{SESSIONS}/current")["id"]

    def _call(self, method: str, path: str, body: object = None) -> Any:
        answer = self.app.api.call(method, path, body)
        assert answer.status_code in (200, 201), answer.text
        return answer.json

    def _at(self, path: str, body: object, place: str = FAIR) -> Any:
        return self._call("POST", f"/v1/pos/{place}/{path}", body)

    def set_float(self, amount: int) -> None:
        self._call("PUT", f"{SESSIONS}/current", {"openingFloat": amount})

    def cash(self, sale: str, amount: int, place: str = FAIR) -> None:
        paid = {"amountInPence": amount, "tenderedInPence": 20_000}
        self.sales[sale] = self._at("cashPayments", paid, place)["id"]

    def card(self, sale: str, card: str, amount: int, tip: int = 0) -> None:
        made = self._at("paymentIntents", {"amountInPence": amount, "tipInPence": tip})
        self.app.processor.tap(made["id"], card)
        self._at(f"paymentIntents/{made['id']}/capture", None)
        self.sales[sale] = made["transactionId"]

    def begin(self, amount: int) -> None:
        self._at("paymentIntents", {"amountInPence": amount})

    def void(self, sale: str) -> None:
        self._at(f"transactions/{self.sales[sale]}/void", {"reason": "Mistyped"})

    def move(self, type: str, amount: int) -> None:
        self._at("cashMovements", {"type": type, "amountInPence": amount, "reason": "As agreed"})

    def refund(self, sale: str, amount: int, tender: str) -> None:
        wanted = {"amountInPence": amount, "reason": "Brought back", "tender": tender}
        self._at(f"transactions/{self.sales[sale]}/refunds", wanted)

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = self._call("GET", f"{SESSIONS}/current/report")
        return found

    def close(self, counted: int) -> dict[str, Any]:
        self.closed_id = self.session_id
        found: dict[str, Any] = self._call("POST", f"{SESSIONS}/current/close", {"countedCash": counted})
        return found

    def report_again(self) -> dict[str, Any]:
        found: dict[str, Any] = self._call("GET", f"{SESSIONS}/{self.closed_id}/report")
        return found


@pytest.fixture
def both_places(app: Flask, set_agent: Callable[..., None], set_site: Callable[..., None]) -> None:
    set_site(posTipsEnabled=True, posCashRounding=5)
    set_agent(can_refund=True, can_move_cash=True)
    with app.app_context(), transaction():
        shop = db.session.scalars(select(PosLocation).where(PosLocation.location_id == SHOP)).one()
        shop.display_name = "Shop"
        agent = db.session.query(PosAgent).filter_by(user_id=accounts.get_user(AGENT).id).one()
        db.session.add(PosAgentLocation(agent_id=agent.id, location_id=shop.id))


@pytest.mark.usefixtures("both_places")
def test_reports_are_as_the_ledger_has_them(app: Flask, till: Tills) -> None:
    client = ApiTill(till)
    check_days(client)
    with app.app_context():
        entries = db.session.scalars(select(PosJournalEntry).order_by(PosJournalEntry.sequence)).all()
        assert [(entry.type, entry.amount) for entry in entries] == JOURNAL
        heads = [entry.hash for entry in entries if entry.type == "Z_REPORT"]
    assert client.report_again()["journalHead"] == heads[1]
    assert client.report()["journalHead"] == entries[-1].hash

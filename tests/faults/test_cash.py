"""F37 for cash: the process that takes it, takes it back, gives it back, moves it or closes the drawer is killed before
each statement. It has done all or nothing, the journal included, and asking again does it once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import select

from app.domain.orders.baskets import Owner, WantedLine, create_basket
from app.domain.orders.models import Order
from app.domain.pos import journal, sessions
from app.domain.pos.journal_models import PosJournalEntry, PosJournalHead
from app.domain.pos.models import (
    PosCashMovement,
    PosIdempotencyKey,
    PosLocation,
    PosRefund,
    PosSession,
    PosTransaction,
    PosTransactionEvent,
)
from app.domain.shared.author import Author
from app.domain.sites import api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.models import ApiSession, AuditEntry, Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.examples import ALL
from tests.factories import make_agent, make_location, make_user
from tests.faults.shops import SITE, Shop

pytestmark = pytest.mark.fault("F37")

MOST_STATEMENTS, FEWEST = 90, 10
STEP = 1 if ALL else 4
KILLED = -signal.SIGKILL
BOOKS = (
    Order, PosTransaction, PosTransactionEvent, PosRefund, PosIdempotencyKey, PosSession, PosLocation, PosCashMovement,
    PosJournalEntry, PosJournalHead, ApiSession, AuditEntry,
)  # fmt: skip
Books = dict[str, list[tuple[object, ...]]]


@dataclass
class CashTill:
    """A till with an open work session and an order of which 20.00 are due."""

    shop: Shop
    order_id: str

    def books(self) -> Books:
        """Every row that has to do with money."""
        with self.shop.opened():
            tables = [model.__table__ for model in BOOKS]
            rows = (db.session.execute(select(table).order_by(*table.primary_key)) for table in tables)
            return {table.name: [tuple(row) for row in found] for table, found in zip(tables, rows, strict=True)}

    def do(self, *deed: str) -> str:
        done = self.shop.do(*deed, "none")
        assert done.finish() == 0
        return done.said[-1]

    def take(self) -> str:
        """A part in cash; the id of the payment."""
        return self.do("take_cash", self.order_id).split()[1]

    def entries(self) -> list[tuple[str, int | None]]:
        """Of the journal, which is whole."""
        with self.shop.opened():
            assert journal.verify(SITE).is_whole
            stored = db.session.scalars(select(PosJournalEntry).order_by(PosJournalEntry.sequence))
            return [(entry.type, entry.amount) for entry in stored]


@pytest.fixture
def till(shop: Shop) -> CashTill:
    with shop.opened() as context, transaction():
        site = db.session.get_one(Site, SITE)
        change_settings(SITE, {"posEnabled": True, "posCashRounding": 5})
        user = make_user(site, Role.POS_AGENT)
        make_agent(site, user, make_location(site), can_refund=True, can_move_cash=True)
        granted = api_sessions.open_session(context.clock, user, SITE, Audience.POS, Device())
        sessions.open_session(context.clock, granted.caller, Device(), "TillApp/1", "192.0.2.1")
        author = Author(SITE, "Tilly Till", context.clock)
        return CashTill(shop, create_basket(author, Owner(user.id, "POS"), [WantedLine("sku-1", 2)]).id)


def taking(till: CashTill) -> tuple[str, ...]:
    return ("take_cash", till.order_id)


def taking_back(till: CashTill) -> tuple[str, ...]:
    return ("void_cash", till.take())


def giving_back(till: CashTill) -> tuple[str, ...]:
    return ("refund_cash", till.take())


def moving(_till: CashTill) -> tuple[str, ...]:
    return ("move_cash",)


def closing(till: CashTill) -> tuple[str, ...]:
    till.take()
    return ("close_session",)


@pytest.mark.parametrize(
    ("prepare", "last_entry"),
    [
        (taking, ("SALE", 500)),
        (taking_back, ("VOID", -500)),
        (giving_back, ("REFUND", -200)),
        (moving, ("PAY_OUT", -300)),
        (closing, ("Z_REPORT", None)),
    ],
)
def test_cash_is_booked_whole_or_not_at_all_wherever_its_process_is_killed(
    till: CashTill, prepare: Callable[[CashTill], tuple[str, ...]], last_entry: tuple[str, int | None]
) -> None:
    deed = prepare(till)
    before, entries = till.books(), till.entries()
    for number in range(1, MOST_STATEMENTS, STEP):
        attempt = till.shop.do(*deed, f"statement:{number}")
        assert attempt.finish() in (0, KILLED)
        if till.books() != before:  # It may be killed after the commit, where it reads what it answers.
            break
        assert attempt.finish() == KILLED
    after = till.books()
    assert number > FEWEST and till.entries() == [*entries, last_entry]
    till.do(*deed)
    assert till.books() == after, "asked again, it does nothing more"


@pytest.mark.parametrize(("point", "has_taken"), [("commit", False), ("committed", True)])
def test_cash_whose_answer_was_lost_is_taken_once(till: CashTill, point: str, has_taken: bool) -> None:
    before = till.books()
    assert till.shop.do("take_cash", till.order_id, point).finish() == KILLED
    assert (till.books() != before) == has_taken
    taken = till.take()
    assert till.take() == taken and till.entries() == [("SALE", 500)]

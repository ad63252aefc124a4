"""F37, F40: processes that take and settle card payments are killed at every step. The processor is the simulator,
whose own books survive them; the shop's must come to say the same."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.adapters.clock import SystemClock
from app.adapters.simulator import Simulator
from app.adapters.simulator.models import SimulatorIntent, SimulatorRefund
from app.domain.pos.models import PosRefund, PosTransaction, PosTransactionEvent, StoredProcessorEvent
from app.domain.pos.processor import AccountRef
from app.domain.pos.simulator import CARDS, Tap
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import Base, db
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_user
from tests.fakes.clock import SetClock
from tests.faults.shops import SITE, Shop

MOST_STATEMENTS = 80
KILLED = -signal.SIGKILL


@dataclass
class TillUnderFaults:
    """A shop with one agent at one location; its machine's clock can be set ahead."""

    shop: Shop

    def wait(self, hours: float) -> None:
        """Time passes for all processes to come."""
        assert self.shop.clock_file is not None
        ahead = float(self.shop.clock_file.read_text()) + timedelta(hours=hours).total_seconds()
        SetClock.set(self.shop.clock_file, timedelta(seconds=ahead))

    def tap(self, intent_id: str) -> None:
        with self.shop.opened():
            simulator = Simulator(SystemClock(), self.shop.config.key_for("payment-simulator"))
            secret = simulator.retrieve_intent(AccountRef(), intent_id).client_secret or ""
            simulator.present(AccountRef(), intent_id, secret, Tap(CARDS["visa"]))

    def settle(self) -> None:
        """What the scheduler does a minute later."""
        self.wait(hours=2 / 60)
        assert self.shop.do("check_payments", "none").finish() == 0

    def paid(self, key: str = "sale") -> str:
        """A payment that the shop knows to be paid."""
        _, transaction_id, intent_id = self.do("pay", key, "none").split()
        self.tap(intent_id)
        self.settle()
        assert self.row(transaction_id).status == "SUCCEEDED"
        return transaction_id

    def do(self, *deed: str) -> str:
        """What it said."""
        done = self.shop.do(*deed)
        assert done.finish() == 0
        return done.said[-1]

    def killed(self, *deed: str) -> bool:
        """Whether a deed was killed, and not done before its point came."""
        status = self.shop.do(*deed).finish()
        assert status in (0, KILLED)
        return status == KILLED

    def row(self, transaction_id: str) -> PosTransaction:
        return next(row for row in self.rows() if row.id == transaction_id)

    def rows(self) -> list[PosTransaction]:
        with self.shop.opened():
            found = list(db.session.scalars(select(PosTransaction).order_by(PosTransaction.created_at)))
            db.session.expunge_all()
            return found

    def intents(self) -> dict[str, str]:
        """At the processor: the intent of each transaction, of which none has two."""
        with self.shop.opened():
            intents = list(db.session.scalars(select(SimulatorIntent)))
        named = {intent.labels["transactionId"]: intent.id for intent in intents}
        assert len(named) == len(intents)
        return named

    def count(self, model: type[Base]) -> int:
        with self.shop.opened():
            return db.session.scalar(select(func.count()).select_from(model)) or 0


@pytest.fixture
def till(shop: Shop) -> Iterator[TillUnderFaults]:
    shop.clock_file = shop.folder / "clock"
    SetClock.set(shop.clock_file, timedelta(0))
    with shop.opened(), transaction():
        site = db.session.get_one(Site, SITE)
        change_settings(SITE, {"posEnabled": True})
        make_agent(site, make_user(site, Role.POS_AGENT), make_location(site), can_refund=True)
    yield TillUnderFaults(shop)


def points() -> Iterator[str]:
    yield from (f"statement:{number}" for number in range(1, MOST_STATEMENTS))
    raise AssertionError("a deed has more statements than are tried")


@pytest.mark.fault("F37")
def test_a_payment_whose_process_is_killed_at_any_step_has_one_row_and_one_intent(till: TillUnderFaults) -> None:
    """F37: the row is written first; the check finds the intent, and the same key gives the same payment."""
    for number, point in enumerate(points()):
        key = f"sale-{number}"
        if not till.killed("pay", key, point):
            break
    assert number > 15
    intents = till.intents()
    assert intents.keys() <= {row.id for row in till.rows()}, "no intent without its row"
    till.settle()
    attached = {row.id: row.processor_intent_id for row in till.rows() if row.processor_intent_id}
    assert attached == intents == till.intents()
    for earlier in range(number):
        assert till.do("pay", f"sale-{earlier}", "none").startswith("began")
    assert sorted(till.intents().items()) == sorted((row.id, row.processor_intent_id) for row in till.rows())
    assert len(till.rows()) == number + 1


@pytest.mark.fault("F37")
@pytest.mark.parametrize("point", ["commit", "committed"])
def test_around_the_commit_of_the_row_nothing_is_charged_that_is_not_written(till: TillUnderFaults, point: str) -> None:
    assert till.killed("pay", "sale", point)
    assert till.intents() == {} and till.count(PosTransaction) == (point == "committed")


@pytest.mark.fault("F37")
def test_the_process_that_finds_out_is_killed_at_any_step_and_the_next_one_does(till: TillUnderFaults) -> None:
    """F37: what reconciliation claimed is free again within a minute or two."""
    transaction_id = None
    for point in points():
        if not till.killed("check_payments", point):
            break
        if transaction_id is None or till.row(transaction_id).status == "SUCCEEDED":
            _, transaction_id, intent_id = till.do("pay", point, "none").split()
            till.tap(intent_id)
        till.wait(hours=3 / 60)
    till.settle()
    assert {row.status for row in till.rows()} == {"SUCCEEDED"}
    assert {row.captured_amount for row in till.rows()} == {1_250}


@pytest.mark.fault("F40")
def test_an_event_whose_receiver_is_killed_at_any_step_has_its_effect_once(till: TillUnderFaults) -> None:
    """F40: also between the effect and the answer, after which the processor sends it again."""
    _, transaction_id, intent_id = till.do("pay", "sale", "none").split()
    till.tap(intent_id)
    for point in points():
        if not till.killed("deliver_payment_events", point):
            break
    till.settle()
    assert (till.row(transaction_id).status, till.row(transaction_id).captured_amount) == ("SUCCEEDED", 1_250)
    assert till.count(StoredProcessorEvent) == 2, "created and succeeded, each once"
    with till.shop.opened():
        paid = select(func.count()).where(PosTransactionEvent.status == "SUCCEEDED")
        assert db.session.scalar(paid) == 1
        assert set(db.session.scalars(select(StoredProcessorEvent.outcome))) == {"applied"}


@pytest.mark.fault("F37")
def test_a_refund_whose_process_is_killed_at_any_step_is_made_once(till: TillUnderFaults) -> None:
    """F37, for money that goes out: the refund is written first and sent again under its own key."""
    transaction_id = till.paid()
    for point in points():
        if not till.killed("refund", transaction_id, point):
            break
    till.settle()
    row = till.row(transaction_id)
    assert (row.status, row.refunded_amount) == ("PARTIALLY_REFUNDED", 500)
    assert till.count(PosRefund) == till.count(SimulatorRefund) == 1

"""A shop that changed from the simulator to another processor: its open payments neither stay nor are made again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app.adapters.simulator import Simulator
from app.domain.orders.models import Order
from app.domain.pos.models import PaymentCheckRun
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.payments.creation import PaymentRequest, create_payment
from app.domain.pos.processor import AccountRef, Intent, IntentRequest, OutcomeUnknown
from app.domain.pos.reconciliation.checks import settle_retired
from app.domain.shared.problems import Conflict
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.work.models import State
from app.extensions import db
from app.jobs import pos
from app.ports import EXTENSION
from app.transaction import transaction
from tests.domain.pos.shop_with_till import ShopWithTill, stored
from tests.factories import make_order
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import TIMEOUT_BEFORE, FakeProcessor


class BrokenSimulator(Simulator):
    """The simulator of a shop in which its records cannot be read."""

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent:
        raise RuntimeError("a record that no rule foresaw")


@pytest.fixture
def simulator(clock: StoppedClock) -> Simulator:
    return Simulator(clock, b"a secret of the simulator")


def begun(simulator: Simulator) -> str:
    request = IntentRequest(1_250, "gbp", metadata={"transactionId": "old"})
    return simulator.create_intent(AccountRef(), request, "pos-create-old").id


def locked_order(till: ShopWithTill) -> str:
    with transaction():
        return make_order(db.session.get_one(Site, till.site_id), total=1_250, reserved_amount=1_250).id


def is_locked(order: str) -> bool:
    db.session.rollback()
    return db.session.get_one(Order, order).is_locked


@pytest.mark.parametrize("status", ["PENDING", "UNKNOWN", "PROCESSING"])
def test_an_order_is_let_go_once_nobody_held_a_card_to_the_simulator(
    till: ShopWithTill, simulator: Simulator, status: str
) -> None:
    order = locked_order(till)
    payment = till.record(status, "old", begun(simulator), processor="simulator", type="ORDER_PAYMENT", order_id=order)
    for minutes in (0, 31):
        till.clock.move(minutes=minutes)
        till.check()
        settle_retired(till.context, simulator)
    assert stored(payment).status == "CANCELLED"
    assert not is_locked(order)
    assert till.processor.calls == [], "the processor of today knows nothing of it"


def test_one_that_the_simulator_never_made_fails_after_a_day(till: ShopWithTill, simulator: Simulator) -> None:
    payment = till.record("CREATING", "old", processor="simulator")
    for hours, status in ((0, "CREATING"), (23, "CREATING"), (2, "FAILED")):
        till.clock.move(hours=hours)
        settle_retired(till.context, simulator)
        assert stored(payment).status == status


def test_payments_of_a_processor_with_real_money_are_left_to_people(till: ShopWithTill, simulator: Simulator) -> None:
    payment = till.record("PENDING", "old", "pi_of_stripe", processor="stripe")
    till.clock.move(hours=25)
    settle_retired(till.context, simulator)
    assert stored(payment).status == "PENDING"


def test_a_payment_begun_with_another_processor_is_not_created_at_the_one_of_today(
    till: ShopWithTill, clock: StoppedClock
) -> None:
    with transaction():
        change_settings(till.site_id, {"posEnabled": True})
    cashier, request = Cashier(till.author, 1, till.agent_id, till.location_id), PaymentRequest(1_250, key="sale")
    before = FakeProcessor(clock, name="before")
    before.fail("create_intent", TIMEOUT_BEFORE)
    with pytest.raises(OutcomeUnknown):
        create_payment(till.context, before, cashier, request)
    till.clock.move(minutes=2)
    with pytest.raises(Conflict) as refused:
        create_payment(till.context, till.processor, cashier, request)
    assert (refused.value.code, till.processor.intents()) == ("outcome_unknown", [])


def test_the_check_of_each_minute_settles_them(
    till: ShopWithTill, app: Flask, simulator: Simulator, clock: StoppedClock
) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], retired_simulator=simulator)
    payment = till.record("PENDING", "old", begun(simulator), processor="simulator")
    clock.move(minutes=31)
    pos.request_payment_checks()
    assert stored(payment).status == "CANCELLED"


def test_an_error_about_them_keeps_no_check_of_real_payments_from_being_requested(
    till: ShopWithTill, app: Flask, simulator: Simulator, clock: StoppedClock
) -> None:
    broken = BrokenSimulator(clock, b"a secret of the simulator")
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], retired_simulator=broken)
    till.record("PENDING", "old", begun(simulator), processor="simulator")
    till.payment()
    with pytest.raises(RuntimeError, match="no rule foresaw"):
        pos.request_payment_checks()
    db.session.rollback()
    assert db.session.get_one(PaymentCheckRun, till.site_id).state == State.WAITING

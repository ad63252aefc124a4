"""Ways of money that chance seldom finds, through the state machine and its books (test_money_machine.py)."""

from __future__ import annotations

import pytest

from tests.domain.pos.money_books import CARD, CASH, Payment
from tests.domain.pos.test_money_machine import MoneyMachine
from tests.fakes.payment_processor import TIMEOUT_AFTER, TIMEOUT_BEFORE, Fault

LATEST, BY_AGENT = 1, 1


@pytest.fixture
def stall(context: None) -> MoneyMachine:
    machine = MoneyMachine()
    machine.open_the_stall(step=10)
    machine.books.check()
    return machine


def paid_by_card(stall: MoneyMachine, is_captured: bool = True) -> Payment:
    """An amount of 20.00, with a tip."""
    payment = stall._begin_card(stall.books.drawers[0], None, 2_000, 250, None)
    assert payment is not None
    stall._tap(payment, "4242")
    if is_captured:
        stall._settle(payment, "capture", [])
    stall.books.check()
    return payment


def give_back(stall: MoneyMachine, pence: int, tender: str, fault: Fault | None = None) -> None:
    stall.give_back(LATEST, pence, "all", tender, BY_AGENT, fault, waits=False)
    stall.books.check()


def test_a_card_payment_goes_back_in_turns_to_the_card_and_in_cash(stall: MoneyMachine) -> None:
    payment = paid_by_card(stall)
    for pence, tender in ((505, CASH), (500, CARD), (5, CASH), (500, CARD), (4, CASH)):
        give_back(stall, pence, tender)
    stall._report(payment.intent_id or "", "charge.refunded")
    stall.books.check()
    assert stall.books.left_of(payment) == 2_250 - 1_514
    stall._end_a_refund(LATEST, fails=True)  # The bank sends 5.00 back.
    stall.books.check()
    assert stall.books.left_of(payment) == 2_250 - 1_014
    stall.teardown()


@pytest.mark.parametrize("fault", [TIMEOUT_BEFORE, TIMEOUT_AFTER])
def test_what_an_unanswered_refund_may_have_given_back_is_not_given_twice(stall: MoneyMachine, fault: Fault) -> None:
    payment = paid_by_card(stall)
    give_back(stall, 100, CASH)
    give_back(stall, 1_500, CARD, fault)
    stall._report(payment.intent_id or "", "charge.refunded")
    stall.books.check()
    give_back(stall, 651, CASH)  # One penny too much.
    stall.let_time_pass_and_reconcile(1, [])
    stall.books.check()
    give_back(stall, 650, CASH)
    assert stall.books.left_of(payment) == 0
    stall.teardown()


def test_a_card_that_pays_once_its_session_was_closed_is_in_no_report(stall: MoneyMachine) -> None:
    payment = paid_by_card(stall, is_captured=False)
    stall.close(which=9, difference=-30, where=LATEST)  # That of the payment.
    stall._report(payment.intent_id or "", "payment_intent.succeeded")
    stall.books.check()
    assert payment.drawer.is_closed
    assert stall.books.unreported == {"card sales": 2_000, "card tips": 250}
    give_back(stall, 2_250, CARD)
    stall.teardown()

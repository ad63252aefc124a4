"""Refunds whose answer does not come, or fails later: found out, made once, and never for more than came in."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from app.domain.pos.models import PosRefund
from app.domain.pos.processor import ProcessorError, RefundStatus
from app.domain.pos.webhooks import EventOutcome
from app.domain.shared.problems import DomainError, Unprocessable
from app.extensions import db
from tests.domain.pos.reconciliation.refunding import causes, given_back, refund, refund_event, refunds
from tests.domain.pos.shop_with_till import ShopWithTill, stored
from tests.examples import examples
from tests.fakes.payment_processor import (
    ERROR_500_AFTER,
    ERROR_500_BEFORE,
    KEY_REUSED,
    MISCONFIGURED,
    RATE_LIMITED_429,
    REJECTED,
    TIMEOUT_AFTER,
    TIMEOUT_BEFORE,
)


@pytest.mark.parametrize("fault", [TIMEOUT_AFTER, TIMEOUT_BEFORE, RATE_LIMITED_429, KEY_REUSED])
def test_a_refund_without_an_answer_is_found_out_and_made_once(till: ShopWithTill, paid: str, fault: object) -> None:
    till.processor.fail("refund", fault)
    assert refund(till, paid, 500).status == "UNKNOWN"
    with pytest.raises(Unprocessable):
        refund(till, paid, 1_000)  # What may have been given back is not given back again.
    till.clock.move(minutes=1)
    till.check()
    assert refunds() == [(500, "SUCCEEDED")]
    assert (stored(paid).refunded_amount, given_back(till, paid)) == (500, 500)


def test_one_whose_answer_is_a_stored_error_is_given_up_after_a_day(till: ShopWithTill, paid: str) -> None:
    """F38, F42: the same key gives the same error, and once it may be forgotten nothing is sent again."""
    till.processor.fail("refund", ERROR_500_BEFORE)
    refund(till, paid, 500)
    for hours in (1, 10, 10):
        till.clock.move(hours=hours)
        till.check()
        assert refunds() == [(500, "UNKNOWN")]
    sent = till.processor.made("refund")
    till.processor.forget_keys()
    till.clock.move(hours=3)
    till.check()
    assert refunds() == [(500, "FAILED")]
    assert (till.processor.made("refund"), given_back(till, paid)) == (sent, 0)
    assert causes(till) == ["refund_failed"]


def test_one_that_was_made_is_seen_in_the_charge_though_its_key_is_forgotten(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", TIMEOUT_AFTER)
    refund(till, paid, 500)
    till.processor.forget_keys()
    till.clock.move(hours=24)
    till.check()
    assert refunds() == [(500, "SUCCEEDED")]
    assert (till.processor.made("refund"), given_back(till, paid)) == (1, 500)


def test_one_that_was_seen_in_the_charge_is_not_counted_again_when_news_names_it(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", ERROR_500_AFTER)
    refund(till, paid, 500)
    till.clock.move(minutes=1)
    till.check()
    assert refunds() == [(500, "UNKNOWN")], "while its key holds, only an answer counts"
    till.clock.move(hours=24)
    till.check()
    assert refunds() == [(500, "SUCCEEDED")]
    (made,) = till.processor.refunds()
    for _ in range(2):
        refund_event(till, paid, made.id)
        assert refunds() == [(500, "SUCCEEDED")]
        assert (stored(paid).refunded_amount, given_back(till, paid)) == (500, 500)


@pytest.mark.parametrize("status", [RefundStatus.FAILED, RefundStatus.CANCELED])
def test_one_that_the_processor_answers_to_have_failed_is_no_success(
    till: ShopWithTill, paid: str, status: RefundStatus
) -> None:
    till.processor.answers_refunds(status)
    for _ in range(2):
        with pytest.raises(ProcessorError) as raised:
            refund(till, paid, 500, "k")
        assert raised.value.details == {"transactionId": paid}
    assert refunds() == [(500, "FAILED")] and stored(paid).refunded_amount == 0
    assert causes(till) == [], "who asked was told"


def test_a_refund_that_fails_later_is_taken_back_and_the_owner_hears_of_it(till: ShopWithTill, paid: str) -> None:
    refund(till, paid, 500)
    refund(till, paid, 250)
    made = next(one for one in till.processor.refunds() if one.amount == 500)
    till.processor.fail_refund(made.id)
    for _ in range(2):
        assert refund_event(till, paid, made.id) is EventOutcome.APPLIED
        assert (stored(paid).status, stored(paid).refunded_amount) == ("PARTIALLY_REFUNDED", 250)
        assert refunds() == [(250, "SUCCEEDED"), (500, "FAILED")]
        assert causes(till) == ["refund_failed"] and stored(paid).anomaly == "refund_failed"
    refund(till, paid, 500)
    assert causes(till) == [] and stored(paid).anomaly is None


FAULTS = [None, None, TIMEOUT_AFTER, TIMEOUT_BEFORE, ERROR_500_BEFORE, RATE_LIMITED_429, REJECTED, MISCONFIGURED]


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(wanted=[(1, ERROR_500_BEFORE), (1, TIMEOUT_AFTER)])
@example(wanted=[(1, ERROR_500_BEFORE), (2, TIMEOUT_AFTER), (1, TIMEOUT_AFTER)])
@given(wanted=st.lists(st.tuples(st.integers(1, 1_300), st.sampled_from(FAULTS)), max_size=6))
def test_whatever_fails_the_books_agree_in_the_end(till: ShopWithTill, wanted: list[tuple[int, object]]) -> None:
    payment = till.payment()
    till.tap(payment)
    till.check()
    for amount, fault in wanted:
        till.processor.fail("refund", fault)
        with suppress(DomainError):
            refund(till, payment, amount)
        assert given_back(till, payment) <= 1_250
    till.processor._faults.clear()
    for hours in (1, 23, 1):
        till.clock.move(hours=hours)
        till.check()
    row = stored(payment)
    assert row.refunded_amount == given_back(till, payment) <= 1_250
    assert {one.status for one in db.session.scalars(select(PosRefund))} <= {"SUCCEEDED", "FAILED"}

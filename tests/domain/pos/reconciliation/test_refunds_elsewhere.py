"""Money given back at the processor, or that news tells of: whose refund it is, by its name or by the sums."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from app.domain.pos.models import PosRefund
from app.domain.pos.payments.transitions import settle_anomaly
from app.domain.pos.processor import Rejected
from app.domain.pos.refunds import REFUND_ID, was_refund_made
from app.domain.shared.problems import Unprocessable
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.reconciliation.refunding import causes, given_back, refund, refund_event, refunds
from tests.domain.pos.shop_with_till import ShopWithTill, stored
from tests.fakes.payment_processor import ERROR_500_BEFORE, RATE_LIMITED_429, REJECTED, TIMEOUT_AFTER, TIMEOUT_BEFORE


def test_a_refund_made_at_the_processor_counts(till: ShopWithTill, paid: str) -> None:
    made = till.processor.refund(till.ref, till.intent_of(paid), 300, "by hand")
    refund_event(till, paid, made.id)
    assert refunds() == [(300, "SUCCEEDED")] and stored(paid).refunded_amount == 300
    with pytest.raises(Unprocessable):
        refund(till, paid, 951)


def test_an_event_that_comes_before_the_answer_is_the_same_refund(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", TIMEOUT_AFTER)
    refund(till, paid, 500)
    (made,) = till.processor.refunds()
    refund_event(till, paid, made.id)
    assert refunds() == [(500, "SUCCEEDED")]
    till.clock.move(minutes=1)
    till.check()
    assert refunds() == [(500, "SUCCEEDED")] and stored(paid).refunded_amount == 500


def test_of_two_refunds_of_one_amount_news_names_its_own(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", TIMEOUT_BEFORE, TIMEOUT_AFTER)
    ours = [refund(till, paid, 500).id for _ in range(2)]
    (made,) = till.processor.refunds()
    refund_event(till, paid, made.id)
    rows = [db.session.get_one(PosRefund, one) for one in ours]
    assert [(row.status, row.processor_refund_id) for row in rows] == [("UNKNOWN", None), ("SUCCEEDED", made.id)]


def test_a_refund_made_at_the_processor_is_not_taken_for_one_without_an_answer(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", TIMEOUT_BEFORE)
    refund(till, paid, 500)
    by_hand = till.processor.refund(till.ref, till.intent_of(paid), 500, "by hand")
    refund_event(till, paid, by_hand.id)
    assert sorted(refunds()) == [(500, "SUCCEEDED"), (500, "UNKNOWN")] and stored(paid).refunded_amount == 500
    till.clock.move(minutes=1)
    till.check()
    assert refunds() == [(500, "SUCCEEDED")] * 2
    assert stored(paid).refunded_amount == given_back(till, paid) == 1_000


def test_money_of_a_refund_that_was_given_up_counts(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", REJECTED)
    with pytest.raises(Rejected):
        refund(till, paid, 500)
    name = db.session.scalars(select(PosRefund.id)).one()
    made = till.processor.refund(till.ref, till.intent_of(paid), 500, "after all", {REFUND_ID: name})
    refund_event(till, paid, made.id)
    assert sorted(refunds()) == [(500, "FAILED"), (500, "SUCCEEDED")] and stored(paid).refunded_amount == 500


@pytest.mark.parametrize(
    ("amount", "unanswered", "unexplained", "was_made"),
    (
        (5, [], 5, True),
        (5, [], 4, False),
        (5, [], 0, False),
        (5, [], 8, None),
        (5, [5], 5, True),
        (5, [5], 10, True),
        (3, [5], 5, False),
        (5, [3], 8, True),
        (5, [3], 6, None),
        (5, [3, 2], 5, None),
        (5, [3, 2], 8, True),
    ),
)
def test_what_no_known_refund_explains_is_that_of_an_unanswered_one_where_the_sums_say_so(
    amount: int, unanswered: list[int], unexplained: int, was_made: bool | None
) -> None:
    assert was_refund_made(amount, unanswered, unexplained) is was_made


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=7))
def test_the_sums_never_say_what_is_not_so(refunds: list[tuple[int, bool]]) -> None:
    """Where they speak, as many of an amount are found to be made as were."""
    left = [amount for amount, _ in refunds]
    unexplained, found = sum(amount for amount, made in refunds if made), list[int]()
    for amount in list(left):
        left.remove(amount)
        was_made = was_refund_made(amount, left, unexplained)
        if was_made is None:
            return
        found += [amount] * was_made
        unexplained -= amount * was_made
    assert sorted(found) == sorted(amount for amount, made in refunds if made)


def test_money_given_back_elsewhere_does_not_pass_for_a_refund_that_was_never_made(
    till: ShopWithTill, paid: str
) -> None:
    till.processor.fail("refund", TIMEOUT_BEFORE, None, RATE_LIMITED_429)
    refund(till, paid, 500)
    till.processor.refund(till.ref, till.intent_of(paid), 500, "by hand")
    till.clock.move(minutes=1)
    till.check()
    assert refunds() == [(500, "UNKNOWN")]
    till.clock.move(minutes=1)
    till.check()
    assert refunds() == [(500, "SUCCEEDED")] and given_back(till, paid) == 1_000


def test_what_the_sums_do_not_tell_is_left_to_people_until_news_tells_it(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", ERROR_500_BEFORE, ERROR_500_BEFORE, None)
    refund(till, paid, 500)
    refund(till, paid, 300)
    by_hand = till.processor.refund(till.ref, till.intent_of(paid), 600, "by hand")
    till.clock.move(hours=22)
    till.check()
    assert causes(till) == [] and stored(paid).anomaly is None
    till.clock.move(hours=2)
    till.check()
    assert refunds() == [(300, "UNKNOWN"), (500, "UNKNOWN")]
    assert stored(paid).anomaly == "refund_unclear" and causes(till) == ["payment_anomaly"]
    with transaction():
        settle_anomaly(till.author, paid, "Asked the processor")
    till.clock.move(hours=2)
    till.check()
    assert stored(paid).anomaly is None and causes(till) == [], "they heard of it once"
    refund_event(till, paid, by_hand.id)
    till.clock.move(hours=2)
    till.check()
    assert sorted(refunds()) == [(300, "FAILED"), (500, "FAILED"), (600, "SUCCEEDED")]
    assert stored(paid).refunded_amount == given_back(till, paid) == 600

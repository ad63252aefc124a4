"""Money given back: once for each request, never more than came in, and found out when no answer comes."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest
from flask import Flask
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from app.domain.alerts.alerts import open_alerts
from app.domain.pos.models import PosAgent, PosRefund
from app.domain.pos.payments.anomalies import settle_anomaly
from app.domain.pos.processor import Misconfigured, ProcessorError, RefundStatus, Rejected
from app.domain.pos.refund_states import REFUND_ID, was_refund_made
from app.domain.pos.refunds import RefundRequest, RefundSummary, request_refund
from app.domain.pos.webhooks import EventOutcome
from app.domain.shared.problems import Conflict, DomainError, Forbidden, Invalid, NotFound, Unprocessable
from app.extensions import db
from app.transaction import transaction
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

WHY = "One mug was broken"


@pytest.fixture
def paid(till: ShopWithTill) -> str:
    """A payment of 12.50."""
    payment = till.payment()
    till.tap(payment)
    till.check()
    assert stored(payment).status == "SUCCEEDED"
    return payment


def refund(till: ShopWithTill, payment: str, amount: int | None = None, key: str | None = None) -> RefundSummary:
    db.session.rollback()
    return request_refund(till.context, till.author, till.processor, RefundRequest(payment, amount, WHY, key))


def given_back(till: ShopWithTill, payment: str) -> int:
    """By the processor's books."""
    intent_id = till.intent_of(payment)
    return next(intent.refunded for intent in till.processor.intents() if intent.id == intent_id)


def refunds() -> list[tuple[int, str]]:
    db.session.rollback()
    query = select(PosRefund.amount, PosRefund.status).order_by(PosRefund.created_at, PosRefund.amount)
    return [(amount, status) for amount, status in db.session.execute(query)]


def causes(till: ShopWithTill) -> list[str]:
    db.session.rollback()
    return [alert.cause for alert in open_alerts(till.site_id)]


def test_a_part_and_then_the_rest_is_given_back(till: ShopWithTill, paid: str) -> None:
    assert refund(till, paid, 500).status == "SUCCEEDED"
    assert (stored(paid).status, stored(paid).refunded_amount) == ("PARTIALLY_REFUNDED", 500)
    assert refund(till, paid).amount == 750
    assert (stored(paid).status, stored(paid).refunded_amount) == ("REFUNDED", 1_250)
    assert given_back(till, paid) == 1_250


@pytest.mark.parametrize(
    ("amount", "error", "code"),
    [(0, Unprocessable, "amount_invalid"), (-5, Unprocessable, "amount_invalid"),
     (1_251, Unprocessable, "refund_exceeds_payment"), (10**12, Unprocessable, "refund_exceeds_payment")],
)  # fmt: skip
def test_amounts_that_cannot_be_given_back_are_refused_and_nothing_happens(
    till: ShopWithTill, paid: str, amount: int, error: type[DomainError], code: str
) -> None:
    with pytest.raises(error) as raised:
        refund(till, paid, amount)
    assert raised.value.code == code and refunds() == []
    assert till.processor.made("refund") == 0


def test_only_what_was_paid_is_refunded(till: ShopWithTill, paid: str) -> None:
    with pytest.raises(Conflict) as raised:
        refund(till, till.payment())
    assert raised.value.code == "payment_not_refundable"
    refund(till, paid)
    with pytest.raises(Conflict) as raised:
        refund(till, paid)
    assert raised.value.code == "already_refunded"


def test_a_refund_has_a_reason_without_card_numbers(till: ShopWithTill, paid: str) -> None:
    for reason in ("", "  ", "x" * 201, "card 4242 4242 4242 4242"):
        with pytest.raises(Invalid):
            request_refund(till.context, till.author, till.processor, RefundRequest(paid, None, reason))
    assert refunds() == []


def test_agents_refund_their_own_payments_when_they_may(till: ShopWithTill, paid: str) -> None:
    agent = db.session.get_one(PosAgent, till.agent_id)
    db.session.expunge(agent)

    def requested() -> RefundSummary:
        wanted = RefundRequest(paid, 100, WHY, agent=agent, location_id=till.location_id)
        return request_refund(till.context, till.author, till.processor, wanted)

    agent.can_refund = False
    with pytest.raises(Forbidden):
        requested()
    agent.can_refund = True
    assert requested().status == "SUCCEEDED"
    agent.id += 1
    with pytest.raises(NotFound):
        requested()
    with pytest.raises(NotFound):
        elsewhere = RefundRequest(paid, 100, WHY, location_id=till.location_id + 1)
        request_refund(till.context, till.author, till.processor, elsewhere)


def test_a_request_under_one_key_is_one_refund(till: ShopWithTill, paid: str) -> None:
    first, second = refund(till, paid, 500, "k"), refund(till, paid, 500, "k")
    assert (first.id, first.is_replayed, second.is_replayed) == (second.id, False, True)
    assert refunds() == [(500, "SUCCEEDED")] and given_back(till, paid) == 500
    with pytest.raises(Unprocessable) as raised:
        refund(till, paid, 501, "k")
    assert raised.value.code == "idempotency_mismatch"


def test_the_key_of_a_part_is_not_that_of_all_that_is_left(till: ShopWithTill, paid: str) -> None:
    refund(till, paid, 500, "part")
    with pytest.raises(Unprocessable) as raised:
        refund(till, paid, None, "part")
    assert raised.value.code == "idempotency_mismatch"
    first, second = refund(till, paid, None, "rest"), refund(till, paid, None, "rest")
    assert (first.id, first.amount, second.is_replayed) == (second.id, 750, True)
    assert given_back(till, paid) == 1_250


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
    (made,) = till.processor.accounts[""].refunds.values()
    for _ in range(2):
        _refund_event(till, paid, made.id)
        assert refunds() == [(500, "SUCCEEDED")]
        assert (stored(paid).refunded_amount, given_back(till, paid)) == (500, 500)


@pytest.mark.parametrize(("fault", "error"), [(REJECTED, Rejected), (MISCONFIGURED, Misconfigured)])
def test_what_the_processor_refuses_is_said_at_once_and_takes_nothing(
    till: ShopWithTill, paid: str, fault: object, error: type[DomainError]
) -> None:
    till.processor.fail("refund", fault)
    with pytest.raises(error):
        refund(till, paid, 500)
    assert refunds() == [(500, "FAILED")] and stored(paid).refunded_amount == 0
    assert refund(till, paid).amount == 1_250


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
    made = next(one for one in till.processor.accounts[""].refunds.values() if one.amount == 500)
    till.processor.fail_refund(made.id)
    for _ in range(2):
        assert _refund_event(till, paid, made.id) is EventOutcome.APPLIED
        assert (stored(paid).status, stored(paid).refunded_amount) == ("PARTIALLY_REFUNDED", 250)
        assert refunds() == [(250, "SUCCEEDED"), (500, "FAILED")]
        assert causes(till) == ["refund_failed"] and stored(paid).anomaly == "refund_failed"
    refund(till, paid, 500)
    assert causes(till) == [] and stored(paid).anomaly is None


def test_a_refund_made_at_the_processor_counts(till: ShopWithTill, paid: str) -> None:
    made = till.processor.refund(till.ref, till.intent_of(paid), 300, "by hand")
    _refund_event(till, paid, made.id)
    assert refunds() == [(300, "SUCCEEDED")] and stored(paid).refunded_amount == 300
    with pytest.raises(Unprocessable):
        refund(till, paid, 951)


def test_an_event_that_comes_before_the_answer_is_the_same_refund(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", TIMEOUT_AFTER)
    refund(till, paid, 500)
    (made,) = till.processor.accounts[""].refunds.values()
    _refund_event(till, paid, made.id)
    assert refunds() == [(500, "SUCCEEDED")]
    till.clock.move(minutes=1)
    till.check()
    assert refunds() == [(500, "SUCCEEDED")] and stored(paid).refunded_amount == 500


def test_of_two_refunds_of_one_amount_news_names_its_own(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", TIMEOUT_BEFORE, TIMEOUT_AFTER)
    ours = [refund(till, paid, 500).id for _ in range(2)]
    (made,) = till.processor.accounts[""].refunds.values()
    _refund_event(till, paid, made.id)
    rows = [db.session.get_one(PosRefund, one) for one in ours]
    assert [(row.status, row.processor_refund_id) for row in rows] == [("UNKNOWN", None), ("SUCCEEDED", made.id)]


def test_a_refund_made_at_the_processor_is_not_taken_for_one_without_an_answer(till: ShopWithTill, paid: str) -> None:
    till.processor.fail("refund", TIMEOUT_BEFORE)
    refund(till, paid, 500)
    by_hand = till.processor.refund(till.ref, till.intent_of(paid), 500, "by hand")
    _refund_event(till, paid, by_hand.id)
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
    _refund_event(till, paid, made.id)
    assert sorted(refunds()) == [(500, "FAILED"), (500, "SUCCEEDED")] and stored(paid).refunded_amount == 500


def _refund_event(till: ShopWithTill, payment: str, refund_id: str) -> EventOutcome:
    raw, headers = till.processor.event("refund.updated", till.intent_of(payment), refund_id=refund_id)
    return till.receive(raw, headers)


@pytest.mark.concurrent
def test_many_who_refund_at_once_never_give_back_more_than_came_in(app: Flask, till: ShopWithTill, paid: str) -> None:
    together, refused = threading.Barrier(8), list[DomainError]()

    def press() -> None:
        with app.app_context():
            together.wait()
            try:
                refund(till, paid, 400)
            except DomainError as error:
                refused.append(error)
            db.session.remove()

    db.session.remove()
    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5 and {error.code for error in refused} == {"refund_exceeds_payment"}
    assert (stored(paid).refunded_amount, given_back(till, paid)) == (1_200, 1_200)


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
    _refund_event(till, paid, by_hand.id)
    till.clock.move(hours=2)
    till.check()
    assert sorted(refunds()) == [(300, "FAILED"), (500, "FAILED"), (600, "SUCCEEDED")]
    assert stored(paid).refunded_amount == given_back(till, paid) == 600


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

"""Payments in cash at a till."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosAgent, PosLocation, PosTransactionEvent
from app.domain.sites.models import User
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import AGENT, FAIR, OTHER_AGENT, SHOP, TillClient, Tills, problem, stored_payments
from tests.fakes.payment_processor import TIMEOUT_BEFORE

SetSite = Callable[..., None]


def take(till: TillClient, amount: int = 1_250, key: str | None = None, **body: object) -> TestResponse:
    headers = {"Idempotency-Key": key} if key else {}
    return till.call("POST", "cashPayments", {"amountInPence": amount} | body, headers=headers)


def void(till: TillClient, transaction_id: str, reason: str = "Pays by card instead") -> TestResponse:
    return till.call("POST", f"transactions/{transaction_id}/void", {"reason": reason})


def refund(till: TillClient, transaction_id: str, **body: object) -> TestResponse:
    return till.call("POST", f"transactions/{transaction_id}/refunds", {"reason": "Broken"} | body)


def journal(app: Flask) -> list[tuple[str, int | None, str | None]]:
    with app.app_context():
        entries = db.session.query(PosJournalEntry).order_by(PosJournalEntry.sequence)
        return [(entry.type, entry.amount, entry.tender_type) for entry in entries]


def test_cash_is_taken_with_its_change(app: Flask, agent: TillClient) -> None:
    answer = take(agent, 1_250, tenderedInPence=2_000, description="Two mugs")
    assert answer.status_code == 201
    [payment] = stored_payments(app)
    assert answer.headers["Location"] == f"/v1/pos/tml_fair/transactions/{payment.id}"
    assert answer.json == {
        "id": payment.id,
        "agentId": str(payment.agent_id),
        "tenderType": "CASH",
        "amountInPence": 1_250,
        "tipInPence": 0,
        "changeInPence": 750,
        "roundingInPence": 0,
        "currency": "gbp",
        "status": "SUCCEEDED",
        "transactionType": "QUICK_PAYMENT",
        "orderId": None,
        "orderNumber": None,
        "cardBrand": None,
        "cardLast4": None,
        "clientSaleId": None,
        "created": "2026-11-20T12:00:00Z",
    }
    assert agent.list().json["items"] == [answer.json]
    assert agent.processor.calls == []
    assert journal(app) == [("SALE", 1_250, "CASH")]


def test_exactly_the_amount_is_handed_over_where_nothing_else_is_said(agent: TillClient) -> None:
    assert take(agent, 1_250).json["changeInPence"] == 0
    assert take(agent, 1_250, tenderedInPence=None).json["changeInPence"] == 0


@pytest.mark.parametrize(
    ("step", "amount", "tendered", "rounding", "change"),
    [
        (5, 1_252, None, -2, 0),
        (5, 1_253, None, 2, 0),
        (5, 1_253, 2_000, 2, 745),
        (10, 1_255, 1_260, 5, 0),
        (10, 1_254, 1_250, -4, 0),
        (10, 4, 0, -4, 0),
        (0, 1_253, 1_253, 0, 0),
    ],
)
def test_cash_is_rounded_as_the_shop_does(
    agent: TillClient, set_site: SetSite, step: int, amount: int, tendered: int | None, rounding: int, change: int
) -> None:
    set_site(posCashRounding=step)
    taken = take(agent, amount, tenderedInPence=tendered).json
    assert (taken["amountInPence"], taken["roundingInPence"], taken["changeInPence"]) == (amount, rounding, change)


def test_less_than_is_to_be_paid_is_refused(agent: TillClient, set_site: SetSite) -> None:
    assert problem(take(agent, 1_250, tenderedInPence=1_249)) == (422, "tendered_too_small")
    set_site(posCashRounding=10)
    refused = take(agent, 1_256, tenderedInPence=1_259)
    assert (*problem(refused), refused.json["toPayInPence"]) == (422, "tendered_too_small", 1_260)


@pytest.mark.parametrize("amount", [0, -1, 100_000_000])
def test_an_amount_that_cannot_be_is_refused(agent: TillClient, amount: int) -> None:
    assert problem(take(agent, amount)) == (422, "amount_invalid")


@pytest.mark.parametrize("body", [{"amountInPence": "5"}, {"amountInPence": True}, {"amountInPence": 5.5}, {"more": 1}])
def test_what_is_no_payment_is_refused_whole(app: Flask, agent: TillClient, body: dict[str, object]) -> None:
    assert take(agent, **{"amount": 5} | {"tenderedInPence": 5} | body).status_code == 400
    assert stored_payments(app) == []


def test_the_limits_hold_for_cash_and_the_processors_minimum_does_not(agent: TillClient, set_agent: SetSite) -> None:
    set_agent(max_transaction_amount=2_000)
    refused = take(agent, 2_001)
    assert (*problem(refused), refused.json["maxAmountInPence"]) == (422, "amount_exceeds_limit", 2_000)
    assert take(agent, 2_000, tenderedInPence=5_000).status_code == 201
    assert take(agent, 1).status_code == 201
    assert problem(take(agent, 5, currency="eur")) == (422, "currency_not_supported")
    assert problem(take(agent, 5, description="4242 4242 4242 4242")) == (422, "description_invalid")


def test_the_shop_and_the_agent_must_take_cash(agent: TillClient, set_agent: SetSite, set_site: SetSite) -> None:
    set_agent(can_take_cash=False)
    assert problem(take(agent, 9_999_999)) == (403, "cash_not_permitted"), "permissions come before limits"
    set_site(posAllowCash=False)
    assert problem(take(agent)) == (403, "cash_disabled")
    set_site(posAllowCash=True, posAllowQuickPayments=False)
    set_agent(can_take_cash=True)
    assert problem(take(agent)) == (403, "quick_payments_disabled")
    set_site(posEnabled=False)
    assert problem(take(agent)) == (403, "pos_disabled")


def test_a_key_takes_the_cash_once(app: Flask, agent: TillClient) -> None:
    first, again = take(agent, key="k"), take(agent, key="k")
    assert (again.status_code, again.json, again.headers["Idempotent-Replayed"]) == (201, first.json, "true")
    assert problem(take(agent, 1_251, key="k")) == (422, "idempotency_mismatch")
    assert len(stored_payments(app)) == 1 and len(journal(app)) == 1


def test_a_mistake_is_taken_back_in_the_same_session(app: Flask, agent: TillClient) -> None:
    paid = take(agent).json["id"]
    taken_back = void(agent, paid)
    assert (taken_back.status_code, taken_back.json["status"]) == (200, "CANCELLED")
    again = void(agent, paid)
    assert (again.json, again.headers["Idempotent-Replayed"]) == (taken_back.json, "true")
    assert journal(app) == [("SALE", 1_250, "CASH"), ("VOID", -1_250, "CASH")]
    with app.app_context():
        [step] = db.session.query(PosTransactionEvent).filter_by(action="void")
        assert (step.status, step.detail) == ("CANCELLED", "Pays by card instead")


def test_anything_else_is_not_taken_back(app: Flask, agent: TillClient, till: Tills, set_agent: SetSite) -> None:
    set_agent(can_refund=True)
    assert problem(void(agent, "nothing")) == (404, "transaction_not_found")
    paid = take(agent).json["id"]
    assert problem(void(agent, paid, " ")) == (400, "invalid")
    assert problem(void(till(OTHER_AGENT), paid)) == (409, "void_not_allowed"), "another agent's"
    assert problem(void(till(), paid)) == (409, "void_not_allowed"), "another session"
    agent.processor.tap(agent.began())
    card = next(payment for payment in stored_payments(app) if payment.tender_type == "CARD").id
    assert problem(void(agent, card)) == (409, "void_not_allowed"), "by card"
    refund(agent, paid, amountInPence=1)
    assert problem(void(agent, paid)) == (409, "void_not_allowed"), "refunded"


def test_cash_is_given_back_in_cash_and_never_more_than_was_taken(
    app: Flask, agent: TillClient, set_agent: SetSite, set_site: SetSite
) -> None:
    paid = take(agent, 1_250).json["id"]
    assert problem(refund(agent, paid)) == (403, "refund_not_permitted")
    set_agent(can_refund=True)
    set_site(posCashRounding=5)
    assert problem(refund(agent, paid, tender="CARD")) == (422, "tender_not_possible")
    made = refund(agent, paid, amountInPence=503)
    assert made.status_code == 201
    assert (made.json["tender"], made.json["amountInPence"], made.json["roundingInPence"]) == ("CASH", 503, 2)
    assert problem(refund(agent, paid, amountInPence=748)) == (422, "refund_exceeds_payment")
    assert refund(agent, paid, tender="CASH").json["amountInPence"] == 747
    assert problem(refund(agent, paid)) == (409, "already_refunded")
    [payment] = stored_payments(app)
    assert (payment.status, payment.refunded_amount, payment.refunded_in_cash) == ("REFUNDED", 1_250, 1_250)
    assert journal(app) == [("SALE", 1_250, "CASH"), ("REFUND", -505, "CASH"), ("REFUND", -745, "CASH")]
    assert agent.processor.made("refund") == 0


def test_many_small_refunds_are_no_more_than_one_large_one(
    app: Flask, agent: TillClient, set_agent: SetSite, set_site: SetSite
) -> None:
    set_agent(can_refund=True)
    set_site(posCashRounding=10)
    paid = take(agent, 25).json["id"]
    rounding = [refund(agent, paid, amountInPence=5).json["roundingInPence"] for _ in range(5)]
    assert rounding == [5, -5, 5, -5, 5]
    moved = [amount for _, amount, _ in journal(app)]
    assert moved == [30, -10, 0, -10, 0, -10]


def test_a_card_payment_is_given_back_partly_in_cash_and_never_more_than_was_taken(
    app: Flask, agent: TillClient, set_agent: SetSite
) -> None:
    set_agent(can_refund=True)
    intent_id = agent.began()
    agent.processor.tap(intent_id)
    paid = agent.capture(intent_id).json["transactionId"]
    assert refund(agent, paid, amountInPence=500, tender="CASH").json["tender"] == "CASH"
    assert problem(refund(agent, paid, amountInPence=751)) == (422, "refund_exceeds_payment")
    assert refund(agent, paid).json["amountInPence"] == 750
    [payment] = stored_payments(app)
    assert (payment.status, payment.refunded_amount, payment.refunded_in_cash) == ("REFUNDED", 1_250, 500)
    assert agent.processor.made("refund") == 1
    assert journal(app) == [("SALE", 1_250, "CARD"), ("REFUND", -500, "CASH"), ("REFUND", -750, "CARD")]
    agent.read(intent_id)
    assert [payment.status for payment in stored_payments(app)] == ["REFUNDED"], "the processor knows of 7.50 alone"


def test_who_may_not_take_cash_gives_none_for_a_card(agent: TillClient, set_agent: SetSite, set_site: SetSite) -> None:
    set_agent(can_refund=True, can_take_cash=False)
    intent_id = agent.began()
    agent.processor.tap(intent_id)
    paid = agent.capture(intent_id).json["transactionId"]
    assert problem(refund(agent, paid, tender="CASH")) == (403, "cash_not_permitted")
    set_site(posAllowCash=False)
    assert problem(refund(agent, paid, tender="CASH")) == (403, "cash_disabled")
    assert refund(agent, paid).status_code == 201


def test_many_small_refunds_give_back_no_more_than_one_large_one(
    agent: TillClient, set_agent: SetSite, set_site: SetSite
) -> None:
    set_agent(can_refund=True)
    set_site(posCashRounding=10)
    paid = take(agent, 100).json["id"]
    given = [refund(agent, paid, amountInPence=5).json for _ in range(20)]
    assert sum(one["amountInPence"] + one["roundingInPence"] for one in given) == 100


def test_a_key_belongs_to_one_void(agent: TillClient) -> None:
    first, second = take(agent).json["id"], take(agent, 500).json["id"]
    body, key = {"reason": "Wrong"}, {"Idempotency-Key": "k"}
    for _ in range(2):
        assert agent.call("POST", f"transactions/{first}/void", body, headers=key).status_code == 200
    for transaction_id, reason in ((first, "Other"), (second, "Wrong")):
        refused = agent.call("POST", f"transactions/{transaction_id}/void", {"reason": reason}, headers=key)
        assert problem(refused) == (422, "idempotency_mismatch")


def test_what_was_taken_back_is_shown_to_its_own_session_alone(agent: TillClient, till: Tills) -> None:
    paid = take(agent).json["id"]
    assert void(agent, paid).status_code == 200
    assert problem(void(till(OTHER_AGENT), paid)) == (409, "void_not_allowed")


def test_a_repeated_refund_names_the_same_tender(app: Flask, agent: TillClient, set_agent: SetSite) -> None:
    set_agent(can_refund=True)
    intent_id = agent.began()
    agent.processor.tap(intent_id)
    paid = agent.capture(intent_id).json["transactionId"]
    body, path, key = (
        {"reason": "Broken", "amountInPence": 100},
        f"transactions/{paid}/refunds",
        {"Idempotency-Key": "k"},
    )
    assert agent.call("POST", path, body | {"tender": "CASH"}, headers=key).status_code == 201
    assert problem(agent.call("POST", path, body, headers=key)) == (422, "idempotency_mismatch")


def test_the_list_is_of_one_tender_where_that_is_wanted(agent: TillClient) -> None:
    paid = take(agent).json["id"]
    agent.began()
    assert [item["id"] for item in agent.list(tenderType="CASH").json["items"]] == [paid]
    assert len(agent.list(tenderType="CARD").json["items"]) == 1
    assert problem(agent.list(tenderType="GOLD")) == (400, "invalid")


def test_a_refund_that_nobody_answered_is_named_in_the_z_report(agent: TillClient, set_agent: SetSite) -> None:
    set_agent(can_refund=True)
    intent_id = agent.began()
    agent.processor.tap(intent_id)
    paid = agent.capture(intent_id).json["transactionId"]
    agent.processor.fail("refund", TIMEOUT_BEFORE)
    assert refund(agent, paid, amountInPence=500).status_code == 202
    z = agent.api.call("POST", "/v1/pos/sessions/current/close", {"countedCash": 0}).json
    assert (z["tenders"]["card"]["refunds"], z["unresolvedRefunds"]) == (0, {"count": 1, "amount": 500})


def test_a_session_is_opened_where_it_first_sells_not_where_it_first_looks(
    app: Flask, agent: TillClient, set_agent: SetSite
) -> None:
    with app.app_context(), transaction():
        shop = db.session.query(PosLocation).filter_by(location_id=SHOP).one()
        agents = db.session.query(PosAgent).join(User, User.id == PosAgent.user_id)
        tilly = agents.filter(User.email == AGENT).one()
        tilly.locations.append(shop)
    agent.location = SHOP
    assert agent.list().status_code == 200
    agent.location = FAIR
    take(agent)
    z = agent.api.call("POST", "/v1/pos/sessions/current/close", {"countedCash": 0}).json
    assert (z["zNumber"], z["otherLocations"]) == (1, [])
    with app.app_context():
        numbers = {place.location_id: place.last_z_number for place in db.session.query(PosLocation)}
    assert (numbers[FAIR], numbers[SHOP]) == (1, 0)


def test_cash_of_another_location_is_not_found(agent: TillClient, till: Tills) -> None:
    paid = take(agent).json["id"]
    agent.location = SHOP
    assert problem(void(agent, paid)) == (403, "location_access_denied")


@pytest.mark.concurrent
def test_one_key_sent_twenty_times_at_once_takes_the_cash_once(app: Flask, agent: TillClient) -> None:
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(lambda _: take(agent, key="k"), range(20)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json["id"] for answer in answers}) == len(stored_payments(app)) == len(journal(app)) == 1

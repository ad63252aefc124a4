"""Work sessions with payments: where they take place, what their report counts, and when they end by themselves."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import select

from app.domain.pos.models import PosSession, PosTransaction
from app.extensions import db
from tests.blueprints.v1.pos.conftest import FAIR, Tills
from tests.fakes.clock import StoppedClock

SESSION = "/v1/pos/sessions/current"
TOO_MUCH = {"amountInPence": 100_001}


def test_a_payment_belongs_to_the_session_and_the_session_to_its_location(app: Flask, till: Tills) -> None:
    agent = till()
    intent_id = agent.began()
    session = agent.api.call("GET", SESSION).json
    assert session["locationId"] == FAIR
    with app.app_context():
        assert db.session.scalar(select(PosTransaction.session_id)) == session["id"]
    agent.processor.tap(intent_id)
    agent.capture(intent_id)
    agent.began()
    report = agent.api.call("GET", f"{SESSION}/report").json
    visa = {"count": 1, "gross": 1_250, "refundCount": 0, "refunds": 0, "net": 1_250}
    assert report["cards"] == [visa | {"cardBrand": "visa"}]
    assert (report["total"], report["unresolved"]) == (visa, {"count": 1, "amount": 1_250})


def test_the_third_try_above_the_limit_within_ten_minutes_is_the_last(
    app: Flask, till: Tills, clock: StoppedClock
) -> None:
    agent = till()
    for _ in range(2):
        assert agent.create(**TOO_MUCH).status_code == 422
    clock.move(minutes=10)
    for _ in range(3):
        answer = agent.create(**TOO_MUCH)
        assert (answer.status_code, answer.json["code"]) == (422, "amount_exceeds_limit")
    answer = agent.create()
    assert (answer.status_code, answer.json["code"]) == (401, "session_revoked")
    with app.app_context():
        assert db.session.scalar(select(PosSession.end_reason)) == "REVOKED"
    assert till().create().status_code == 201


def test_what_else_is_refused_ends_nothing(till: Tills) -> None:
    agent = till()
    for body in (
        {"currency": "jpy"},
        {"amountInPence": 0},
        {"amountInPence": 10**30},
        {"metadata": {"agentId": "1"}},
    ) * 2:
        assert agent.create(**body).status_code in (400, 422)
    assert agent.create().status_code == 201

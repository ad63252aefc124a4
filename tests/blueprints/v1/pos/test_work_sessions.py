"""Work sessions with payments: where they take place, what their report counts, and when they end by themselves."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import select

from app.domain.pos.models import PosSession, PosTransaction
from app.extensions import db
from tests.blueprints.v1.conftest import LOGIN, REFRESH
from tests.blueprints.v1.pos.conftest import AGENT, FAIR, Tills
from tests.factories import PASSWORD
from tests.fakes.clock import StoppedClock

SESSION = "/v1/pos/sessions/current"


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


def test_different_amounts_above_the_limit_end_the_session_after_a_warning(app: Flask, till: Tills) -> None:
    agent = till()
    left = []
    for amount in (100_001, 100_001, 100_002, 100_003, 100_003, 100_004, 100_005):
        answer = agent.create(amountInPence=amount)
        assert (answer.status_code, answer.json["code"]) == (422, "amount_exceeds_limit")
        left.append(answer.json.get("attemptsLeft"))
    assert left == [None, None, 3, 2, 2, 1, 0]
    answer = agent.create()
    assert (answer.status_code, answer.json["code"]) == (401, "session_revoked")
    with app.app_context():
        assert db.session.scalar(select(PosSession.end_reason)) == "OVER_LIMIT"
    assert till().create().status_code == 201


def test_amounts_far_above_the_limit_count_from_the_first_and_for_ten_minutes(till: Tills, clock: StoppedClock) -> None:
    agent = till()

    def attempts_left(amount: int) -> int | None:
        left: int | None = agent.create(amountInPence=amount).json.get("attemptsLeft")
        return left

    assert [attempts_left(200_001), attempts_left(200_002)] == [None, 1]
    clock.move(minutes=10)
    assert [attempts_left(amount) for amount in (200_001, 200_002, 200_003)] == [None, 1, 0]
    assert agent.create().status_code == 401


def test_an_app_that_updates_itself_stays_signed_in_and_another_program_does_not(app: Flask, till: Tills) -> None:
    def refreshed(tokens: dict[str, str], program: str) -> tuple[int, dict[str, str]]:
        body, headers = {"refreshToken": tokens["refreshToken"]}, {"User-Agent": program}
        answer = agent.api.call("POST", REFRESH, body, headers=headers)
        return answer.status_code, answer.json

    agent = till()
    body = {"email": AGENT, "password": PASSWORD, "audience": "pos"}
    tokens = agent.api.call("POST", LOGIN, body, headers={"User-Agent": "TillApp/1.2 (iOS 19)"}).json
    for program in ("TillApp/1.3 (iOS 19)", "TillApp/2 (iOS 20) CFNetwork/3000", "TillApp"):
        status, tokens = refreshed(tokens, program)
        assert status == 200, program
    assert refreshed(tokens, "TillApp2/1.2 (iOS 19)")[0] == 401
    assert refreshed(tokens, "TillApp/1.2 (iOS 19)")[0] == 401, "the session has ended"
    with app.app_context():
        assert "DEVICE_CHANGED" in set(db.session.scalars(select(PosSession.end_reason)))


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

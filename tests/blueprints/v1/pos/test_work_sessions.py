"""Work sessions with payments: where they take place, what their report counts, and when they end by themselves."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.domain.pos.models import PosSession, PosTransaction
from app.extensions import db
from tests.blueprints.v1.conftest import LOGIN, REFRESH
from tests.blueprints.v1.pos.conftest import ADMIN, AGENT, FAIR, OTHER_AGENT, TillClient, Tills, problem
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


def session_id_of(till: TillClient) -> str:
    found: str = till.api.call("GET", SESSION).json["id"]
    return found


def close(till: TillClient, session_id: str = "current", counted: int = 0) -> TestResponse:
    return till.api.call("POST", f"/v1/pos/sessions/{session_id}/close", {"countedCash": counted})


def report(till: TillClient, session_id: str) -> TestResponse:
    return till.api.call("GET", f"/v1/pos/sessions/{session_id}/report")


def test_a_session_that_ended_is_closed_after_signing_in_again(till: Tills) -> None:
    agent = till()
    agent.began()
    ended = session_id_of(agent)
    agent.api.call("POST", "/v1/auth/logout")
    again = till()
    assert report(again, ended).json["type"] == "X"
    answer = close(again, ended, 250)
    assert (answer.status_code, answer.json["type"], answer.json["countedCash"]) == (200, "Z", 250)
    assert (answer.json["zNumber"], answer.json["session"]["endReason"]) == (1, "LOGOUT")
    assert report(again, ended).json == answer.json
    assert report(again, "current").json["type"] == "X", "who closed another session stays signed in"
    assert problem(close(again, ended)) == (409, "work_session_closed")


def test_the_session_of_another_agent_is_not_there_but_for_an_admin(till: Tills) -> None:
    agent, other, admin = till(), till(OTHER_AGENT), till(ADMIN)
    open_ = session_id_of(agent)
    for answer in (report(other, open_), close(other, open_), report(admin, "nothing"), close(other, "nothing")):
        assert problem(answer) == (404, "work_session_not_found")
    assert report(admin, open_).json["type"] == "X"
    answer = close(admin, open_)
    assert (answer.status_code, answer.json["session"]["endReason"]) == (200, "REVOKED")
    assert agent.create().json["code"] == "session_revoked"
    assert report(admin, "current").status_code == 200


def test_an_x_report_shows_the_present_head_of_the_journal(till: Tills) -> None:
    agent = till()
    empty = report(agent, "current").json
    assert (empty["journalHead"], empty["zNumber"], empty["expectedCash"]) == ("0" * 64, None, 0)
    agent.call("POST", "cashPayments", {"amountInPence": 250})
    sold = report(agent, "current").json
    assert (sold["expectedCash"], sold["difference"]) == (250, None)
    assert sold["journalHead"] != empty["journalHead"]


def test_a_session_without_an_opening_float_has_a_difference_all_the_same(till: Tills) -> None:
    agent = till()
    agent.call("POST", "cashPayments", {"amountInPence": 250})
    closed = close(agent, counted=200).json
    assert (closed["openingFloat"], closed["difference"], closed["cashDifference"]) == (None, -50, None)

"""A payment is begun at a till."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.domain.pos.models import PosAgent, PosIdempotencyKey, PosLocation, PosTransaction
from app.domain.sites import accounts
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import ADMIN, AGENT, FAIR, SHOP, TillClient, Tills, problem, stored_payments
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import (
    ERROR_500_AFTER,
    ERROR_500_BEFORE,
    KEY_REUSED,
    MISCONFIGURED,
    RATE_LIMITED_429,
    REJECTED,
    TIMEOUT_AFTER,
    TIMEOUT_BEFORE,
    Fault,
)

Change = Callable[..., None]


def test_a_payment_is_begun_with_what_the_reader_needs(app: Flask, agent: TillClient) -> None:
    answer = agent.create(description="Two mugs", metadata={"stall": "7"})
    payment, intent = stored_payments(app)[0], agent.processor.intents()[0]
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/v1/pos/tml_fair/paymentIntents/{intent.id}"
    assert "Idempotent-Replayed" not in answer.headers
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.json == {
        "id": intent.id,
        "clientSecret": intent.client_secret,
        "amount": 1_250,
        "currency": "gbp",
        "status": "requires_payment_method",
        "transactionId": payment.id,
    }
    assert (payment.status, payment.type, payment.description) == ("PENDING", "QUICK_PAYMENT", "Two mugs")
    assert (payment.client_metadata, payment.processor, payment.processor_intent_id) == (
        {"stall": "7"}, "fake", intent.id,
    )  # fmt: skip


def test_the_processor_is_sent_who_and_where(app: Flask, agent: TillClient, fair: int) -> None:
    agent.create(metadata={"stall": "7"})
    payment = stored_payments(app)[0]
    assert agent.processor.intents()[0].metadata == {
        "stall": "7",
        "agentId": str(payment.agent_id),
        "locationId": "tml_fair",
        "transactionId": payment.id,
        "siteId": str(fair),
    }


@pytest.mark.parametrize("key", ("agentId", "locationId", "transactionId", "siteId"))
def test_no_client_says_in_metadata_who_or_where(app: Flask, agent: TillClient, key: str) -> None:
    assert problem(agent.create(metadata={key: "1"})) == (422, "metadata_invalid")
    assert (stored_payments(app), agent.processor.calls) == ([], [])


def test_the_client_secret_is_stored_nowhere(app: Flask, agent: TillClient) -> None:
    secret = agent.create(key="k").json["clientSecret"]
    with app.app_context():
        for table in db.metadata.sorted_tables:
            assert secret not in repr(db.session.execute(table.select()).all()), table.name


def test_the_same_key_is_the_same_payment(app: Flask, agent: TillClient) -> None:
    first, again = agent.create(key="k"), agent.create(key="k")
    assert (again.status_code, again.json) == (201, first.json)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    assert agent.processor.made("create_intent") == len(stored_payments(app)) == 1


def test_a_key_is_of_one_request_and_one_agent(agent: TillClient, till: Tills) -> None:
    first = agent.create(key="k")
    assert problem(agent.create(key="k", amountInPence=1_251)) == (422, "idempotency_mismatch")
    other = till("other_agent@shop.test").create(key="k")
    assert (other.status_code, other.json["id"] != first.json["id"]) == (201, True)


def work_at_both_locations(app: Flask) -> None:
    with app.app_context(), transaction():
        user = accounts.get_user(AGENT)
        known = db.session.query(PosAgent).filter_by(user_id=user.id).one()
        known.locations = db.session.query(PosLocation).filter_by(site_id=known.site_id).all()


def test_a_key_is_of_one_location(app: Flask, agent: TillClient) -> None:
    work_at_both_locations(app)
    first = agent.create(key="k")
    agent.location = SHOP
    second, again = agent.create(key="k"), agent.create(key="k")
    assert (second.status_code, "Idempotent-Replayed" in second.headers) == (201, False)
    assert second.json["id"] != first.json["id"]
    assert (again.json["id"], again.headers["Idempotent-Replayed"]) == (second.json["id"], "true")
    assert problem(agent.create(key="k", amountInPence=1_251)) == (422, "idempotency_mismatch")
    agent.location = FAIR
    assert agent.create(key="k").json["id"] == first.json["id"]
    with app.app_context():
        places = [payment.location.location_id for payment in db.session.query(PosTransaction)]
    assert sorted(places) == [FAIR, SHOP]


def test_a_key_from_before_an_upgrade_still_stands_for_its_payment(app: Flask, agent: TillClient) -> None:
    """The release before stored no location with a key."""
    first = agent.create(key="k")
    with app.app_context(), transaction():
        db.session.query(PosIdempotencyKey).update({"operation": "create_payment"})
    work_at_both_locations(app)
    assert agent.create(key="k").json["id"] == first.json["id"]
    assert problem(agent.create(key="k", amountInPence=1_251)) == (422, "idempotency_mismatch")
    agent.location = SHOP
    second = agent.create(key="k")
    assert (second.status_code, second.json["id"] != first.json["id"]) == (201, True)


def test_without_a_key_each_request_is_a_payment(agent: TillClient) -> None:
    assert agent.began() != agent.began()


def test_a_key_of_yesterday_is_free_again(agent: TillClient, clock: StoppedClock) -> None:
    first = agent.create(key="k").json["id"]
    clock.move(hours=24)
    agent.api.sign_in("pos_agent@shop.test", audience="pos")
    assert agent.create(key="k").json["id"] != first


@pytest.mark.parametrize("key", ("", "x" * 256, "é", "\t"))
def test_what_cannot_be_a_key_is_refused(agent: TillClient, key: str) -> None:
    headers = {"Idempotency-Key": key.encode().decode("latin-1")}
    body = {"amountInPence": 1_250}
    assert agent.call("POST", "paymentIntents", body, headers=headers).status_code == 400


@pytest.mark.parametrize("fault", (TIMEOUT_BEFORE, TIMEOUT_AFTER, ERROR_500_BEFORE, ERROR_500_AFTER, KEY_REUSED))
def test_without_an_answer_the_outcome_is_unknown(app: Flask, agent: TillClient, fault: Fault) -> None:
    agent.processor.fail("create_intent", fault)
    answer = agent.create(key="k")
    payment = stored_payments(app)[0]
    assert problem(answer) == (504, "processor_timeout")
    assert (answer.json["transactionId"], payment.status, payment.processor_intent_id) == (payment.id, "UNKNOWN", None)
    shown = agent.call("GET", f"transactions/{payment.id}").json
    assert (shown["status"], shown["paymentIntentId"]) == ("UNKNOWN", None)


@pytest.mark.parametrize("fault", (TIMEOUT_BEFORE, TIMEOUT_AFTER))
def test_a_retry_with_the_key_finds_the_one_payment(app: Flask, agent: TillClient, fault: Fault) -> None:
    agent.processor.fail("create_intent", fault)
    first, again = agent.create(key="k"), agent.create(key="k")
    assert (again.status_code, again.json["transactionId"]) == (201, first.json["transactionId"])
    assert len(agent.processor.intents()) == 1
    assert [payment.status for payment in stored_payments(app)] == ["PENDING"]


def test_a_payment_is_not_begun_anew_once_the_processor_forgot_its_key(agent: TillClient, clock: StoppedClock) -> None:
    agent.processor.fail("create_intent", TIMEOUT_AFTER)
    agent.create(key="k")
    agent.processor.forget_keys()
    clock.move(hours=23)
    agent.api.sign_in("pos_agent@shop.test", audience="pos")
    assert problem(agent.create(key="k")) == (409, "outcome_unknown")
    assert len(agent.processor.intents()) == 1


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    (
        (RATE_LIMITED_429, 503, "processor_unavailable"),
        (MISCONFIGURED, 502, "processor_misconfigured"),
        (REJECTED, 502, "processor_error"),
    ),
)
def test_what_the_processor_refuses_failed_and_may_be_tried_again(
    app: Flask, agent: TillClient, fault: Fault, status: int, code: str
) -> None:
    agent.processor.fail("create_intent", fault)
    answer = agent.create(key="k")
    assert problem(answer) == (status, code)
    assert answer.json["transactionId"] == stored_payments(app)[0].id
    assert ("Retry-After" in answer.headers) == (status == 503)
    assert stored_payments(app)[0].status == "FAILED"
    assert agent.create(key="k").status_code == 201


def test_a_first_request_that_is_being_answered_is_waited_for(agent: TillClient) -> None:
    meanwhile = []

    def again(_call: object) -> None:
        agent.processor.before_call = lambda _call: None
        meanwhile.append(agent.create(key="k"))

    agent.processor.before_call = again
    assert agent.create(key="k").status_code == 201
    assert problem(meanwhile[0]) == (409, "idempotency_in_progress")


def test_a_first_request_whose_process_died_is_taken_further(
    app: Flask, agent: TillClient, clock: StoppedClock
) -> None:
    class Killed(BaseException):
        pass

    def die(_call: object) -> None:
        raise Killed

    agent.processor.before_call = die
    with pytest.raises(Killed):
        agent.create(key="k")
    agent.processor.before_call = lambda _call: None
    assert [payment.status for payment in stored_payments(app)] == ["CREATING"]
    assert agent.list().json["items"][0]["status"] == "PENDING"
    assert problem(agent.create(key="k")) == (409, "idempotency_in_progress")
    clock.move(minutes=1)
    assert agent.create(key="k").status_code == 201
    assert [payment.status for payment in stored_payments(app)] == ["PENDING"]


def test_the_account_is_the_shops_unless_the_location_has_its_own(
    app: Flask, agent: TillClient, set_site: Change
) -> None:
    set_site(posProcessorAccountId="acct_shop")
    agent.create()
    assert stored_payments(app)[0].processor_account_id == "acct_shop"
    assert len(agent.processor.intents("acct_shop")) == 1
    assert agent.call("POST", "connectionToken").json["processorAccountId"] == "acct_shop"


def test_a_connection_token_is_new_each_time_and_kept_nowhere(agent: TillClient) -> None:
    first, second = (agent.call("POST", "connectionToken") for _ in range(2))
    assert (first.status_code, first.headers["Cache-Control"]) == (200, "no-store")
    assert set(first.json) == {"secret", "processorAccountId"}
    assert first.json["secret"] != second.json["secret"]


@pytest.mark.parametrize(("path", "most"), (("connectionToken", 30), ("paymentIntents", 30)))
def test_more_than_so_many_a_minute_are_refused(agent: TillClient, path: str, most: int) -> None:
    answers = [agent.call("POST", path, {"amountInPence": 1_250}) for _ in range(most + 1)]
    assert {answer.status_code for answer in answers[:-1]} <= {200, 201}
    assert problem(answers[-1]) == (429, "rate_limited")
    assert int(answers[-1].headers["Retry-After"]) > 0


def test_what_is_refused_or_repeated_counts_for_no_limit(agent: TillClient) -> None:
    for _ in range(31):
        assert problem(agent.call("POST", "paymentIntents", {"amountInPence": 0})) == (422, "amount_invalid")
        assert agent.create(key="the same").status_code == 201


def test_what_is_refused_or_the_same_again_counts_as_no_new_payment(agent: TillClient) -> None:
    refused = [agent.create(amountInPence=0) for _ in range(35)]
    assert {problem(answer) for answer in refused} == {(422, "amount_invalid")}
    assert {agent.create(key="k").status_code for _ in range(35)} == {201}
    assert {agent.create().status_code for _ in range(29)} == {201}
    assert problem(agent.create()) == (429, "rate_limited")


def test_requests_for_payments_are_limited_whatever_they_say(agent: TillClient) -> None:
    answers = [agent.create(amountInPence=0).status_code for _ in range(121)]
    assert (set(answers[:120]), answers[120]) == ({422}, 429)


def test_an_admin_who_is_no_agent_creates_no_payment(till: Tills) -> None:
    admin = till(ADMIN)
    assert problem(admin.create()) == (403, "agent_required")
    assert admin.list().status_code == 200
    assert problem(till(location=SHOP).create()) == (403, "location_access_denied")


def test_keys_are_purged_after_a_day(app: Flask, agent: TillClient) -> None:
    agent.create(key="k")
    with app.app_context():
        kept = db.session.query(PosIdempotencyKey).one()
        assert (kept.status, (kept.expires_at - kept.created_at).days) == (201, 1)

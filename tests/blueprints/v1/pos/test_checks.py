"""Who may take a payment and of how much: the order of the checks, and every limit at its edge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from flask import Flask

from app.domain.pos.models import PosAgent, PosLocation
from app.domain.sites import accounts
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import (
    ADMIN,
    AGENT,
    ELSEWHERE,
    FAIR,
    SHOP,
    TillClient,
    Tills,
    problem,
    stored_payments,
)
from tests.factories import make_order
from tests.fakes.clock import StoppedClock

Change = Callable[..., None]


def test_each_check_comes_before_the_next(
    app: Flask, till: Tills, agent: TillClient, set_agent: Change, set_site: Change
) -> None:
    """Everything is wrong at first, and is put right step by step."""
    set_agent(enabled=False, can_process_quick_payments=False, max_transaction_amount=100)
    set_site(posEnabled=False, posAllowQuickPayments=False)
    agent.location, body = ELSEWHERE, {"amountInPence": "much", "currency": "jpy"}

    def refused(with_token: bool = True) -> tuple[int, str]:
        headers = {} if with_token else {"token": "none"}
        return problem(agent.call("POST", "paymentIntents", body, **headers))

    assert refused(with_token=False) == (401, "token_invalid")
    assert problem(_merchandiser(till, agent)) == (403, "pos_role_required")
    assert refused() == (403, "agent_disabled")
    set_agent(enabled=True)
    assert refused() == (403, "pos_disabled")
    set_site(posEnabled=True)
    assert refused() == (404, "location_not_found")
    agent.location = SHOP
    assert refused() == (403, "location_access_denied")
    agent.location = FAIR
    assert refused() == (400, "invalid")
    body["amountInPence"] = 0
    assert refused() == (422, "amount_invalid")
    body["amountInPence"] = 101
    assert refused() == (403, "quick_payments_disabled")
    set_site(posAllowQuickPayments=True)
    assert refused() == (403, "quick_payments_not_permitted")
    set_agent(can_process_quick_payments=True)
    assert refused() == (422, "currency_not_supported")
    body["currency"] = "GBP"
    assert refused() == (422, "amount_exceeds_limit")
    assert (stored_payments(app), agent.processor.calls) == ([], [])
    body["amountInPence"] = 100
    assert agent.call("POST", "paymentIntents", body).status_code == 201


def _merchandiser(till: Tills, agent: TillClient) -> Any:
    program = till("merchandiser@shop.test", agent.location, audience="api")
    return program.call("POST", "paymentIntents", {})


@pytest.mark.parametrize("audience", ("pos", "api"))
@pytest.mark.parametrize("email", (AGENT, ADMIN, "superadmin@shop.test"))
def test_whoever_works_at_tills_may_with_a_token_of_either_kind(till: Tills, email: str, audience: str) -> None:
    assert till(email, audience=audience).list().status_code == 200


def test_a_user_with_the_role_who_is_no_agent_is_refused(app: Flask, agent: TillClient) -> None:
    with app.app_context(), transaction():
        db.session.query(PosAgent).filter_by(user_id=accounts.get_user(AGENT).id).delete()
    assert problem(agent.list()) == (403, "agent_required")


def test_a_location_that_is_switched_off_settles_and_begins_nothing(app: Flask, agent: TillClient) -> None:
    intent_id = agent.began()
    with app.app_context(), transaction():
        db.session.query(PosLocation).filter_by(location_id=FAIR).update({"enabled": False})
    assert problem(agent.create()) == (403, "pos_disabled")
    assert agent.cancel(intent_id).status_code == 200


def test_the_permission_that_a_payment_takes_is_decided_by_what_it_is_for(
    app: Flask, agent: TillClient, fair: int, clock: StoppedClock
) -> None:
    """Every combination of the six facts that matter."""
    wrong = []
    for facts in product((True, False), repeat=6):
        with app.app_context(), transaction():
            order_id = _arrange(fair, facts)
        answer = agent.create(amountInPence=2_500, **({"orderId": order_id} if facts[5] else {}))
        found = None if answer.status_code == 201 else answer.json["code"]
        if found != _expected(facts):
            wrong.append((facts, found))
        clock.move(seconds=3)
    assert wrong == []
    made = {payment.type for payment in stored_payments(app)}
    assert made == {"QUICK_PAYMENT", "ORDER_PAYMENT"}


def _arrange(site_id: int, facts: tuple[bool, ...]) -> str:
    enabled, pos_enabled, allows_quick, can_quick, can_build, _ = facts
    user = accounts.get_user(AGENT)
    change_settings(site_id, {"posEnabled": pos_enabled, "posAllowQuickPayments": allows_quick})
    values = {"enabled": enabled, "can_process_quick_payments": can_quick, "can_build_orders": can_build}
    db.session.query(PosAgent).filter_by(user_id=user.id).update(values)
    order: str = make_order(db.session.get(Site, site_id), owner_id=user.id).id
    return order


def _expected(facts: tuple[bool, ...]) -> str | None:
    enabled, pos_enabled, allows_quick, can_quick, can_build, is_order = facts
    if not enabled:
        return "agent_disabled"
    if not pos_enabled:
        return "pos_disabled"
    if is_order:
        return None if can_build else "orders_not_permitted"
    if not allows_quick:
        return "quick_payments_disabled"
    return None if can_quick else "quick_payments_not_permitted"


# As JSON, under a limit of 500.00 of the agent.
TAKEN = ("30", "31", "99", "1250", "49999", "50000")
REFUSED = {
    "amount_too_small": ("1", "2", "10", "29"),
    "amount_invalid": ("0", "-0", "-1", "-5", "-50000", "100000000", "2147483648", "9" * 19, "1" + "0" * 30),
    "amount_exceeds_limit": ("50001", "100001", "99999999"),
}
NO_WHOLE_NUMBERS = (
    "100.9", "100.0", "1e2", "1E2", "1.25e3", "0.1", "-0.0", "1e400", '"1250"', '"1_000"', '"12.50"', '"£12.50"', '""',
    '" 30"', '"0x1e"', '"1e3"', '"NaN"', '"1,250"', '"\\u0663\\u0660"', "true", "false", "null", "[]", "[1250]", "{}",
    '{"amount": 1250}',
)  # fmt: skip
NO_JSON = ("NaN", "Infinity", "-Infinity", "1_000", "0x1e", "030", "+30", "12,50", "", "1250;", "'1250'", ".5", "5.")


def _amounts() -> Iterator[tuple[str, int, str | None]]:
    """What is sent, and the status and code of the answer."""
    yield from ((amount, 201, None) for amount in TAKEN)
    yield from ((amount, 422, code) for code, amounts in REFUSED.items() for amount in amounts)
    yield from ((amount, 400, "invalid") for amount in NO_WHOLE_NUMBERS if amount != "1e400")
    yield from ((amount, 400, None) for amount in (*NO_JSON, "1e400"))


def test_there_are_60_amounts() -> None:
    assert len(list(_amounts())) >= 60


def test_no_amount_but_a_whole_number_within_the_limit_is_taken(
    app: Flask, till: Tills, set_agent: Change, clock: StoppedClock
) -> None:
    set_agent(max_transaction_amount=50_000)
    agent, wrong, taken = till(), [], []
    for text, status, code in _amounts():
        if code == "amount_exceeds_limit":
            agent = till()  # Three of these end a session.
        answer = _sent(agent, text)
        if answer.status_code != status or code not in (None, answer.json.get("code")):
            wrong.append((text, answer.status_code, answer.json))
        if status == 201:
            taken.append(int(text))
        clock.move(seconds=3)
    assert wrong == []
    assert sorted(payment.amount_in_pence for payment in stored_payments(app)) == sorted(taken)
    assert sorted(intent.amount for intent in agent.processor.intents()) == sorted(taken)


def _sent(agent: TillClient, amount: str) -> Any:
    raw = f'{{"amountInPence": {amount}}}'.encode()
    return agent.call("POST", "paymentIntents", data=raw, content_type="application/json")


def test_a_limit_says_how_much_and_whose_it_is(agent: TillClient, set_agent: Change, set_site: Change) -> None:
    set_site(posMaxTransactionAmount=2_000)
    sites = agent.create(amountInPence=2_001)
    set_agent(max_transaction_amount=500)
    agents = agent.create(amountInPence=501)
    assert problem(sites) == problem(agents) == (422, "amount_exceeds_limit")
    assert (sites.json["maxAmountInPence"], sites.json["limitSource"]) == (2_000, "SITE")
    assert (agents.json["maxAmountInPence"], agents.json["limitSource"]) == (500, "AGENT")


def test_the_currency_is_the_shops(app: Flask, agent: TillClient) -> None:
    assert agent.call("POST", "paymentIntents", {"amountInPence": 1_250}).json["currency"] == "gbp"
    assert agent.create(currency="GBP").json["currency"] == "gbp"
    for other in ("jpy", "kwd", "eur", "pounds", ""):
        assert problem(agent.create(currency=other)) == (422, "currency_not_supported")
    assert {payment.currency for payment in stored_payments(app)} == {"gbp"}


@pytest.mark.parametrize(
    "body",
    (
        {"currency": 1},
        {"currency": None},
        {"description": "x" * 1_001},
        {"description": 5},
        {"orderId": 5},
        {"metadata": []},
        {"metadata": {"a": 1}},
        {"metadata": {"a": None}},
        {"metadata": {"a": {"b": "c"}}},
        {"status": "SUCCEEDED"},
        {"agentId": "1"},
    ),
)
def test_a_body_that_breaks_the_schema_is_refused(app: Flask, agent: TillClient, body: dict[str, object]) -> None:
    assert problem(agent.create(**body)) == (400, "invalid")
    assert stored_payments(app) == []


def test_no_card_number_is_stored_logged_or_repeated(app: Flask, agent: TillClient, log_lines: list[Any]) -> None:
    card = "4242 4242 4242 4242"
    answers = [
        agent.create(key="a", description=f"Card {card}"),
        agent.create(key="b", metadata={"note": card}),
        agent.create(key="c", metadata={card: "x"}),
    ]
    assert [problem(answer)[1] for answer in answers] == ["description_invalid", "metadata_invalid", "metadata_invalid"]
    assert not any(card in answer.text for answer in answers)
    assert card not in repr(log_lines)
    with app.app_context():
        for table in db.metadata.sorted_tables:
            assert card not in repr(db.session.execute(table.select()).all()), table.name

"""No forged token opens anything at a till, nor does one that is for a card reader or another shop."""

from __future__ import annotations

import jwt
import pytest
from flask import Flask

from app.web.tokens import key_for
from tests.blueprints.v1.pos.conftest import AGENT, TillClient, Tills, problem
from tests.blueprints.v1.test_tokens import FORGERIES


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_token_opens_no_till(app: Flask, agent: TillClient, forgery: str) -> None:
    with app.app_context():
        key = key_for("access-tokens")
    claims = jwt.decode(agent.api.tokens["token"], options={"verify_signature": False})
    forged = FORGERIES[forgery](claims, key)
    for method, path in (("GET", "transactions"), ("POST", "paymentIntents"), ("POST", "connectionToken")):
        assert problem(agent.call(method, path, token=forged)) == (401, "token_invalid")
    assert agent.processor.calls == []


def test_a_refresh_token_is_no_access_token(agent: TillClient) -> None:
    assert problem(agent.call("GET", "transactions", token=agent.api.tokens["refreshToken"])) == (401, "token_invalid")


def test_the_readers_token_opens_nothing_else(agent: TillClient) -> None:
    answer = agent.call("GET", "paymentToken")
    assert answer.status_code == 200, answer.text
    assert problem(agent.call("GET", "transactions", token=answer.json["token"])) == (401, "token_invalid")


def test_a_token_of_one_shop_opens_no_till_of_another(till: Tills) -> None:
    agent = till(AGENT)
    agent.api.host = "other.localhost"
    assert problem(agent.list()) == (401, "token_invalid")

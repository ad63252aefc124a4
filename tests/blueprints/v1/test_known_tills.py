"""Wrong guesses from elsewhere keep no till closed that has the device token of an earlier sign-in."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.domain.sites import accounts
from app.transaction import transaction
from app.web.tokens import DEVICE, Signer
from tests.blueprints.v1.conftest import LOGIN, ApiClient
from tests.factories import PASSWORD, WHEN
from tests.fakes.clock import StoppedClock

AGENT, ADMIN = "pos_agent@shop.test", "admin@shop.test"
SignIn = Callable[..., TestResponse]


@pytest.fixture
def sign_in(app: Flask, site_id: int) -> SignIn:
    """Sign in at a till, for the agent and from the shop's address unless another is named."""

    def send(password: str = PASSWORD, email: str = AGENT, address: str = "203.0.113.9", **more: str) -> TestResponse:
        body = {"email": email, "password": password, "audience": "pos"} | more
        return app.test_client().post(LOGIN, json=body, environ_overrides={"REMOTE_ADDR": address})

    return send


@pytest.fixture
def device_token(sign_in: SignIn) -> str:
    """That of a till on which the agent signed in."""
    token: str = sign_in().json["deviceToken"]
    return token


@pytest.fixture
def attacked(sign_in: SignIn, device_token: str) -> SignIn:
    """The same while somebody guesses, from the shop's own address even, until they have to wait."""
    for number in range(20):
        sign_in("wrong", AGENT if number < 5 else f"user{number}@shop.test")
    assert sign_in().status_code == 429
    return sign_in


def test_a_till_with_its_token_is_held_up_by_nobody(attacked: SignIn, device_token: str) -> None:
    answer = attacked(deviceToken=device_token)
    assert answer.status_code == 200
    assert attacked(deviceToken=answer.json["deviceToken"]).status_code == 200


def test_a_sign_in_at_a_till_lets_nobody_else_guess_on(attacked: SignIn, device_token: str) -> None:
    attacked(deviceToken=device_token)
    assert attacked(address="198.51.100.1").status_code == 429


def test_wrong_passwords_at_a_till_cost_seconds_and_only_there(
    sign_in: SignIn, device_token: str, clock: StoppedClock
) -> None:
    for _ in range(5):
        assert sign_in("wrong", deviceToken=device_token).status_code == 401
    refused = sign_in(deviceToken=device_token)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "2")
    other = sign_in()
    assert other.status_code == 200
    assert sign_in(deviceToken=other.json["deviceToken"]).status_code == 200
    clock.move(seconds=2)
    assert sign_in(deviceToken=device_token).status_code == 200


def test_agents_share_a_till(sign_in: SignIn, device_token: str) -> None:
    both = sign_in(email=ADMIN, deviceToken=device_token).json["deviceToken"]
    for number in range(20):
        sign_in("wrong", (AGENT, ADMIN)[number % 2])
    for email in (AGENT, ADMIN):
        assert sign_in(email=email).status_code == 429
        assert sign_in(email=email, deviceToken=both).status_code == 200


def test_a_till_is_known_for_those_who_signed_in_there_alone(attacked: SignIn, device_token: str) -> None:
    assert attacked(email=ADMIN, deviceToken=device_token).status_code == 429


def test_after_a_change_of_the_password_tills_are_unknown(app: Flask, attacked: SignIn, device_token: str) -> None:
    with app.app_context(), transaction():
        accounts.set_password(8, accounts.get_user(AGENT), "nine blue kettles")
    assert attacked("nine blue kettles", deviceToken=device_token).status_code == 429


def test_after_a_year_and_more_a_till_is_unknown(attacked: SignIn, device_token: str, clock: StoppedClock) -> None:
    clock.move(days=401)
    for _ in range(5):
        attacked("wrong")
    assert attacked(deviceToken=device_token).status_code == 429


@pytest.mark.parametrize("forged", ["x", "W10.x", "", "é", "x" * 2_048, "signed by another key"])
def test_a_token_that_the_shop_did_not_sign_is_none(attacked: SignIn, forged: str) -> None:
    if " " in forged:
        forged = Signer(b"another key").sign(DEVICE, [["a till", 1, 1, 1_790_000_000]], WHEN)
    assert attacked(deviceToken=forged).status_code == 429


def test_a_token_is_a_text_of_some_length(sign_in: SignIn) -> None:
    for token in ("x" * 2_049, 1, None, ["x"]):
        answer = sign_in(deviceToken=token)
        assert answer.status_code == 400
        assert answer.json["errors"][0]["pointer"] == "#/deviceToken"


def test_what_a_till_says_of_itself_proves_nothing(attacked: SignIn) -> None:
    assert attacked(deviceId="till-7", deviceName="The till").status_code == 429


def test_a_refresh_leaves_the_token_as_it_is(stranger: ApiClient) -> None:
    stranger.sign_in(ADMIN)
    assert "deviceToken" not in stranger.refresh().json


def test_a_new_till_waits_for_the_guesses_of_others_as_long_as_it_is_told_and_no_longer(
    sign_in: SignIn, clock: StoppedClock
) -> None:
    """The others guess whenever a delay ends, each time from another address."""
    addresses = (f"198.51.100.{number}" for number in range(200))
    for _ in range(40):
        refused = sign_in("wrong", address=next(addresses))
        clock.move(seconds=int(refused.headers.get("Retry-After", 0)))
    sign_in("wrong", address=next(addresses))
    wait = int(sign_in().headers["Retry-After"])
    assert 0 < wait <= 31
    for _ in range(wait):
        clock.move(seconds=1)
        sign_in("wrong", address=next(addresses))
    assert sign_in().status_code == 200


def test_the_failures_of_an_address_hold_up_that_address_for_long(sign_in: SignIn, clock: StoppedClock) -> None:
    for _ in range(12):
        while (answer := sign_in("wrong")).status_code == 429:
            clock.move(seconds=int(answer.headers["Retry-After"]))
    assert int(sign_in().headers["Retry-After"]) > 100
    assert int(sign_in(address="198.51.100.1").headers["Retry-After"]) <= 31
    clock.move(seconds=31)
    assert sign_in().status_code == 429
    assert sign_in(address="198.51.100.1").status_code == 200


def test_addresses_of_one_network_of_ipv6_are_one(sign_in: SignIn) -> None:
    for number in range(20):
        sign_in("wrong", f"user{number}@shop.test", address=f"2001:db8:1:2::{number:x}")
    assert sign_in(address="2001:db8:1:2:ffff::1").status_code == 429
    assert sign_in(address="2001:db8:1:3::1").status_code == 200

"""Whose requests count together."""

from __future__ import annotations

import pytest
from flask import Flask, g

from app.blueprints.callers import rate_limited
from app.domain.shared.problems import TooManyRequests
from app.domain.sites.api_sessions import ApiCaller, Audience
from tests.fakes.clock import StoppedClock


@rate_limited("pos_create", 2)
def create() -> str:
    return "created"


@rate_limited("pos_create", 2)
def create_otherwise() -> str:
    return "created"


@rate_limited("pos_read", 2)
def read() -> str:
    return "read"


def _is_admitted(app: Flask, view=create, address: str = "192.0.2.7", user_id: int | None = None) -> bool:
    with app.test_request_context(environ_base={"REMOTE_ADDR": address}):
        if user_id is not None:
            g.api_caller = ApiCaller("s", user_id, "", "", 1, frozenset(), 1, Audience.POS, None)  # type: ignore[arg-type]
        try:
            view()
        except TooManyRequests as error:
            assert error.code == "rate_limited" and 1 <= error.retry_after <= 60
            return False
        return True


def test_a_user_counts_by_name_wherever_the_requests_come_from(app: Flask) -> None:
    assert [_is_admitted(app, address=f"192.0.2.{n}", user_id=1) for n in range(3)] == [True, True, False]
    assert _is_admitted(app, user_id=2)


def test_views_of_one_action_count_together_and_others_do_not(app: Flask) -> None:
    assert _is_admitted(app, user_id=1) and _is_admitted(app, create_otherwise, user_id=1)
    assert not _is_admitted(app, user_id=1)
    assert _is_admitted(app, read, user_id=1)


def test_who_is_not_signed_in_counts_by_network(app: Flask, clock: StoppedClock) -> None:
    addresses = ("2001:db8::1", "2001:db8::ffff", "2001:db8::2")
    assert [_is_admitted(app, address=address) for address in addresses] == [True, True, False]
    assert _is_admitted(app, address="2001:db8:1::1")
    clock.move(minutes=1)
    assert _is_admitted(app, address="2001:db8::1")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_what_comes_from_this_machine_is_everybody_and_not_slowed_down(app: Flask, address: str) -> None:
    assert all(_is_admitted(app, address=address) for _ in range(5))


def test_a_user_on_this_machine_is_one_all_the_same(app: Flask) -> None:
    assert [_is_admitted(app, address="127.0.0.1", user_id=1) for _ in range(3)] == [True, True, False]

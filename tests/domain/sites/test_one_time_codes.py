"""Codes of authenticator apps, as RFC 6238 has them, and recovery codes."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from app.domain.sites import one_time_codes
from app.domain.sites.one_time_codes import app_key, code_at, key_address, step_of, step_of_code

RFC_KEY = base64.b32encode(b"12345678901234567890").decode()
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
STEP = step_of(NOW)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(59, "287082"), (1111111109, "081804"), (1111111111, "050471"), (1234567890, "005924"), (2000000000, "279037")],
)
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    """Its appendix B, of whose eight digits the last six are the code."""
    assert code_at(RFC_KEY, step_of(datetime.fromtimestamp(seconds, UTC))) == code


@pytest.mark.parametrize(("away", "is_taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_phone_may_be_half_a_minute_fast_or_slow(away: int, is_taken: bool) -> None:
    step = step_of_code(RFC_KEY, code_at(RFC_KEY, STEP + away), NOW, last_step=0)
    assert step == (STEP + away if is_taken else None)


def test_a_code_is_taken_once_and_none_before_it_any_more() -> None:
    taken = [step_of_code(RFC_KEY, code_at(RFC_KEY, STEP + away), NOW, last_step=STEP) for away in (-1, 0, 1)]
    assert taken == [None, None, STEP + 1]


def test_a_code_that_was_used_while_the_clock_was_far_ahead_keeps_nobody_out() -> None:
    assert step_of_code(RFC_KEY, code_at(RFC_KEY, STEP), NOW, last_step=STEP + 1_000) == STEP


def test_a_key_is_of_one_user_seed_and_shop() -> None:
    keys = {app_key(b"shop", 1, "a"), app_key(b"shop", 2, "a"), app_key(b"shop", 1, "b"), app_key(b"other", 1, "a")}
    assert len(keys) == 4 and {len(key) for key in keys} == {32}
    assert app_key(b"shop", 1, "a") == app_key(b"shop", 1, "a")


def test_the_qr_code_names_account_and_shop() -> None:
    address = key_address(RFC_KEY, "mia@shop.test", "Fern & Fell")
    assert address.startswith("otpauth://totp/Fern%20%26%20Fell:mia%40shop.test?")
    assert f"secret={RFC_KEY}" in address and "issuer=Fern%20%26%20Fell" in address


def test_codes_are_read_however_people_group_them() -> None:
    assert one_time_codes.plain_code(" 123 456\n") == "123456"
    assert one_time_codes.plain_code("ABCD-efgh jkmn-pqrs") == "abcdefghjkmnpqrs"
    assert one_time_codes.plain_code("１２３\u3000４５６") == "123456"
    assert not one_time_codes.is_from_app("١٢٣٤٥٦")


@pytest.mark.parametrize("typed", ["１２３４５６", "١٢٣٤٥٦", "12345é", "", "1234567"])
def test_what_is_no_code_of_six_digits_is_of_no_step(typed: str) -> None:
    assert step_of_code(RFC_KEY, typed, NOW, last_step=0) is None


def test_recovery_codes_differ_and_their_hash_is_of_one_user() -> None:
    codes = one_time_codes.new_recovery_codes()
    assert len(set(codes)) == 10 and {len(code) for code in codes} == {16}
    assert one_time_codes.grouped_recovery_code("abcdefghjkmnpqrs") == "abcd-efgh-jkmn-pqrs"
    assert one_time_codes.hash_recovery_code(1, codes[0]) != one_time_codes.hash_recovery_code(2, codes[0])

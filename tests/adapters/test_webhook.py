"""What is signed is believed for five minutes, and nothing else is."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stripe import WebhookSignature

from app.adapters.webhook import sign, verify
from app.domain.pos.processor import BadSignature

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
SECRET = b"a secret"


def is_believed(header: str, body: bytes = b"{}", secret: bytes = SECRET, seconds_off: int = 0) -> bool:
    try:
        verify(secret, header, body, NOW + timedelta(seconds=seconds_off))
    except BadSignature:
        return False
    return True


@given(st.binary(min_size=1), st.binary(), st.integers(-300, 300))
def test_what_is_signed_within_five_minutes_is_believed(secret: bytes, body: bytes, seconds_off: int) -> None:
    assert is_believed(sign(secret, SECONDS, body), body, secret, seconds_off)


@pytest.mark.parametrize("seconds_off", [-10_000, -301, 301, 10_000])
def test_what_was_signed_at_another_time_is_not(seconds_off: int) -> None:
    assert not is_believed(sign(SECRET, SECONDS, b"{}"), seconds_off=seconds_off)


@given(st.text())
def test_no_other_header_is(header: str) -> None:
    assert not is_believed(header)


@pytest.mark.parametrize(
    "header",
    [
        sign(b"another", SECONDS, b"{}"),
        sign(SECRET, SECONDS, b"{ }"),
        sign(SECRET, SECONDS - 1, b"{}").replace(str(SECONDS - 1), str(SECONDS)),
        sign(SECRET, SECONDS, b"{}").replace("v1=", "v0="),
        f"t={SECONDS}",
        f"t={SECONDS},v1=",
        f"t={SECONDS},v1=\udcff",
        "v1=" + sign(SECRET, SECONDS, b"{}").rpartition("=")[2],
    ],
)
def test_forgeries_are_not(header: str) -> None:
    assert not is_believed(header)


def test_an_empty_secret_signs_nothing() -> None:
    assert not is_believed(sign(b"", SECONDS, b"{}"), secret=b"")


def test_one_right_signature_among_several_is_enough() -> None:
    header = sign(SECRET, SECONDS, b"{}").replace(",v1=", f",v1={'0' * 64},v1=")
    assert is_believed(header)


def test_the_form_is_that_of_stripe() -> None:
    header = WebhookSignature.generate_signature_header("{}", SECRET.decode(), SECONDS)
    assert header == sign(SECRET, SECONDS, b"{}")

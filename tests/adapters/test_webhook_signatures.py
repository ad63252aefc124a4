"""What is signed is believed for five minutes, and nothing else is."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stripe import WebhookSignature

from app.adapters.webhook_signatures import sign, verify
from app.domain.pos.processor import BadSignature

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
SECRET = b"a secret"


@given(st.binary(min_size=1), st.binary(), st.integers(-300, 300))
def test_what_is_signed_within_five_minutes_is_believed(secret: bytes, body: bytes, seconds_off: int) -> None:
    verify(secret, sign(secret, SECONDS, body), body, NOW + timedelta(seconds=seconds_off))


@pytest.mark.parametrize("seconds_off", [-10_000, -301, 301, 10_000])
def test_what_was_signed_at_another_time_is_not(seconds_off: int) -> None:
    with pytest.raises(BadSignature):
        verify(SECRET, sign(SECRET, SECONDS, b"{}"), b"{}", NOW + timedelta(seconds=seconds_off))


@given(st.text())
def test_no_other_header_is(header: str) -> None:
    with pytest.raises(BadSignature):
        verify(SECRET, header, b"{}", NOW)


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
    with pytest.raises(BadSignature):
        verify(SECRET, header, b"{}", NOW)


def test_an_empty_secret_signs_nothing() -> None:
    with pytest.raises(BadSignature):
        verify(b"", sign(b"", SECONDS, b"{}"), b"{}", NOW)


def test_one_right_signature_among_several_is_enough() -> None:
    header = sign(SECRET, SECONDS, b"{}").replace(",v1=", f",v1={'0' * 64},v1=")
    verify(SECRET, header, b"{}", NOW)


def test_the_form_is_that_of_stripe() -> None:
    header = WebhookSignature.generate_signature_header("{}", SECRET.decode(), SECONDS)
    assert header == sign(SECRET, SECONDS, b"{}")

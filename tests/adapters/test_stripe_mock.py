"""Stripe's own description of its API allows every request of the adapter, whose samples it understands."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from app.adapters.stripe import StripeProcessor
from app.domain.pos.processor import AccountRef, Address, IntentRequest, ReaderStatus, Rejected
from tests.fakes.clock import StoppedClock
from tests.surroundings import stripe_mock

MINE = AccountRef("acct_mine")


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server."""
    built = stripe_mock()
    description = tmp_path_factory.mktemp("stripe-mock") / "spec3.json"
    description.write_text(json.dumps(of_our_version(json.loads((built / "spec3.json").read_text()))))
    # Its HTTPS, which nobody uses, would take one port for all: two of them could not run side by side.
    addresses = ["-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0"]
    command = [built / "stripe-mock", *addresses, "-spec", description, "-fixtures", built / "fixtures3.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        try:
            yield f"http://{address_of(running)}"
        finally:
            running.terminate()


def of_our_version(description: dict[str, Any]) -> dict[str, Any]:
    """The newest mock describes the version before ours. Version 2026-09-30.endive takes card_present among the allowed
    types of payment methods, and no list of types besides."""
    assert description["info"]["version"] == "2026-08-26.dahlia", "a newer mock may need none of this"
    create = description["paths"]["/v1/payment_intents"]["post"]["requestBody"]["content"]
    parameters = create["application/x-www-form-urlencoded"]["schema"]["properties"]
    parameters["allowed_payment_method_types"]["items"]["enum"].append("card_present")
    del parameters["payment_method_types"]
    return description


def address_of(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    for line in running.stdout:
        if found := re.search(r"Listening for HTTP at address: (\S+)", line):
            return found.group(1)
    raise AssertionError("Stripe's mock server does not listen")


@pytest.fixture
def processor(mock: str) -> StripeProcessor:
    return StripeProcessor("_".join(("sk", "test", "123")), ["secret"], api_base=mock, pause=0)


def test_readers(processor: StripeProcessor) -> None:
    address = Address("1 Market Street", "Stall 2", "London", "London", "E1 6AN", "GB")
    location = processor.create_location(MINE, "Market stall", address)
    assert processor.create_location(MINE, "Market stall", Address(country="GB"))
    assert processor.create_connection_token(MINE, location)


def test_smart_readers(processor: StripeProcessor) -> None:
    """The sample's action is of a kind that the shop requests nowhere."""
    [reader] = processor.list_readers(MINE, "tml_1")
    assert reader.id.startswith("tmr_")
    assert reader.status is ReaderStatus.ONLINE
    assert processor.retrieve_reader(MINE, "tmr_1").action is not None
    assert processor.process_intent(MINE, "tmr_1", "pi_1", "process-1").device_type == "bbpos_wisepos_e"
    assert processor.cancel_reader_action(MINE, "tmr_1").id


def test_payments(processor: StripeProcessor) -> None:
    request = IntentRequest(500, "gbp", "Two coffees", {"agentId": "A1", "transactionId": "T1"})
    intent = processor.create_intent(MINE, request, "create-1")
    assert processor.create_intent(AccountRef(), IntentRequest(500, "gbp"), "create-2").client_secret
    assert processor.retrieve_intent(MINE, intent.id).id == intent.id
    assert processor.capture_intent(MINE, intent.id, "capture-1").id == intent.id
    for reason in (None, "duplicate", "fraudulent", "requested_by_customer", "abandoned"):
        assert processor.cancel_intent(MINE, intent.id, reason, f"cancel-{reason}").id == intent.id


def test_lists(processor: StripeProcessor) -> None:
    now = StoppedClock().now()
    assert list(processor.list_intents(MINE, now - timedelta(hours=1), now))


def test_refunds(processor: StripeProcessor) -> None:
    whole = processor.refund(MINE, "pi_1", None, "refund-1")
    assert processor.refund(MINE, "pi_1", 200, "refund-2").amount
    assert processor.retrieve_refund(MINE, whole.id).id == whole.id


def test_the_mock_refuses_what_the_description_does_not_name(processor: StripeProcessor) -> None:
    with pytest.raises(Rejected, match="cancellation_reason"):
        processor.cancel_intent(MINE, "pi_1", "changed my mind", "cancel-1")

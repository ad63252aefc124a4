"""Every payment processor does what the contract says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from app.adapters.simulator import Simulator
from app.adapters.stripe import StripeProcessor
from app.domain.pos.processor import AccountRef, NoProcessor, ReaderNotFound
from app.domain.pos.simulator import CARDS, Tap
from tests.contracts.payment_processor_contract import MINE, OTHER, PaymentProcessorContract, SentEvent, Till
from tests.contracts.smart_reader_contract import NoSmartReaderContract, ReaderTill, SmartReaderContract, calls
from tests.fakes.clock import StoppedClock
from tests.fakes.stripe_server import SECRET_KEY, WEBHOOK_SECRET, StripeServer, stripe_server


class StripeTill:
    """Stripe's adapter against the local server."""

    def __init__(self, server: StripeServer) -> None:
        self._server = server
        self.processor = self.with_secret(WEBHOOK_SECRET)

    def now(self) -> datetime:
        return self._server.api.now()

    def tap(self, ref: AccountRef, intent_id: str, card: str = "visa") -> None:
        self._server.tap(ref.account_id, intent_id, card)

    def add_reader(self, ref: AccountRef, location_id: str, **more: Any) -> str:
        return self._server.api.ledgers[ref.account_id].add_reader(location_id, **more)

    def set_reader_status(self, ref: AccountRef, reader_id: str, status: str) -> None:
        self._server.api.ledgers[ref.account_id].readers[reader_id]["status"] = status

    def present(self, ref: AccountRef, reader_id: str, card: str = "visa") -> None:
        self._server.present(ref.account_id, reader_id, card)

    def hold_card(self, ref: AccountRef, reader_id: str) -> None:
        self._server.api.ledgers[ref.account_id].hold_card(reader_id)

    def events(self) -> list[SentEvent]:
        signed = [self._server.signed(event) for event in self._server.api.events()]
        return [SentEvent(one.raw, one.headers) for one in signed]

    def with_secret(self, secret: str) -> StripeProcessor:
        return StripeProcessor(SECRET_KEY, [secret], api_base=self._server.base_url, pause=0)


class SimulatorTill:
    """The simulator on a database."""

    def __init__(self, clock: StoppedClock) -> None:
        self._clock = clock
        self.processor = self.with_secret("a secret of the simulator")

    def now(self) -> datetime:
        return self._clock.now()

    def tap(self, ref: AccountRef, intent_id: str, card: str = "visa") -> None:
        secret = self.processor.retrieve_intent(ref, intent_id).client_secret
        assert secret is not None
        self.processor.present(ref, intent_id, secret, Tap(CARDS[card]))

    def events(self) -> list[SentEvent]:
        return [SentEvent(one.raw, one.headers) for one in self.processor.due_events(timedelta(0))]

    def with_secret(self, secret: str) -> Simulator:
        return Simulator(self._clock, secret.encode())


class TestSimulator(PaymentProcessorContract, NoSmartReaderContract):
    @pytest.fixture
    def till(self, clock: StoppedClock, context: None) -> Till:
        return SimulatorTill(clock)


class TestStripe(PaymentProcessorContract, SmartReaderContract):
    @pytest.fixture
    def till(self, clock: StoppedClock) -> Iterator[ReaderTill]:
        with stripe_server(clock.now, (MINE.account_id, OTHER.account_id)) as server:
            yield StripeTill(server)


def test_where_no_processor_is_set_up_there_are_no_smart_readers() -> None:
    assert NoProcessor().list_readers(MINE, "tml_1") == []
    for call in calls(NoProcessor(), MINE, "tmr_1", "pi_1"):
        with pytest.raises(ReaderNotFound):
            call()

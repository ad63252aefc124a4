"""Whatever is done in whatever order, the simulator and Stripe's adapter before a server that behaves as Stripe does
answer alike: so what is proved with the one holds with the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.domain.pos.processor import AccountRef, Intent, IntentRequest, IntentStatus, InvalidState, ProcessorError
from app.domain.pos.simulator import deliver_events
from tests.contracts.payment_processor_contract import DECLINES, MINE, OTHER, Till
from tests.contracts.test_payment_processors import SimulatorTill, StripeTill
from tests.examples import examples
from tests.fakes.clock import StoppedClock
from tests.fakes.stripe_server import stripe_server

CARDS = ["visa", "stuck_capture", *DECLINES]
KEYS = st.sampled_from(["a", "b", "c"])
INTENT = st.integers(0, 2)
STEP = st.one_of(
    st.tuples(st.just("create"), st.sampled_from([MINE, OTHER]), st.sampled_from([29, 500, 700]), KEYS),
    st.tuples(st.just("tap"), INTENT, st.sampled_from(CARDS)),
    st.tuples(st.just("capture"), INTENT, KEYS),
    st.tuples(st.just("cancel"), INTENT, st.sampled_from([None, "abandoned"]), KEYS),
    st.tuples(st.just("refund"), INTENT, st.sampled_from([None, 200, 501]), KEYS),
    st.tuples(st.just("read"), INTENT),
)
FIRST = ("create", MINE, 500, "first")
_examples = count()


@dataclass
class Run:
    """One try of one processor. Keys and payments are of this try alone, since all tries share a processor."""

    till: Till
    name: str
    known: list[tuple[AccountRef, str]] = field(default_factory=list)
    refunds: list[str] = field(default_factory=list)

    def take(self, step: tuple[object, ...]) -> object:
        """What came of a step, in words that do not depend on the processor."""
        action, *arguments = step
        try:
            return getattr(self, str(action))(*arguments)
        except InvalidState as refusal:
            return type(refusal).__name__, self._seen(refusal.intent)
        except ProcessorError as refusal:
            return type(refusal).__name__

    def create(self, ref: AccountRef, amount: int, key: str) -> object:
        request = IntentRequest(amount, "gbp", "Two coffees", {"try": self.name})
        intent = self.till.processor.create_intent(ref, request, f"{self.name}-{key}")
        if (ref, intent.id) not in self.known:
            self.known.append((ref, intent.id))
        return self.known.index((ref, intent.id)), self._seen(intent)

    def tap(self, number: int, card: str) -> object:
        ref, intent_id = self._intent(number)
        if self.till.processor.retrieve_intent(ref, intent_id).status is IntentStatus.REQUIRES_PAYMENT_METHOD:
            self.till.tap(ref, intent_id, card)
        return self.read(number)

    def capture(self, number: int, key: str) -> object:
        ref, intent_id = self._intent(number)
        return self._seen(self.till.processor.capture_intent(ref, intent_id, f"{self.name}-{key}"))

    def cancel(self, number: int, reason: str | None, key: str) -> object:
        ref, intent_id = self._intent(number)
        return self._seen(self.till.processor.cancel_intent(ref, intent_id, reason, f"{self.name}-{key}"))

    def refund(self, number: int, amount: int | None, key: str) -> object:
        ref, intent_id = self._intent(number)
        refund = self.till.processor.refund(ref, intent_id, amount, f"{self.name}-{key}")
        if refund.id not in self.refunds:
            self.refunds.append(refund.id)
        assert self.till.processor.retrieve_refund(ref, refund.id) == refund
        return self.refunds.index(refund.id), refund.amount, refund.status

    def read(self, number: int) -> object:
        ref, intent_id = self._intent(number)
        return self._seen(self.till.processor.retrieve_intent(ref, intent_id))

    def news(self) -> list[object]:
        """What was sent about payments, in order."""
        events = [self.till.processor.parse_event(one.raw, one.headers, self.till.now()) for one in self.till.events()]
        ours = [event for event in events if event.intent and event.intent.metadata.get("try") == self.name]
        return [(event.type, event.account_id, event.intent and self._seen(event.intent)) for event in ours]

    def listed(self) -> list[bool]:
        """Whether each payment stands in the list of its account."""
        now, hour = self.till.now(), timedelta(hours=1)
        lists = {ref: self.till.processor.list_intents(ref, now - hour, now + hour) for ref in (MINE, OTHER)}
        ids = {ref: {intent.id for intent in intents} for ref, intents in lists.items()}
        return [intent_id in ids[ref] for ref, intent_id in self.known]

    def _intent(self, number: int) -> tuple[AccountRef, str]:
        """One that is there: the number counts round."""
        return self.known[number % len(self.known)]

    @staticmethod
    def _seen(intent: Intent) -> object:
        card = intent.card and (intent.card.brand, intent.card.last4, intent.card.funding)
        money = intent.amount, intent.currency, intent.amount_received
        return intent.status, money, card, bool(intent.charge_id), intent.last_error, dict(intent.metadata)


@pytest.fixture
def tills(clock: StoppedClock, context: None) -> Iterator[tuple[SimulatorTill, StripeTill]]:
    with stripe_server(clock.now, (MINE.account_id, OTHER.account_id)) as server:
        yield SimulatorTill(clock), StripeTill(server)


@settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(STEP, max_size=12))
@example(steps=[("capture", 0, "a"), ("tap", 0, "stuck_capture"), ("capture", 0, "a"), ("capture", 0, "b")])
@example(steps=[("tap", 0, "visa"), ("refund", 0, 200, "a"), ("refund", 0, None, "a"), ("refund", 0, None, "b")])
@example(steps=[("cancel", 0, None, "a"), ("cancel", 0, None, "a"), ("cancel", 0, None, "b"), ("tap", 0, "visa")])
def test_they_answer_alike(tills: tuple[SimulatorTill, StripeTill], steps: list[tuple[object, ...]]) -> None:
    name = f"try-{next(_examples)}"
    deliver_events(tills[0].processor, lambda _raw, _headers: None)  # Those of the tries before.
    simulated, real = (Run(till, name) for till in tills)
    for step in [FIRST, *steps]:
        assert simulated.take(step) == real.take(step), step
    assert simulated.listed() == real.listed()
    assert simulated.news() == real.news()

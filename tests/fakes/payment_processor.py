"""A payment processor in memory: Stripe's books (tests/fakes/stripe_ledger.py) behind the port, without the wire, with
idempotency keys and faults on demand."""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import count
from typing import Any

from app.adapters.stripe_objects import intent_of, reader_of, refund_of, smart_reader_of
from app.adapters.webhook import sign, verify
from app.domain.pos.processor import (
    NOTHING,
    AccountRef,
    Address,
    Busy,
    Declined,
    Intent,
    IntentNotFound,
    IntentRequest,
    IntentStatus,
    InvalidState,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    ProcessorError,
    ProcessorEvent,
    Reader,
    ReaderBusy,
    ReaderNotFound,
    ReaderOffline,
    Refund,
    RefundStatus,
    Rejected,
)
from app.domain.shared.clock import Clock
from tests.fakes.stripe_ledger import CARDS, Ledger, Refusal
from tests.injected_faults import injected

SECRET = b"the secret of the fake processor's webhooks"
SIGNATURE = "Fake-Signature"
BY_DIGITS = {card.last4: name for name, card in reversed(CARDS.items())}
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with a call. `after` its effect, which then nobody hears of; `stored` under the call's key, so
    that its repetition gets the same answer, as a processor does with a fault of its own."""

    error: Callable[[], ProcessorError]
    after: bool = False
    stored: bool = False


def _unknown() -> ProcessorError:
    return OutcomeUnknown("The payment processor did not answer.")


TIMEOUT_BEFORE, TIMEOUT_AFTER = Fault(_unknown), Fault(_unknown, after=True)
ERROR_500_BEFORE, ERROR_500_AFTER = Fault(_unknown, stored=True), Fault(_unknown, after=True, stored=True)
CONFLICT_409 = Fault(_unknown)
RATE_LIMITED_429 = Fault(lambda: Busy("Too many requests to the payment processor.", 2))
MISCONFIGURED = Fault(lambda: Misconfigured("The payment processor refused the key."))
REJECTED = Fault(lambda: Rejected("The payment processor refused the request.", "parameter_invalid"), stored=True)
KEY_REUSED = Fault(KeyReused)
DECLINED = Fault(lambda: Declined("The card was declined.", "generic_decline"))
OF_READERS = {"terminal_reader_busy": ReaderBusy, "terminal_reader_offline": ReaderOffline}
FAULTS = (
    TIMEOUT_BEFORE, TIMEOUT_AFTER, ERROR_500_BEFORE, ERROR_500_AFTER, CONFLICT_409, RATE_LIMITED_429, MISCONFIGURED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    operation: str
    account_id: str
    key: str = ""


class Account(Ledger):
    """`answers` by idempotency key: the request, and what it gave or raised."""

    def __init__(self, account: str | None, seconds: Callable[[], int]) -> None:
        super().__init__(account, _numbers, seconds)
        self.answers: dict[str, tuple[object, Any]] = {}

    def shown(self, intent_id: str) -> Intent:
        sent = self.intent(intent_id)
        return intent_of({**sent, "latest_charge": self.charges.get(sent["latest_charge"])})

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """A refusal of Stripe's is an error of the port."""
        try:
            yield
        except Refusal as refusal:
            code, message = refusal.error.get("code", ""), str(refusal)
            if code == "payment_intent_unexpected_state":
                raise InvalidState(message, self.shown(refusal.error["payment_intent"]["id"])) from refusal
            if code in OF_READERS:
                raise OF_READERS[code]() from refusal
            if code == "resource_missing" and refusal.error["param"] == "reader":
                raise ReaderNotFound from refusal
            if code == "resource_missing":
                raise IntentNotFound(message) from refusal
            raise Rejected(message, code) from refusal


class Accounts(dict[str, Account]):
    """Accounts that are there as soon as they are asked for."""

    def __init__(self, seconds: Callable[[], int]) -> None:
        super().__init__()
        self._seconds = seconds

    def __missing__(self, account_id: str) -> Account:
        self[account_id] = Account(account_id or None, self._seconds)
        return self[account_id]


class FakeProcessor:
    """Safe to share between threads. `calls` lists every call in order; `before_call` runs at the beginning of each,
    outside of the lock, for tests that do something in between."""

    def __init__(self, clock: Clock, name: str = "fake") -> None:
        self.name, self.live, self.publishable_key = name, False, "pk_fake"
        self.accounts = Accounts(lambda: int(clock.now().timestamp()))
        self.calls: list[Call] = []
        self.before_call: Callable[[Call], None] = lambda _call: None
        self.fault_of: Callable[[Call], Fault | None] = self._next_fault
        self._faults: defaultdict[str, deque[Fault | None]] = defaultdict(deque)
        self._lock = threading.RLock()
        self._clock = clock

    # What tests do to it.

    def fail(self, operation: str, *faults: Fault | None) -> None:
        """The next calls of an operation, such as "create_intent", meet these; None for none."""
        self._faults[operation].extend(faults)

    def answers_refunds(self, status: RefundStatus) -> None:
        """What becomes of refunds from now on."""
        for account_id in ("", *self.accounts):
            self.accounts[account_id].refund_status = status.value

    def tap(self, intent_id: str, card: str = "4242", account_id: str = "") -> Intent:
        """A card is held to the reader. `card`: last four digits that succeed, or a name of Stripe's CARDS."""
        account = self.accounts[account_id]
        with self._lock, account.refusing():
            account.tap(intent_id, BY_DIGITS.get(card, card))
            return account.shown(intent_id)

    def add_reader(self, location: str, account_id: str = "", **more: Any) -> str:
        """A smart reader that the owner registered at a location: its id."""
        return self.accounts[account_id].add_reader(location, **more)

    def present(self, reader_id: str, card: str = "4242", account_id: str = "") -> None:
        """A card is held to a smart reader."""
        with self._lock:
            self.accounts[account_id].present(reader_id, BY_DIGITS.get(card, card))

    def finish(self, intent_id: str, account_id: str = "") -> Intent:
        """What was being processed is paid."""
        with self._lock:
            self.accounts[account_id].finish(intent_id)
            return self.intent(intent_id, account_id)

    def intent(self, intent_id: str, account_id: str = "") -> Intent:
        with self.accounts[account_id].refusing():
            return self.accounts[account_id].shown(intent_id)

    def intents(self, account_id: str = "") -> list[Intent]:
        return [self.intent(number, account_id) for number in list(self.accounts[account_id].intents)]

    def refunds(self, account_id: str = "") -> list[Refund]:
        return [refund_of(refund) for refund in self.accounts[account_id].refunds.values()]

    def ledger(self, account_id: str = "") -> dict[str, int]:
        """Money that is with the shop, by transaction: received less refunded. Each transaction is charged once."""
        paid = [intent for intent in self.intents(account_id) if intent.status is IntentStatus.SUCCEEDED]
        names = [intent.metadata.get("transactionId", intent.id) for intent in paid]
        assert len(names) == len(set(names)), "a transaction was charged twice"
        return {name: intent.amount_received - intent.refunded for name, intent in zip(names, paid, strict=True)}

    def made(self, operation: str) -> int:
        """How many calls of an operation there were."""
        return sum(call.operation == operation for call in self.calls)

    def forget_keys(self) -> None:
        """A day passed."""
        for account in self.accounts.values():
            account.answers.clear()

    def event(
        self,
        kind: str,
        intent_id: str,
        account_id: str = "",
        event_id: str | None = None,
        secret: bytes = SECRET,
        refund_id: str | None = None,
    ) -> tuple[bytes, dict[str, str]]:
        """A signed event about an intent as it is now, perhaps about a refund of it: body and headers."""
        body = {
            "id": event_id or f"evt_{next(_numbers)}",
            "type": kind,
            "account": account_id,
            "live": self.live,
            "created": self._clock.now().isoformat(),
            "intent": intent_id,
            "refund": refund_id,
            "status": self.intent(intent_id, account_id).status.value,
        }
        raw = json.dumps(body).encode()
        return raw, {SIGNATURE: sign(secret, int(self._clock.now().timestamp()), raw)}

    # The port.

    def create_connection_token(self, ref: AccountRef, location_id: str) -> str:
        account = self.accounts[ref.account_id]
        return self._called("create_connection_token", ref, "", None, lambda: account.connection_token({})["secret"])

    def create_location(self, ref: AccountRef, display_name: str, address: Address) -> str:
        sent = {"display_name": display_name, "address": asdict(address)}
        account = self.accounts[ref.account_id]
        return self._called("create_location", ref, "", None, lambda: account.create_location(sent)["id"])

    def create_intent(self, ref: AccountRef, request: IntentRequest, key: str) -> Intent:
        sent = {"amount": request.amount, "currency": request.currency, "description": request.description}
        sent["metadata"] = dict(request.metadata)

        def made() -> Intent:
            return self.intent(self.accounts[ref.account_id].create_intent(sent)["id"], ref.account_id)

        return self._called("create_intent", ref, key, sent, made)

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent:
        return self._called("retrieve_intent", ref, "", None, lambda: self.intent(intent_id, ref.account_id))

    def capture_intent(self, ref: AccountRef, intent_id: str, key: str) -> Intent:
        def captured() -> Intent:
            self.accounts[ref.account_id].capture(intent_id, {})
            return self.intent(intent_id, ref.account_id)

        return self._called("capture_intent", ref, key, intent_id, captured)

    def cancel_intent(self, ref: AccountRef, intent_id: str, reason: str | None, key: str) -> Intent:
        def cancelled() -> Intent:
            self.accounts[ref.account_id].cancel(intent_id, {"cancellation_reason": reason})
            return self.intent(intent_id, ref.account_id)

        return self._called("cancel_intent", ref, key, (intent_id, reason), cancelled)

    def list_intents(self, ref: AccountRef, created_from: datetime, created_to: datetime) -> Iterator[Intent]:
        def listed() -> list[Intent]:
            return [one for one in self.intents(ref.account_id) if created_from <= one.created < created_to]

        yield from self._called("list_intents", ref, "", None, listed)

    def refund(
        self, ref: AccountRef, intent_id: str, amount: int | None, key: str, metadata: Mapping[str, str] = NOTHING
    ) -> Refund:
        sent = {"payment_intent": intent_id, "metadata": dict(metadata)}
        if amount is not None:
            sent["amount"] = amount
        account = self.accounts[ref.account_id]
        return self._called("refund", ref, key, sent, lambda: refund_of(account.create_refund(sent)))

    def retrieve_refund(self, ref: AccountRef, refund_id: str) -> Refund:
        def found() -> Refund:
            return refund_of(self.accounts[ref.account_id].retrieve_refund(refund_id, {}))

        return self._called("retrieve_refund", ref, "", None, found)

    def list_readers(self, ref: AccountRef, location_id: str) -> list[Reader]:
        def listed() -> list[Reader]:
            self.accounts[ref.account_id].locations.setdefault(location_id, {"id": location_id})
            sent = self.accounts[ref.account_id].list_readers({"location": location_id, "limit": "100"})
            return [reader for one in sent["data"] if (reader := smart_reader_of(one))]

        return self._called("list_readers", ref, "", None, listed)

    def retrieve_reader(self, ref: AccountRef, reader_id: str) -> Reader:
        account = self.accounts[ref.account_id]
        return self._called("retrieve_reader", ref, "", None, lambda: reader_of(account.retrieve_reader(reader_id, {})))

    def process_intent(self, ref: AccountRef, reader_id: str, intent_id: str, key: str) -> Reader:
        account = self.accounts[ref.account_id]

        def taken() -> Reader:
            if account.intent(intent_id, "payment_intent")["status"] != IntentStatus.REQUIRES_PAYMENT_METHOD:
                raise InvalidState("The payment waits for no card.", account.shown(intent_id))
            return reader_of(account.process_intent(reader_id, {"payment_intent": intent_id}))

        return self._called("process_intent", ref, key, (reader_id, intent_id), taken)

    def cancel_reader_action(self, ref: AccountRef, reader_id: str) -> Reader:
        account = self.accounts[ref.account_id]
        return self._called(
            "cancel_reader_action", ref, "", None, lambda: reader_of(account.cancel_action(reader_id, {}))
        )

    def finish_refund(self, refund_id: str, account_id: str = "") -> Refund:
        """One that waited is made."""
        with self._lock:
            refund = self.accounts[account_id].refunds[refund_id]
            refund["status"] = RefundStatus.SUCCEEDED.value
            return refund_of(refund)

    def fail_refund(self, refund_id: str, account_id: str = "") -> Refund:
        """The bank of the card sends it back, days later."""
        with self._lock:
            account = self.accounts[account_id]
            account.fail_refund(account.refunds[refund_id])
            return refund_of(account.refunds[refund_id])

    def parse_event(self, raw: bytes, headers: Mapping[str, str], now: datetime) -> ProcessorEvent:
        verify(SECRET, headers.get(SIGNATURE, ""), raw, now)
        body = json.loads(raw)
        intent = replace(self.intent(body["intent"], body["account"]), status=IntentStatus(body["status"]))
        refund = self.accounts[body["account"]].refunds.get(body["refund"] or "")
        return ProcessorEvent(
            body["id"], body["type"], body["account"], body["live"], datetime.fromisoformat(body["created"]),
            intent_id=intent.id, intent=intent, refund=refund_of(refund) if refund else None,
        )  # fmt: skip

    def _called(self, operation: str, ref: AccountRef, key: str, request: object, effect: Callable[[], Any]) -> Any:
        call = Call(operation, ref.account_id, key)
        self.before_call(call)
        with self._lock:
            self.calls.append(call)
            fault = self.fault_of(call)
            if fault is not None and not fault.after:
                return self._refused(ref, key, request, fault)
            done = self._once(ref, key, request, effect)
            return done if fault is None else self._refused(ref, key, request, fault)

    def _refused(self, ref: AccountRef, key: str, request: object, fault: Fault) -> None:
        injected()
        error = fault.error()
        if key and fault.stored:
            self.accounts[ref.account_id].answers[key] = request, error
        raise error

    def _once(self, ref: AccountRef, key: str, request: object, effect: Callable[[], Any]) -> Any:
        answers = self.accounts[ref.account_id].answers
        if key not in answers:
            with self.accounts[ref.account_id].refusing():
                done = effect()  # What is refused by its state is not kept.
            if key:
                answers[key] = request, done
            return done
        before, done = answers[key]
        if before != request:
            raise KeyReused
        if isinstance(done, Exception):
            raise done
        return done

    def _next_fault(self, call: Call) -> Fault | None:
        waiting = self._faults[call.operation]
        return waiting.popleft() if waiting else None

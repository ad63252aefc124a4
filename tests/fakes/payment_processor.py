"""A payment processor in memory: a ledger and a table of idempotency keys for each account, and faults on demand."""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Any

from app.adapters.webhook import sign, verify
from app.domain.pos.processor import (
    NOTHING,
    AccountRef,
    Address,
    Busy,
    CardDetails,
    Declined,
    Intent,
    IntentNotFound,
    IntentRequest,
    IntentStatus,
    InvalidState,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    PaymentError,
    ProcessorError,
    ProcessorEvent,
    Refund,
    RefundStatus,
    Rejected,
)
from app.domain.shared.clock import Clock
from tests.injected_faults import injected

SECRET = b"the secret of the fake processor's webhooks"
SIGNATURE = "Fake-Signature"
MINIMUM = 30  # Minor units, as of gbp.
BRANDS = {"4242": "visa", "4444": "mastercard", "0005": "amex"}
DECLINES = {"declined": "generic_decline", "insufficient": "insufficient_funds", "stolen": "stolen_card"}
WAITS_FOR_CARD = (IntentStatus.REQUIRES_PAYMENT_METHOD, IntentStatus.REQUIRES_CONFIRMATION)
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
FAULTS = (
    TIMEOUT_BEFORE, TIMEOUT_AFTER, ERROR_500_BEFORE, ERROR_500_AFTER, CONFLICT_409, RATE_LIMITED_429, MISCONFIGURED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    operation: str
    account_id: str
    key: str = ""


@dataclass
class Account:
    """`answers` by idempotency key: the request, and what it gave or raised."""

    intents: dict[str, Intent] = field(default_factory=dict)
    refunds: dict[str, Refund] = field(default_factory=dict)
    locations: dict[str, Address] = field(default_factory=dict)
    answers: dict[str, tuple[object, Any]] = field(default_factory=dict)


class FakeProcessor:
    """Safe to share between threads. `calls` lists every call in order; `before_call` runs at the beginning of each,
    outside of the lock, for tests that do something in between."""

    def __init__(self, clock: Clock, name: str = "fake") -> None:
        self.name, self.live, self.publishable_key = name, False, "pk_fake"
        self.accounts: defaultdict[str, Account] = defaultdict(Account)
        self.calls: list[Call] = []
        self.before_call: Callable[[Call], None] = lambda _call: None
        self.fault_of: Callable[[Call], Fault | None] = self._next_fault
        self._refund_status = RefundStatus.SUCCEEDED
        self._faults: defaultdict[str, deque[Fault | None]] = defaultdict(deque)
        self._lock = threading.RLock()
        self._clock = clock

    # What tests do to it.

    def fail(self, operation: str, *faults: Fault | None) -> None:
        """The next calls of an operation, such as "create_intent", meet these; None for none."""
        self._faults[operation].extend(faults)

    def answers_refunds(self, status: RefundStatus) -> None:
        """What becomes of refunds from now on."""
        self._refund_status = status

    def tap(self, intent_id: str, card: str = "4242", account_id: str = "") -> Intent:
        """A card is held to the reader. `card`: last four digits that succeed, a name of DECLINES, "stuck_capture",
        which stays to be captured, or "slow", which is processed until `finish`."""
        with self._lock:
            intent = self._intent(account_id, intent_id)
            if intent.status not in WAITS_FOR_CARD:
                raise InvalidState("This payment takes no card any more.", intent)
            charge = {"charge_id": f"ch_{next(_numbers)}"}
            if card in DECLINES:
                return self._put(account_id, intent, last_error=PaymentError("card_declined", DECLINES[card]), **charge)
            details = CardDetails(BRANDS.get(card, "visa"), card[-4:] if card.isdigit() else "4242", "credit",
                                  "contactless_emv", "", {"authorizationCode": "123456"})  # fmt: skip
            intent = self._put(account_id, intent, card=details, last_error=None, **charge)
            if card == "stuck_capture":
                return self._put(account_id, intent, status=IntentStatus.REQUIRES_CAPTURE)
            if card == "slow":
                return self._put(account_id, intent, status=IntentStatus.PROCESSING)
            return self._pay(account_id, intent)

    def finish(self, intent_id: str, account_id: str = "") -> Intent:
        """What was being processed is paid."""
        with self._lock:
            return self._pay(account_id, self._intent(account_id, intent_id))

    def intents(self, account_id: str = "") -> list[Intent]:
        return list(self.accounts[account_id].intents.values())

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
            "status": self._intent(account_id, intent_id).status.value,
        }
        raw = json.dumps(body).encode()
        return raw, {SIGNATURE: sign(secret, int(self._clock.now().timestamp()), raw)}

    # The port.

    def create_connection_token(self, ref: AccountRef, location_id: str) -> str:
        return self._called("create_connection_token", ref, "", None, lambda: f"pst_{next(_numbers)}")

    def create_location(self, ref: AccountRef, display_name: str, address: Address) -> str:
        def made() -> str:
            location_id = f"tml_{next(_numbers)}"
            self.accounts[ref.account_id].locations[location_id] = address
            return location_id

        return self._called("create_location", ref, "", None, made)

    def create_intent(self, ref: AccountRef, request: IntentRequest, key: str) -> Intent:
        def made() -> Intent:
            if request.amount < MINIMUM:
                raise Rejected("The amount is too small.", "amount_too_small")
            number = next(_numbers)
            intent = Intent(
                f"pi_fake_{number}", request.amount, request.currency, IntentStatus.REQUIRES_PAYMENT_METHOD,
                self._clock.now(), client_secret=f"pi_fake_{number}_secret_{number}", metadata=dict(request.metadata),
            )  # fmt: skip
            return self._put(ref.account_id, intent)

        asked = (request.amount, request.currency, request.description, dict(request.metadata))
        return self._called("create_intent", ref, key, asked, made)

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent:
        return self._called("retrieve_intent", ref, "", None, lambda: self._intent(ref.account_id, intent_id))

    def capture_intent(self, ref: AccountRef, intent_id: str, key: str) -> Intent:
        def captured() -> Intent:
            intent = self._intent(ref.account_id, intent_id)
            if intent.status is not IntentStatus.REQUIRES_CAPTURE:
                raise InvalidState("This payment cannot be captured.", intent)
            return self._pay(ref.account_id, intent)

        return self._called("capture_intent", ref, key, intent_id, captured)

    def cancel_intent(self, ref: AccountRef, intent_id: str, reason: str | None, key: str) -> Intent:
        def cancelled() -> Intent:
            intent = self._intent(ref.account_id, intent_id)
            if intent.status in (IntentStatus.SUCCEEDED, IntentStatus.CANCELED, IntentStatus.PROCESSING):
                raise InvalidState("This payment cannot be cancelled.", intent)
            return self._put(ref.account_id, intent, status=IntentStatus.CANCELED)

        return self._called("cancel_intent", ref, key, (intent_id, reason), cancelled)

    def list_intents(self, ref: AccountRef, created_from: datetime, created_to: datetime) -> Iterator[Intent]:
        def listed() -> list[Intent]:
            return [one for one in self.intents(ref.account_id) if created_from <= one.created < created_to]

        yield from self._called("list_intents", ref, "", None, listed)

    def refund(
        self, ref: AccountRef, intent_id: str, amount: int | None, key: str, metadata: Mapping[str, str] = NOTHING
    ) -> Refund:
        def given_back() -> Refund:
            intent = self._intent(ref.account_id, intent_id)
            left = intent.amount_received - intent.refunded
            given = left if amount is None else amount
            if intent.status is not IntentStatus.SUCCEEDED or not 0 < given <= left:
                raise Rejected("There is not so much to give back.", "charge_already_refunded")
            refund = Refund(f"re_{next(_numbers)}", intent_id, given, self._refund_status, dict(metadata))
            self.accounts[ref.account_id].refunds[refund.id] = refund
            if refund.status in (RefundStatus.PENDING, RefundStatus.SUCCEEDED):
                self._put(ref.account_id, intent, refunded=intent.refunded + given)
            return refund

        return self._called("refund", ref, key, (intent_id, amount, dict(metadata)), given_back)

    def retrieve_refund(self, ref: AccountRef, refund_id: str) -> Refund:
        def found() -> Refund:
            known = self.accounts[ref.account_id].refunds.get(refund_id)
            if known is None:
                raise IntentNotFound("There is no such refund.")
            return known

        return self._called("retrieve_refund", ref, "", None, found)

    def fail_refund(self, refund_id: str, account_id: str = "") -> Refund:
        """The bank of the card sends it back, days later."""
        with self._lock:
            account = self.accounts[account_id]
            refund = replace(account.refunds[refund_id], status=RefundStatus.FAILED)
            account.refunds[refund_id] = refund
            intent = self._intent(account_id, refund.intent_id)
            self._put(account_id, intent, refunded=intent.refunded - refund.amount)
            return refund

    def parse_event(self, raw: bytes, headers: Mapping[str, str], now: datetime) -> ProcessorEvent:
        verify(SECRET, headers.get(SIGNATURE, ""), raw, now)
        body = json.loads(raw)
        intent = replace(self._intent(body["account"], body["intent"]), status=IntentStatus(body["status"]))
        return ProcessorEvent(
            body["id"], body["type"], body["account"], body["live"], datetime.fromisoformat(body["created"]),
            intent_id=intent.id, intent=intent,
            refund=self.accounts[body["account"]].refunds.get(body["refund"] or ""),
        )  # fmt: skip

    def _called(self, operation: str, ref: AccountRef, key: str, asked: object, effect: Callable[[], Any]) -> Any:
        call = Call(operation, ref.account_id, key)
        self.before_call(call)
        with self._lock:
            self.calls.append(call)
            fault = self.fault_of(call)
            if fault is not None and not fault.after:
                return self._refused(ref, key, asked, fault)
            done = self._once(ref, key, asked, effect)
            return done if fault is None else self._refused(ref, key, asked, fault)

    def _refused(self, ref: AccountRef, key: str, asked: object, fault: Fault) -> None:
        injected()
        error = fault.error()
        if key and fault.stored:
            self.accounts[ref.account_id].answers[key] = asked, error
        raise error

    def _once(self, ref: AccountRef, key: str, asked: object, effect: Callable[[], Any]) -> Any:
        answers = self.accounts[ref.account_id].answers
        if key not in answers:
            done = effect()  # What is refused by its state is not kept.
            if key:
                answers[key] = asked, done
            return done
        before, done = answers[key]
        if before != asked:
            raise KeyReused
        if isinstance(done, Exception):
            raise done
        return done

    def _next_fault(self, call: Call) -> Fault | None:
        waiting = self._faults[call.operation]
        return waiting.popleft() if waiting else None

    def _intent(self, account_id: str, intent_id: str) -> Intent:
        found = self.accounts[account_id].intents.get(intent_id)
        if found is None:
            raise IntentNotFound("The account has no such payment.")
        return found

    def _pay(self, account_id: str, intent: Intent) -> Intent:
        return self._put(account_id, intent, status=IntentStatus.SUCCEEDED, amount_received=intent.amount)

    def _put(self, account_id: str, intent: Intent, **changes: Any) -> Intent:
        changed = replace(intent, **changes)
        self.accounts[account_id].intents[intent.id] = changed
        return changed

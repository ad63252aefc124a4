"""The payment simulator: the processor that serves without another company, and the card reader before it. A call that
is repeated with its idempotency key is not done again and gets the same answer, for a day."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, tuple_
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.adapters.simulator.models import (
    SimulatorEvent,
    SimulatorIntent,
    SimulatorKey,
    SimulatorLocation,
    SimulatorRefund,
    reading,
    writing,
)
from app.adapters.simulator.payments import (
    cancel,
    capture,
    intent_at,
    intent_json,
    new_id,
    new_intent,
    new_refund,
    present_card,
    refund_at,
    refund_json,
    store_creation_event,
    store_refund_events,
    store_status_events,
)
from app.adapters.stripe_objects import event_of, intent_of, refund_of
from app.adapters.webhook import sign, verify
from app.domain.pos.models import PosLocation
from app.domain.pos.processor import (
    NOTHING,
    AccountRef,
    Address,
    Busy,
    Intent,
    IntentNotFound,
    IntentRequest,
    InvalidState,
    KeyReused,
    Misconfigured,
    OutcomeUnknown,
    ProcessorEvent,
    Reader,
    ReaderNotFound,
    Refund,
    Rejected,
)
from app.domain.pos.simulator import Answer, SentEvent, Tap, WrongClientSecret
from app.domain.shared.clock import Clock

PAGE = 100
KEPT = timedelta(hours=24)
SIGNATURE_HEADER = "Stripe-Signature"
MOST_AT_ONCE = 200  # Events.
SENT_FOR = timedelta(days=3)
FIRST_PAUSE = timedelta(seconds=5)  # After a failure; it doubles with each further one.
MOST_DOUBLINGS = 10
REFUSED, WORDS = "refused", "words"
Reply = dict[str, Any]


class Simulator:
    """The implementation of PaymentSimulator (app/domain/pos/simulator.py). `secret` signs events and makes client
    secrets; `wake` enqueues the job that delivers events. It has no smart readers: its cards are held to the till."""

    name = "simulator"
    live = False
    publishable_key: str | None = None

    def __init__(self, clock: Clock, secret: bytes, wake: Callable[[], object] = lambda: None) -> None:
        self._clock, self._secret, self._wake = clock, secret, wake

    def create_connection_token(self, ref: AccountRef, location_id: str) -> str:
        with reading() as session:
            if not _has_location(session, ref, location_id):
                raise Misconfigured("The account has no such location.")
        return new_id("pst")

    def create_location(self, ref: AccountRef, display_name: str, address: Address) -> str:
        if not address.country:
            raise Rejected("A location needs a country.", "parameter_missing")
        location = SimulatorLocation(id=new_id("tml"), account_id=ref.account_id, display_name=display_name)
        location.address, location.created_at = asdict(address), self._clock.now()
        with writing() as session:
            session.add(location)
        return location.id

    def create_intent(self, ref: AccountRef, request: IntentRequest, key: str) -> Intent:
        now = self._clock.now()

        def act(session: Session) -> dict[str, Any]:
            row = new_intent(ref, request, now)
            session.add(row)
            store_creation_event(session, row, now)
            return intent_json(intent_at(row, now))

        parameters = ("create", request.amount, request.currency, request.description, dict(request.metadata))
        answer = _answer_once(ref, key, parameters, now, act)
        self._wake()
        return self._with_secret(intent_of(answer))

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent:
        with reading() as session:
            return self._view(_intent_row(session, ref, intent_id))

    def capture_intent(self, ref: AccountRef, intent_id: str, key: str) -> Intent:
        return self._change(ref, intent_id, key, ("capture", intent_id), capture)

    def cancel_intent(self, ref: AccountRef, intent_id: str, reason: str | None, key: str) -> Intent:
        return self._change(ref, intent_id, key, ("cancel", intent_id, reason), cancel)

    def list_intents(self, ref: AccountRef, created_from: datetime, created_to: datetime) -> Iterator[Intent]:
        """Yield the intents created from one moment on and before another, the newest first."""
        position = (SimulatorIntent.created_at, SimulatorIntent.id)
        window = (SimulatorIntent.created_at >= created_from, SimulatorIntent.created_at < created_to)
        query = select(SimulatorIntent).where(SimulatorIntent.account_id == ref.account_id, *window)
        query = query.order_by(*(column.desc() for column in position)).limit(PAGE)
        rows: list[SimulatorIntent] | None = None
        while rows is None or len(rows) == PAGE:
            further = query if not rows else query.where(tuple_(*position) < (rows[-1].created_at, rows[-1].id))
            with reading() as session:
                rows = list(session.scalars(further))
            yield from map(self._view, rows)

    def refund(
        self, ref: AccountRef, intent_id: str, amount: int | None, key: str, metadata: Mapping[str, str] = NOTHING
    ) -> Refund:
        now = self._clock.now()

        def act(session: Session) -> dict[str, Any]:
            row = _intent_row(session, ref, intent_id, to_change=True)
            refund = new_refund(row, amount, now)
            refund.labels = dict(metadata)
            session.add(refund)
            row.refunds.append(refund)
            store_refund_events(session, row, refund, now)
            return refund_json(refund_at(refund, now))

        answer = _answer_once(ref, key, ("refund", intent_id, amount, dict(metadata)), now, act)
        self._wake()
        return refund_of(answer)

    def retrieve_refund(self, ref: AccountRef, refund_id: str) -> Refund:
        with reading() as session:
            row = session.get(SimulatorRefund, refund_id)
        if row is None or row.account_id != ref.account_id:
            raise Rejected("The account has no such refund.", "resource_missing")
        return refund_at(row, self._clock.now())

    def list_readers(self, ref: AccountRef, location_id: str) -> list[Reader]:
        return []

    def retrieve_reader(self, ref: AccountRef, reader_id: str) -> Reader:
        raise ReaderNotFound

    def process_intent(self, ref: AccountRef, reader_id: str, intent_id: str, key: str) -> Reader:
        raise ReaderNotFound

    def cancel_reader_action(self, ref: AccountRef, reader_id: str) -> Reader:
        raise ReaderNotFound

    def parse_event(self, raw: bytes, headers: Mapping[str, str], now: datetime) -> ProcessorEvent:
        sent = {name.lower(): value for name, value in headers.items()}
        verify(self._secret, sent.get(SIGNATURE_HEADER.lower(), ""), raw, now)
        return event_of(raw)

    def present(self, ref: AccountRef, intent_id: str, client_secret: str, tap: Tap) -> Intent:
        now = self._clock.now()
        with writing() as session:
            row = _intent_row(session, ref, intent_id, to_change=True)
            if not hmac.compare_digest(self._client_secret(intent_id).encode(), client_secret.encode(errors="replace")):
                raise WrongClientSecret("This client secret is not that of the payment.")
            is_repeated = not present_card(row, tap, now)
            if not is_repeated:
                store_status_events(session, row, now, tap.card.delivery)
            intent = self._view(row)
        self._wake()
        if tap.card.answer is Answer.IS_LOST and not is_repeated:
            raise OutcomeUnknown("The card reader had no answer in time.")
        return intent

    def due_events(self, waited: timedelta) -> list[SentEvent]:
        now = self._clock.now()
        query = select(SimulatorEvent.id, SimulatorEvent.body).where(SimulatorEvent.due_at <= now - waited)
        with reading() as session:
            rows = session.execute(query.order_by(SimulatorEvent.due_at, SimulatorEvent.id).limit(MOST_AT_ONCE)).all()
        events = ((number, body.encode()) for number, body in rows)
        seconds = int(now.timestamp())
        return [SentEvent(number, raw, {SIGNATURE_HEADER: sign(self._secret, seconds, raw)}) for number, raw in events]

    def note_delivered(self, number: int) -> None:
        with writing() as session:
            session.execute(delete(SimulatorEvent).where(SimulatorEvent.id == number))

    def note_failed(self, number: int) -> None:
        now = self._clock.now()
        with writing() as session:
            event = session.get(SimulatorEvent, number, with_for_update=True)
            if event is None:
                return
            if now - event.created_at > SENT_FOR:
                session.delete(event)
            event.due_at = now + FIRST_PAUSE * 2 ** min(event.attempts, MOST_DOUBLINGS)
            event.attempts += 1

    def _change(
        self,
        ref: AccountRef,
        intent_id: str,
        key: str,
        request: tuple[object, ...],
        change: Callable[[SimulatorIntent, datetime], None],
    ) -> Intent:
        now = self._clock.now()

        def act(session: Session) -> dict[str, Any]:
            row = _intent_row(session, ref, intent_id, to_change=True)
            change(row, now)
            store_status_events(session, row, now)
            return intent_json(intent_at(row, now))

        try:
            answer = _answer_once(ref, key, request, now, act)
        except InvalidState as refusal:  # One that is replayed for its key shows the payment as it was.
            raise InvalidState(refusal.message, self.retrieve_intent(ref, intent_id)) from refusal
        self._wake()
        return self._with_secret(intent_of(answer))

    def _view(self, row: SimulatorIntent) -> Intent:
        return self._with_secret(intent_at(row, self._clock.now()))

    def _with_secret(self, intent: Intent) -> Intent:
        return replace(intent, client_secret=self._client_secret(intent.id))

    def _client_secret(self, intent_id: str) -> str:
        """Return the client secret, derived, so that it is stored nowhere."""
        return f"{intent_id}_secret_{hmac.digest(self._secret, intent_id.encode(), 'sha256').hex()[:32]}"


def _intent_row(session: Session, ref: AccountRef, intent_id: str, to_change: bool = False) -> SimulatorIntent:
    """Return the row of an intent, locked with `to_change`, so that concurrent changes wait for each other. Raises
    IntentNotFound."""
    query = select(SimulatorIntent).where(SimulatorIntent.id == intent_id, SimulatorIntent.account_id == ref.account_id)
    row = session.scalar(query.with_for_update() if to_change else query)
    if row is None:
        raise IntentNotFound("The account has no such payment.")
    return row


def _has_location(session: Session, ref: AccountRef, location_id: str) -> bool:
    """Whether there is such a location. One of an imported bundle was not made here: that the shop has it is enough."""
    made = session.get(SimulatorLocation, location_id)
    if made is not None:
        return made.account_id == ref.account_id
    return session.scalar(select(PosLocation.id).where(PosLocation.location_id == location_id).limit(1)) is not None


def _answer_once(
    ref: AccountRef, key: str, request: tuple[object, ...], now: datetime, act: Callable[[Session], Reply]
) -> Reply:
    """Return the stored answer to a request with this key; without one do `act` and store its answer, or the
    InvalidState that it raised. Other errors of `act` are not stored. Raises what `act` raises, KeyReused when the key
    was used for another request, and Busy while one with the same key goes on."""
    request_hash = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
    with reading() as session:
        answer = _stored_answer(session, ref, key, request_hash, now)
    if answer is None:
        try:
            with writing() as session:
                answer = _stored_answer(session, ref, key, request_hash, now)
                if answer is None:
                    answer = _act(session, act, now)
                    kept = SimulatorKey(account_id=ref.account_id, key=key, request_hash=request_hash, answer=answer)
                    kept.expires_at = now + KEPT
                    session.add(kept)
        except IntegrityError as error:  # Another one with this key committed first.
            raise Busy("A request with this key is under way.") from error
    if REFUSED in answer:
        raise InvalidState(answer[WORDS], intent_of(answer[REFUSED]))
    return answer


def _stored_answer(session: Session, ref: AccountRef, key: str, request_hash: str, now: datetime) -> Reply | None:
    row = session.get(SimulatorKey, (ref.account_id, key))
    if row is None or row.expires_at <= now:
        return None
    if row.request_hash != request_hash:
        raise KeyReused
    return row.answer


def _act(session: Session, act: Callable[[Session], Reply], now: datetime) -> Reply:
    """Carry out a request, after expired keys were removed; return its answer, or its refusal as one."""
    session.execute(delete(SimulatorKey).where(SimulatorKey.expires_at <= now))
    try:
        return act(session)
    except InvalidState as refusal:
        return {REFUSED: intent_json(refusal.intent), WORDS: refusal.message}

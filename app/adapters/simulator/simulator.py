"""The payment simulator: the processor that serves without another company, and the card reader before it."""

from __future__ import annotations

import hmac
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from app.adapters.simulator import news, reader
from app.adapters.simulator.keys import once
from app.adapters.simulator.models import SimulatorIntent, SimulatorLocation, SimulatorRefund
from app.adapters.simulator.storage import reading, writing
from app.adapters.simulator.views import intent_at, refund_at, refunded_at, status_at
from app.adapters.simulator.wire import event_of, intent_json, intent_of, refund_json, refund_of
from app.adapters.webhook_signatures import verify
from app.domain.pos.models import PosLocation
from app.domain.pos.processor import (
    NOTHING,
    AccountRef,
    Address,
    Intent,
    IntentNotFound,
    IntentRequest,
    IntentStatus,
    InvalidState,
    Misconfigured,
    OutcomeUnknown,
    ProcessorEvent,
    Refund,
    Rejected,
)
from app.domain.pos.simulator import CARDS, Answer, SentEvent, Tap, WrongClientSecret
from app.domain.shared.clock import Clock

SMALLEST = {"gbp": 30, "eur": 50, "usd": 50}
LARGEST = 99_999_999
REFUND_FAILS_AFTER = timedelta(seconds=5)
PAGE = 100


class Simulator:
    """The implementation of PaymentSimulator (app/domain/pos/simulator.py). `secret` signs events and makes client
    secrets; `wake` enqueues the job that delivers events."""

    name = "simulator"
    live = False
    publishable_key: str | None = None

    def __init__(self, clock: Clock, secret: bytes, wake: Callable[[], object] = lambda: None) -> None:
        self._clock, self._secret, self._wake = clock, secret, wake

    def create_connection_token(self, ref: AccountRef, location_id: str) -> str:
        with reading() as session:
            if not _has_location(session, ref, location_id):
                raise Misconfigured("The account has no such location.")
        return _new_id("pst")

    def create_location(self, ref: AccountRef, display_name: str, address: Address) -> str:
        if not address.country:
            raise Rejected("A location needs a country.", "parameter_missing")
        location = SimulatorLocation(id=_new_id("tml"), account_id=ref.account_id, display_name=display_name)
        location.address, location.created_at = asdict(address), self._clock.now()
        with writing() as session:
            session.add(location)
        return location.id

    def create_intent(self, ref: AccountRef, request: IntentRequest, key: str) -> Intent:
        now = self._clock.now()

        def act(session: Session) -> dict[str, Any]:
            _check_amount(request)
            row = _new_intent(ref, request, now)
            session.add(row)
            news.note_creation(session, row, now)
            return intent_json(intent_at(row, now))

        parameters = ("create", request.amount, request.currency, request.description, dict(request.metadata))
        answer = once(ref, key, parameters, now, act)
        self._wake()
        return self._with_secret(intent_of(answer))

    def retrieve_intent(self, ref: AccountRef, intent_id: str) -> Intent:
        with reading() as session:
            return self._view(_intent(session, ref, intent_id))

    def capture_intent(self, ref: AccountRef, intent_id: str, key: str) -> Intent:
        return self._change(ref, intent_id, key, ("capture", intent_id), _capture)

    def cancel_intent(self, ref: AccountRef, intent_id: str, reason: str | None, key: str) -> Intent:
        return self._change(ref, intent_id, key, ("cancel", intent_id, reason), _cancel)

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
            row = _intent(session, ref, intent_id, to_change=True)
            refund = _new_refund(row, amount, now)
            refund.labels = dict(metadata)
            session.add(refund)
            row.refunds.append(refund)
            news.note_refund(session, row, refund, now)
            return refund_json(refund_at(refund, now))

        answer = once(ref, key, ("refund", intent_id, amount, dict(metadata)), now, act)
        self._wake()
        return refund_of(answer)

    def retrieve_refund(self, ref: AccountRef, refund_id: str) -> Refund:
        with reading() as session:
            row = session.get(SimulatorRefund, refund_id)
        if row is None or row.account_id != ref.account_id:
            raise Rejected("The account has no such refund.", "resource_missing")
        return refund_at(row, self._clock.now())

    def parse_event(self, raw: bytes, headers: Mapping[str, str], now: datetime) -> ProcessorEvent:
        sent = {name.lower(): value for name, value in headers.items()}
        verify(self._secret, sent.get(news.SIGNATURE_HEADER.lower(), ""), raw, now)
        return event_of(raw)

    def present(self, ref: AccountRef, intent_id: str, client_secret: str, tap: Tap) -> Intent:
        now = self._clock.now()
        with writing() as session:
            row = _intent(session, ref, intent_id, to_change=True)
            if not hmac.compare_digest(self._client_secret(intent_id).encode(), client_secret.encode(errors="replace")):
                raise WrongClientSecret("This client secret is not that of the payment.")
            is_repeated = not reader.present(session, row, tap, now)
            intent = self._view(row)
        self._wake()
        if tap.card.answer is Answer.IS_LOST and not is_repeated:
            raise OutcomeUnknown("The card reader had no answer in time.")
        return intent

    def due_events(self, waited: timedelta) -> list[SentEvent]:
        return news.due(self._clock.now(), waited, self._secret)

    def note_delivered(self, number: int) -> None:
        news.forget(number)

    def note_failed(self, number: int) -> None:
        news.postpone(number, self._clock.now())

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
            row = _intent(session, ref, intent_id, to_change=True)
            change(row, now)
            news.note_intent(session, row, now)
            return intent_json(intent_at(row, now))

        try:
            answer = once(ref, key, request, now, act)
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


def _new_id(prefix: str) -> str:
    return f"{prefix}_sim_{uuid.uuid4().hex[:24]}"


def _new_intent(ref: AccountRef, request: IntentRequest, now: datetime) -> SimulatorIntent:
    row = SimulatorIntent(id=_new_id("pi"), account_id=ref.account_id, refunds=[])
    row.amount, row.currency, row.description = request.amount, request.currency, request.description
    row.labels, row.status = dict(request.metadata), IntentStatus.REQUIRES_PAYMENT_METHOD.value
    row.created_at = now.replace(microsecond=0)
    return row


def _intent(session: Session, ref: AccountRef, intent_id: str, to_change: bool = False) -> SimulatorIntent:
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


def _check_amount(request: IntentRequest) -> None:
    if request.amount < SMALLEST.get(request.currency, 1):
        raise Rejected("The amount is below what can be charged.", "amount_too_small")
    if request.amount > LARGEST:
        raise Rejected("The amount is above what can be charged.", "amount_too_large")


def _capture(row: SimulatorIntent, now: datetime) -> None:
    if status_at(row, now) is not IntentStatus.REQUIRES_CAPTURE:
        raise InvalidState("Only an authorised payment can be captured.", intent_at(row, now))
    row.status = IntentStatus.SUCCEEDED.value


def _cancel(row: SimulatorIntent, now: datetime) -> None:
    if status_at(row, now) not in (IntentStatus.REQUIRES_PAYMENT_METHOD, IntentStatus.REQUIRES_CAPTURE):
        raise InvalidState("This payment can no longer be cancelled.", intent_at(row, now))
    row.status = IntentStatus.CANCELED.value


def _new_refund(row: SimulatorIntent, amount: int | None, now: datetime) -> SimulatorRefund:
    """Return a new refund of an amount, or of all that is left where none is named. Raises Rejected."""
    if status_at(row, now) is not IntentStatus.SUCCEEDED:
        raise Rejected("This payment took no money that could be given back.", "charge_not_refundable")
    left = row.amount - refunded_at(row, now)
    if left == 0:
        raise Rejected("This payment was refunded already.", "charge_already_refunded")
    if amount is not None and not 0 < amount <= left:
        raise Rejected("The refund is larger than what is left of the payment.", "amount_too_large")
    fails_at = now + REFUND_FAILS_AFTER if row.card and CARDS[row.card].refunds_fail else None
    refund = SimulatorRefund(id=_new_id("re"), account_id=row.account_id, intent_id=row.id)
    refund.amount, refund.fails_at, refund.created_at = amount or left, fails_at, now
    return refund

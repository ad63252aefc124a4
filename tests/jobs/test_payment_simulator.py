"""The simulator's events reach the shop, at least once, whatever dies or is down."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.adapters.simulator import Simulator
from app.domain.pos.models import PosTransaction, StoredProcessorEvent
from app.domain.pos.processor import AccountRef, IntentRequest, NoProcessor
from app.domain.pos.simulator import CARDS, Tap
from app.domain.sites.accounts import Role
from app.extensions import db
from app.jobs import payment_simulator
from app.jobs.scheduler import Scheduler
from app.ports import EXTENSION
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_site, make_transaction, make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue

pytestmark = pytest.mark.usefixtures("context")
ACCOUNT = AccountRef()


@pytest.fixture
def simulator(app: Flask, clock: StoppedClock, queue: RecordingQueue) -> Simulator:
    made = Simulator(clock, b"a secret of the simulator", lambda: queue.enqueue("payment_simulator:deliver"))
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], payment_processor=made)
    return made


@pytest.fixture
def payment(context: None, simulator: Simulator, clock: StoppedClock) -> str:
    """The id of a payment whose card was tapped, but which the shop has not looked at since."""
    transaction_id = str(uuid.uuid4())
    request = IntentRequest(1_250, "gbp", metadata={"transactionId": transaction_id})
    intent = simulator.create_intent(ACCOUNT, request, f"pos-create-{transaction_id}")
    with transaction():
        site = make_site()
        location = make_location(site)
        agent = make_agent(site, make_user(site, Role.POS_AGENT), location)
        fields = {"created_at": clock.now(), "processor": "simulator", "processor_intent_id": intent.id}
        make_transaction(agent, location, "PENDING", id=transaction_id, **fields)
    simulator.present(ACCOUNT, intent.id, intent.client_secret or "", Tap(CARDS["visa"]))
    return transaction_id


def status_of(transaction_id: str) -> str:
    db.session.rollback()
    return db.session.get_one(PosTransaction, transaction_id).status


def known_events() -> int:
    db.session.rollback()
    return db.session.scalar(select(func.count()).select_from(StoredProcessorEvent)) or 0


def test_a_worker_delivers_them(payment: str, queue: RecordingQueue) -> None:
    assert ("payment_simulator:deliver", ()) in queue.jobs
    payment_simulator.deliver()
    assert status_of(payment) == "SUCCEEDED"
    assert known_events() == 2
    payment_simulator.deliver()
    assert known_events() == 2


def test_the_scheduler_delivers_what_no_worker_did(payment: str, clock: StoppedClock) -> None:
    scheduler = Scheduler(lambda _name, _work: True)
    scheduler.look()
    assert status_of(payment) == "PENDING"
    clock.move(seconds=3)
    scheduler.look()
    assert status_of(payment) == "SUCCEEDED"


def test_an_event_that_comes_again_after_a_crash_does_no_harm(payment: str, simulator: Simulator) -> None:
    noted, simulator.note_delivered = simulator.note_delivered, lambda _number: None  # type: ignore[method-assign]
    payment_simulator.deliver()
    simulator.note_delivered = noted  # type: ignore[method-assign]
    payment_simulator.deliver()
    assert status_of(payment) == "SUCCEEDED"
    assert known_events() == 2


def test_events_signed_with_another_secret_are_not_believed_and_come_again(
    app: Flask, payment: str, clock: StoppedClock, simulator: Simulator
) -> None:
    stranger = Simulator(clock, b"another secret")
    simulator.due_events, due = stranger.due_events, simulator.due_events  # type: ignore[method-assign]
    payment_simulator.deliver()
    assert (status_of(payment), known_events()) == ("PENDING", 0)
    simulator.due_events = due  # type: ignore[method-assign]
    clock.move(seconds=5)
    payment_simulator.deliver()
    assert status_of(payment) == "SUCCEEDED"


def test_nothing_is_delivered_where_the_processor_is_another(app: Flask, payment: str) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], payment_processor=NoProcessor())
    payment_simulator.deliver()
    assert known_events() == 0

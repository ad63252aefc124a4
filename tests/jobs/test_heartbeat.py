"""The heartbeat of a machine, and the alerts that a release before machines left."""

from __future__ import annotations

import pytest
from sqlalchemy import delete

from app.domain.alerts.alerts import open_alerts, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.machines.machines import all_machines, is_recent
from app.domain.machines.models import Machine
from app.extensions import db
from app.jobs.heartbeat import Heartbeat
from app.ports import machine_id
from app.transaction import transaction
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")


def test_a_machine_is_seen_as_long_as_its_scheduler_looks(clock: StoppedClock) -> None:
    heartbeat = Heartbeat()
    for _ in range(100):
        heartbeat.look()
        clock.move(seconds=1)
    [machine] = all_machines()
    assert machine.id == machine_id() and is_recent(clock, machine.seen_at)
    assert (machine.seen_at - machine.started_at).seconds == 90
    clock.move(minutes=1)
    assert not is_recent(clock, machine.seen_at)


def test_one_that_was_forgotten_comes_back(clock: StoppedClock) -> None:
    heartbeat = Heartbeat()
    heartbeat.look()
    with transaction():
        db.session.execute(delete(Machine))
    clock.move(seconds=10)
    heartbeat.look()
    assert [machine.id for machine in all_machines()] == [machine_id()]


def test_alerts_of_a_release_before_machines_are_those_of_this_machine(clock: StoppedClock) -> None:
    with transaction():
        raise_alert(clock, Cause.DISK_FULL, "12 MB left")
        raise_alert(clock, Cause.QUEUE_GONE, "away")
        raise_alert(clock, Cause.QUEUE_GONE, "away", machine=machine_id())
        raise_alert(clock, Cause.CLOCK_MOVED, "by a day")
    Heartbeat().look()
    found = {(alert.cause, alert.machine) for alert in open_alerts(None)}
    assert found == {("disk_full", machine_id()), ("queue_gone", machine_id()), ("clock_moved", "")}

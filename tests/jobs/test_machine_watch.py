"""What a machine looks at: its disk, folders, storage, queue, workers and limits, each with an alert of its own."""

from __future__ import annotations

import dataclasses
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from app.config import S3Settings
from app.domain.alerts.alerts import open_alerts, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.shared.memory import MachineMemory
from app.extensions import db
from app.jobs import machine
from app.jobs.machine import MachineWatch
from app.ports import STORES, machine_id
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.picture_storage import PicturesInMemory
from tests.fakes.queue import RecordingQueue

pytestmark = pytest.mark.usefixtures("context")


def keys() -> list[tuple[str, str]]:
    db.session.rollback()
    return [(alert.cause, alert.subject) for alert in open_alerts(None)]


@pytest.fixture
def watch(app: Flask, clock: StoppedClock) -> MachineWatch:
    wanted_free_space(app, 0)
    return MachineWatch()


def wanted_free_space(app: Flask, megabytes: int) -> None:
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], alert_free_disk_mb=megabytes)


def look_for(watch: MachineWatch, clock: StoppedClock, seconds: int) -> None:
    for _ in range(seconds // 10):
        clock.move(seconds=10)
        watch.look()


def test_a_queue_that_is_away_for_longer_raises_an_alert_and_ends_it_when_it_is_back(
    watch: MachineWatch, queue: RecordingQueue, clock: StoppedClock
) -> None:
    queue.down = True
    look_for(watch, clock, 20)
    assert keys() == []
    look_for(watch, clock, 10)
    assert keys() == [("queue_gone", "")]
    queue.down = False
    look_for(watch, clock, 70)
    assert keys() == []


def test_a_kind_of_jobs_that_no_worker_takes_raises_an_alert(
    watch: MachineWatch, queue: RecordingQueue, clock: StoppedClock
) -> None:
    queue.idle = ["builds"]
    look_for(watch, clock, 60)
    assert keys() == []
    look_for(watch, clock, 10)
    assert keys() == [("worker_gone", "")]
    assert "builds" in open_alerts(None)[0].detail
    queue.idle = []
    look_for(watch, clock, 70)
    assert keys() == []


def test_a_shop_without_a_queue_misses_no_worker(
    watch: MachineWatch, queue: RecordingQueue, clock: StoppedClock
) -> None:
    queue.idle = None
    look_for(watch, clock, 200)
    assert keys() == []


def test_limits_that_each_machine_counts_alone_raise_an_alert_that_ends_once_they_are_shared(
    watch: MachineWatch, app: Flask, clock: StoppedClock
) -> None:
    class Memory(MachineMemory):
        fault: str | None = "this Redis writes to its disk"

        def check(self) -> None:
            if self.fault:
                raise OSError(self.fault)

    memory = Memory()
    app.extensions[STORES] = dataclasses.replace(app.extensions[STORES], memory=memory)
    look_for(watch, clock, 20)
    assert keys() == []
    look_for(watch, clock, 10)
    assert keys() == [("limits_not_shared", "")]
    assert open_alerts(None)[0].detail == "this Redis writes to its disk"
    memory.fault = None
    look_for(watch, clock, 70)
    assert keys() == []


def test_a_disk_that_is_nearly_full_raises_an_alert_that_goes_on_and_ends(
    watch: MachineWatch, app: Flask, clock: StoppedClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted_free_space(app, 512)
    free = 100_000_000
    usage = type(shutil.disk_usage("/"))
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _folder: usage(8_000_000_000, 0, free))
    app.config["SHOP"].media_dir.mkdir()
    look_for(watch, clock, 120)
    [alert] = open_alerts(None)
    assert alert.cause == "disk_full" and "100 MB of 8,000 MB are left" in alert.detail
    assert alert.times == 2, "once a minute"
    free = 900_000_000
    look_for(watch, clock, 70)
    assert keys() == []


def test_a_storage_of_pictures_that_is_down_raises_an_alert_with_the_reason_and_ends_it(
    watch: MachineWatch, app: Flask, clock: StoppedClock
) -> None:
    storage = PicturesInMemory("it has no bucket shop-pictures")
    app.config["SHOP"] = replace(app.config["SHOP"], pictures="s3", s3=S3Settings("shop-pictures"))
    app.extensions[STORES] = replace(app.extensions[STORES], picture_storages={"s3": storage})
    look_for(watch, clock, 10)
    assert keys() == [], "it may pause for a moment"
    look_for(watch, clock, 20)
    [alert] = open_alerts(None)
    assert (alert.cause, alert.detail) == ("pictures_gone", "It has no bucket shop-pictures.")
    storage.fault = ""
    look_for(watch, clock, 70)
    assert keys() == []


def test_a_folder_that_takes_no_data_raises_an_alert(
    watch: MachineWatch, app: Flask, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = app.config["SHOP"].media_dir
    folder.mkdir()

    def refuses(number: int) -> None:
        def fail(*_args: object, **_more: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(machine.tempfile, "TemporaryFile", fail)

    refuses(30)
    look_for(watch, clock, 10)
    assert {cause for cause, _ in keys()} <= {"disk_io_error", "database_io_error"}
    assert "Read-only file system" in open_alerts(None)[0].detail
    refuses(28)
    look_for(watch, clock, 10)
    assert "disk_full" in {cause for cause, _ in keys()}


def test_a_fault_that_only_requests_meet_ends_when_none_has_met_it_for_a_minute(
    watch: MachineWatch, clock: StoppedClock
) -> None:
    with transaction():
        raise_alert(clock, Cause.DATABASE_IO_ERROR, "12 MB left", machine=machine_id())
    look_for(watch, clock, 50)
    assert keys() == [("database_io_error", "")]
    look_for(watch, clock, 10)
    assert keys() == []

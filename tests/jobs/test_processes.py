"""Processes beside the scheduler end with it, and calls within their time limit."""

from __future__ import annotations

import dataclasses
import errno
import multiprocessing
import os
import signal
from functools import partial
from pathlib import Path

import pytest
from flask import Flask
from rq import Queue
from rq.serializers import JSONSerializer

from app.adapters.queue import connect, queue_name
from app.domain.alerts.alerts import open_alerts
from app.domain.alerts.safeguards import NoSecureConnection
from app.jobs.processes import BackgroundProcess, end_process, run_within
from worker import make_worker

pytestmark = pytest.mark.usefixtures("context")


def meet_a_full_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def open_causes() -> list[str]:
    return [alert.cause for alert in open_alerts(None)]


def test_a_full_disk_that_a_job_of_the_queue_met_is_an_alert(app: Flask, redis_url: str) -> None:
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], redis_url=redis_url)
    function = f"{__name__}.{meet_a_full_disk.__name__}"
    queue = Queue(queue_name(app.config["SHOP"].queue_prefix, "default"), connect(redis_url), serializer=JSONSerializer)
    queue.enqueue_call(function)
    worker = make_worker(app, ["default"], frozenset({function}))
    process = multiprocessing.get_context("fork").Process(target=worker.work, kwargs={"burst": True})
    process.start()
    process.join(30)
    assert open_causes() == ["disk_full"]


def test_a_full_disk_that_work_beside_the_scheduler_met_is_an_alert(app: Flask) -> None:
    background = BackgroundProcess(app)
    background.begin("a full disk", meet_a_full_disk)
    [process] = [child for child in multiprocessing.active_children() if child.name == "a full disk"]
    process.join(30)
    assert open_causes() == ["disk_full"]


def test_work_that_waits_for_a_call_without_end_stops_at_once_and_takes_the_call_along(
    app: Flask, tmp_path: Path
) -> None:
    pipe = tmp_path / "process"
    os.mkfifo(pipe)

    def hang() -> None:
        pipe.write_text(str(os.getpid()))
        signal.pause()

    background = BackgroundProcess(app)
    background.begin("a look at a dead mount", partial(run_within, 60, hang))
    waiting = pipe.read_text()
    assert background.end()
    assert not Path("/proc", waiting).exists()


class Unkillable:
    """As a process that the system keeps until a device answers."""

    name, pid = "a dead disk", 1

    def terminate(self) -> None: ...

    def kill(self) -> None: ...

    def join(self, timeout: float) -> None: ...

    def is_alive(self) -> bool:
        return True


def test_a_process_that_cannot_be_killed_is_left_behind() -> None:
    assert not end_process(Unkillable())


def test_what_ends_in_time_gives_its_result() -> None:
    assert run_within(10, lambda: "found") == "found"


@pytest.mark.parametrize("error", [FileNotFoundError(2, "No such file"), NoSecureConnection("refused")])
def test_what_it_raises_is_raised_here(error: Exception) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        run_within(10, fail)
    assert raised.value.args == error.args


def test_a_process_that_dies_is_no_result() -> None:
    with pytest.raises(RuntimeError, match="without a result"):
        run_within(10, lambda: os._exit(1))


def test_what_never_ends_is_killed_at_the_limit() -> None:
    """The pipe ends once no process has it open for writing any more."""
    reading, writing = os.pipe()
    with pytest.raises(TimeoutError):
        run_within(0.02, signal.pause)
    os.close(writing)
    os.set_blocking(reading, False)
    assert os.read(reading, 1) == b""
    os.close(reading)

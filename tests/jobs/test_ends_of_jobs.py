"""What a job noted in the memory of its process is written before the process ends."""

from __future__ import annotations

import dataclasses
import errno
import multiprocessing
import os

import pytest
from flask import Flask
from rq import Queue
from rq.serializers import JSONSerializer

from app.adapters.queue import connect, queue_name
from app.domain.alerts.alerts import open_alerts
from app.jobs.background import BackgroundProcess
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

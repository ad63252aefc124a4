"""“Run now” of the System page: a real worker runs the job and notes how it ended."""

from __future__ import annotations

import dataclasses
import multiprocessing

import pytest
from flask import Flask

from app.adapters.queue import RqQueue
from app.domain.system.job_runs import latest_runs
from app.extensions import db
from app.ports import machine_id
from worker import make_worker


@pytest.mark.usefixtures("context")
def test_a_worker_runs_a_job_that_looks(app: Flask, redis_url: str) -> None:
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], redis_url=redis_url)
    queue = RqQueue(redis_url, app.config["SHOP"].queue_prefix)
    assert queue.enqueue("scheduled:look", "measure", machine=machine_id())
    worker = make_worker(app, ["builds"])
    process = multiprocessing.get_context("fork").Process(target=worker.work, kwargs={"burst": True})
    process.start()
    process.join(60)
    db.session.rollback()
    run = latest_runs(machine_id())["measure"]
    assert (run.finished_at is not None, run.errors) == (True, {})
    assert isinstance(run.report, dict) and "pictures" in run.report

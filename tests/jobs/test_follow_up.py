"""Work that follows a committed change: whatever goes wrong in it is seen, and nothing of it reaches the change."""

from __future__ import annotations

import errno

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError
from structlog.typing import EventDict

from app.domain.alerts import alerts
from app.domain.alerts.causes import Cause
from app.domain.sites.models import Site
from app.extensions import db
from app.jobs.follow_up import follow_up
from app.ports import clock

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize(
    ("error", "level", "said"),
    [
        (RuntimeError("no such word"), "error", "RuntimeError: no such word"),
        (OperationalError("update", {}, Exception("away"), connection_invalidated=True), "warning", "Exception"),
        (OSError(errno.ENOSPC, "No space left on device"), "warning", "No space left on device"),
    ],
    ids=["an error of ours", "a busy database", "a full disk"],
)
def test_an_error_is_logged_with_its_facts(log_lines: list[EventDict], error: Exception, level: str, said: str) -> None:
    with follow_up("not_counted", site=7):
        raise error
    lines = [line for line in log_lines if line["event"] == "not_counted"]
    assert [(line["log_level"], line["site"], line.get("exc_info", False)) for line in lines] == [
        (level, 7, level == "error")
    ]
    assert said in lines[0]["error"]


def test_a_full_disk_is_an_alert_too() -> None:
    with follow_up("not_counted"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert [alert.cause for alert in alerts.unwritten_alerts(clock())] == [Cause.DISK_FULL]


def test_nothing_unsaved_stays_in_the_session() -> None:
    with follow_up("not_counted"):
        db.session.add(Site())
        raise RuntimeError("no such word")
    assert not db.session.new


def test_who_stops_the_process_is_heard(app: Flask) -> None:
    with pytest.raises(KeyboardInterrupt), follow_up("not_counted"):
        raise KeyboardInterrupt

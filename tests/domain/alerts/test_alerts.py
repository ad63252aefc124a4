from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError, OperationalError
from structlog.typing import EventDict

from app.domain.alerts import alerts
from app.domain.alerts.alerts import (
    end_alert,
    last_seen,
    note_alert,
    open_alerts,
    raise_alert,
    unwritten_alerts,
    write_unwritten,
)
from app.domain.alerts.causes import BY_KEY, Cause
from app.domain.alerts.job_failures import end_unrepeated, note_failure, note_success
from app.domain.alerts.models import Alert
from app.extensions import db
from app.jobs.purging import RETENTIONS
from app.transaction import transaction
from tests.factories import WHEN, make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged
from tests.surroundings import ROOT

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id() -> int:
    with transaction():
        return make_site().id


def all_alerts() -> list[Alert]:
    return list(db.session.scalars(select(Alert).order_by(Alert.id)))


def test_every_cause_is_raised_somewhere() -> None:
    code = [path.read_text() for path in (ROOT / "app").rglob("*.py") if path.name != "causes.py"]
    assert [cause.name for cause in Cause if not any(f"Cause.{cause.name}" in text for text in code)] == []


def test_a_cause_has_a_key_of_its_own_and_whole_sentences() -> None:
    assert len(BY_KEY) == len(Cause)
    for cause in Cause:
        assert cause.key == cause.name.lower()
        assert cause.sentence.endswith(".") and cause.advice.endswith(".")


def test_a_fault_that_is_seen_again_is_one_alert_that_counts(clock: StoppedClock) -> None:
    for detail in ("80 MB left", "60 MB left"):
        with transaction():
            raise_alert(clock, Cause.DISK_FULL, detail)
        clock.move(minutes=1)
    [alert] = open_alerts(None)
    assert (alert.times, alert.detail) == (2, "60 MB left")
    assert (alert.last_seen_at - alert.first_seen_at).seconds == 60


def test_machines_have_alerts_of_their_own(clock: StoppedClock) -> None:
    for machine in ("left", "right"):
        with transaction():
            raise_alert(clock, Cause.DISK_FULL, f"of {machine}", machine=machine)
    with transaction():
        end_alert(clock, Cause.DISK_FULL, machine="left")
        end_alert(clock, Cause.DISK_FULL)
    assert [(alert.machine, alert.detail) for alert in open_alerts(None)] == [("right", "of right")]
    assert last_seen(Cause.DISK_FULL, machine="left") is None
    assert last_seen(Cause.DISK_FULL, machine="right") == clock.now()


def test_an_alert_of_a_machine_that_could_not_be_written_is_written_as_its_own(clock: StoppedClock) -> None:
    for machine in ("left", "right"):
        note_alert(clock, Cause.DISK_FULL, "12 MB left", machine=machine)
    write_unwritten(transaction)
    assert {alert.machine for alert in open_alerts(None)} == {"left", "right"}


def test_a_job_of_a_machine_fails_and_succeeds_for_itself(clock: StoppedClock) -> None:
    with transaction():
        for machine in ("left", "left", "right"):
            note_failure(clock, "measure", "no disk", machine=machine)
    assert [(alert.subject, alert.machine) for alert in open_alerts(None)] == [("measure", "left")]
    with transaction():
        note_success(clock, "measure", machine="right")
    assert len(open_alerts(None)) == 1
    with transaction():
        note_success(clock, "measure", machine="left")
    assert open_alerts(None) == []


def test_sites_subjects_and_causes_have_alerts_of_their_own(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        raise_alert(clock, Cause.INDEX_DAMAGED, "gone", site_id, "products")
        raise_alert(clock, Cause.INDEX_DAMAGED, "gone", site_id, "content")
        raise_alert(clock, Cause.INDEX_NOT_REBUILT, "gone", site_id, "products")
        raise_alert(clock, Cause.INDEX_DAMAGED, "gone", subject="products")
    assert len(open_alerts(site_id)) == 3
    assert len(open_alerts(None)) == 1


def test_an_alert_that_ended_is_not_open_and_the_next_is_a_new_one(clock: StoppedClock) -> None:
    with transaction():
        raise_alert(clock, Cause.QUEUE_GONE, "refused")
    with transaction():
        end_alert(clock, Cause.QUEUE_GONE)
    assert not open_alerts(None) and last_seen(Cause.QUEUE_GONE) is None
    clock.move(minutes=11)
    with transaction():
        raise_alert(clock, Cause.QUEUE_GONE, "refused")
    assert [alert.ended_at is None for alert in all_alerts()] == [False, True]


def test_a_fault_that_comes_back_at_once_opens_its_alert_again(clock: StoppedClock) -> None:
    for _ in range(3):
        with transaction():
            raise_alert(clock, Cause.QUEUE_GONE, "refused")
        with transaction():
            end_alert(clock, Cause.QUEUE_GONE)
        clock.move(minutes=9)
    with transaction():
        raise_alert(clock, Cause.QUEUE_GONE, "refused")
    [alert] = all_alerts()
    assert (alert.times, alert.ended_at) == (4, None)


def test_an_alert_that_ended_by_a_clock_far_ahead_is_not_opened_again_when_it_is_right(clock: StoppedClock) -> None:
    """Its message was sent long ago; the new fault has one of its own."""
    clock.jump(days=400)
    with transaction():
        raise_alert(clock, Cause.QUEUE_GONE, "refused")
        end_alert(clock, Cause.QUEUE_GONE)
    clock.jump(days=-400)
    with transaction():
        raise_alert(clock, Cause.QUEUE_GONE, "refused")
    assert [alert.ended_at is None for alert in all_alerts()] == [False, True]


@pytest.mark.parametrize("of_machine", [True, False])
def test_the_database_holds_one_open_alert_of_a_fault(clock: StoppedClock, site_id: int, of_machine: bool) -> None:
    site = None if of_machine else site_id
    with transaction():
        raise_alert(clock, Cause.QUEUE_GONE, "refused", site)
    second = Alert(site_id=site, cause="queue_gone", subject="", detail="", first_seen_at=WHEN, last_seen_at=WHEN)
    with pytest.raises(IntegrityError), transaction():
        db.session.add(second)


def test_one_line_is_logged_when_it_is_raised_and_one_when_it_ended(
    clock: StoppedClock, log_lines: list[EventDict]
) -> None:
    for _ in range(3):
        with transaction():
            raise_alert(clock, Cause.DISK_FULL, "0 MB left", subject="/srv")
    for _ in range(2):
        with transaction():
            end_alert(clock, Cause.DISK_FULL, subject="/srv")
    assert [(line["event"], line["cause"], line["subject"]) for line in log_lines] == [
        ("alert_raised", "disk_full", "/srv"),
        ("alert_ended", "disk_full", "/srv"),
    ]


def test_nothing_is_logged_for_a_transaction_that_rolled_back(clock: StoppedClock, log_lines: list[EventDict]) -> None:
    with pytest.raises(ZeroDivisionError), transaction():
        raise_alert(clock, Cause.DISK_FULL, "0 MB left")
        raise ZeroDivisionError
    assert not log_lines and not all_alerts()


def test_long_texts_are_cut(clock: StoppedClock) -> None:
    for _ in range(2):
        with transaction():
            raise_alert(clock, Cause.JOB_FAILED_TWICE, "d" * 5_000, subject="s" * 500)
    [alert] = all_alerts()
    assert (len(alert.detail), len(alert.subject), alert.times) == (1_000, 200, 2)


def test_old_alerts_are_purged_and_open_ones_are_kept(clock: StoppedClock) -> None:
    with transaction():
        raise_alert(clock, Cause.QUEUE_GONE, "refused")
        raise_alert(clock, Cause.DISK_FULL, "0 MB left")
        end_alert(clock, Cause.QUEUE_GONE)
    clock.move(days=91)
    assert purged(clock, *RETENTIONS) == 1
    assert [alert.cause for alert in all_alerts()] == ["disk_full"]


def test_an_alert_without_a_transaction_is_logged_once_and_written_later(
    clock: StoppedClock, log_lines: list[EventDict]
) -> None:
    for _ in range(5):
        note_alert(clock, Cause.DISK_FULL, "no space", subject="database")
        clock.move(seconds=10)
    assert not all_alerts() and len(unwritten_alerts(clock)) == 1
    write_unwritten(transaction)
    [alert] = open_alerts(None)
    assert (alert.last_seen_at - alert.first_seen_at).seconds == 40
    assert [line["event"] for line in log_lines] == ["alert_raised"]
    assert not unwritten_alerts(clock)


def test_what_could_not_be_written_stays_for_the_next_time(clock: StoppedClock) -> None:
    note_alert(clock, Cause.DISK_FULL, "no space")

    def refused() -> None:
        raise OperationalError("INSERT", {}, OSError("still no space"))

    write_unwritten(refused)  # type: ignore[arg-type]
    assert len(unwritten_alerts(clock)) == 1 and not all_alerts()


def test_what_cannot_be_written_is_forgotten_when_it_is_old(clock: StoppedClock) -> None:
    note_alert(clock, Cause.QUEUE_GONE, "refused")
    clock.move(minutes=10)
    assert not unwritten_alerts(clock)


@pytest.mark.parametrize("cause", [Cause.DISK_FULL, Cause.DATABASE_IO_ERROR])
def test_that_nothing_can_be_written_stands_until_something_is(clock: StoppedClock, cause: Cause) -> None:
    note_alert(clock, cause, "no space")
    clock.move(days=2)
    assert [alert.cause for alert in unwritten_alerts(clock)] == [cause]
    write_unwritten(transaction)
    assert not unwritten_alerts(clock)


def test_an_alert_of_a_site_that_is_gone_is_tried_once(clock: StoppedClock) -> None:
    note_alert(clock, Cause.INDEX_DAMAGED, "cut", site_id=999_999)
    write_unwritten(transaction)
    assert not unwritten_alerts(clock) and not all_alerts()


def test_what_is_kept_in_memory_is_bounded(clock: StoppedClock, log_lines: list[EventDict]) -> None:
    for number in range(500):
        note_alert(clock, Cause.DISK_FULL, "no space", subject=str(number))
    assert len(unwritten_alerts(clock)) == alerts.MOST_UNWRITTEN == len(log_lines)


def test_the_second_failure_in_a_row_raises_an_alert_and_a_success_ends_it(clock: StoppedClock, site_id: int) -> None:
    def fail(site: int | None) -> None:
        with transaction():
            note_failure(clock, "reconcile", "the index is gone", site)

    fail(site_id)
    fail(None)
    assert not all_alerts()
    fail(site_id)
    fail(site_id)
    [alert] = open_alerts(site_id)
    assert (alert.cause, alert.subject, alert.times) == ("job_failed_twice", "reconcile", 2)
    with transaction():
        note_success(clock, "reconcile", site_id)
    assert not open_alerts(site_id)
    fail(site_id)
    assert not open_alerts(site_id)


def test_the_alert_of_a_job_that_has_not_failed_again_for_a_week_ends(clock: StoppedClock, site_id: int) -> None:
    def fail(job: str) -> None:
        with transaction():
            note_failure(clock, job, "odd", site_id)

    def remaining() -> set[str]:
        with transaction():
            end_unrepeated(clock)
        return {alert.subject for alert in open_alerts(site_id)}

    for job in ("replay", "replay", "task", "task"):
        fail(job)
    clock.move(days=6)
    fail("task")
    assert remaining() == {"replay", "task"}
    clock.move(days=1)
    assert remaining() == {"task"}
    fail("replay")
    assert remaining() == {"task"}, "its next failure is the first in a row"

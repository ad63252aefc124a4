"""Alerts reach their people once, and again when they are over; the machine is watched."""

from __future__ import annotations

import dataclasses
from functools import partial

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.alerts.alerts import end_alert, open_alerts, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.alerts.messages import Notice, NotSent
from app.domain.alerts.models import AlertMessage
from app.domain.shared.problems import NotFound
from app.extensions import db
from app.jobs import alerts as alerts_job
from app.jobs import machine, scheduled
from app.jobs.scheduled import ScheduledJob, SitesFailed, run_for_each_site, run_scheduled
from app.jobs.scheduler import Scheduler
from app.ports import EXTENSION, machine_id
from app.transaction import transaction
from tests.factories import make_site
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")


class Recorded:
    """A channel that remembers what it sent; `reason` makes it refuse."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent: list[Notice] = []
        self.tries = 0
        self.reason = ""

    def send(self, notice: Notice) -> None:
        self.tries += 1
        if self.reason:
            raise NotSent(self.reason)
        self.sent.append(notice)

    @property
    def events(self) -> list[tuple[str, str]]:
        return [(notice.event, notice.cause.key) for notice in self.sent]


@pytest.fixture
def mail(app: Flask) -> Recorded:
    return channels(app, "mail")[0]


def channels(app: Flask, *names: str) -> list[Recorded]:
    made = [Recorded(name) for name in names]
    app.extensions[EXTENSION] = dataclasses.replace(app.extensions[EXTENSION], alert_channels=tuple(made))
    return made


def raise_in_transaction(clock: StoppedClock, cause: Cause = Cause.DISK_FULL, site_id: int | None = None) -> None:
    with transaction():
        raise_alert(clock, cause, "12 MB left", site_id, machine="" if site_id else machine_id())


def end_in_transaction(clock: StoppedClock, cause: Cause = Cause.DISK_FULL) -> None:
    with transaction():
        end_alert(clock, cause, machine=machine_id())


def look() -> None:
    alerts_job.look(lambda _name, work: work() is None)


def keys(site_id: int | None = None) -> list[tuple[str, str]]:
    db.session.rollback()
    return [(alert.cause, alert.subject) for alert in open_alerts(site_id)]


def test_an_alert_is_sent_once_and_once_more_when_it_is_over_for_good(mail: Recorded, clock: StoppedClock) -> None:
    for _ in range(3):
        raise_in_transaction(clock)
        look()
        clock.move(seconds=5)
    end_in_transaction(clock)
    look()
    assert mail.events == [("alert_raised", "disk_full")]
    clock.move(minutes=10)
    look()
    look()
    assert mail.events == [("alert_raised", "disk_full"), ("alert_ended", "disk_full")]
    assert len({notice.id for notice in mail.sent}) == 2


def test_an_alert_that_comes_and_goes_is_one_message(mail: Recorded, clock: StoppedClock) -> None:
    for _ in range(5):
        raise_in_transaction(clock)
        look()
        end_in_transaction(clock)
        clock.move(minutes=5)
        look()
    assert mail.events == [("alert_raised", "disk_full")]


def test_one_that_ended_before_anybody_heard_of_it_is_sent_still(mail: Recorded, clock: StoppedClock) -> None:
    raise_in_transaction(clock)
    end_in_transaction(clock)
    look()
    assert mail.events == [("alert_raised", "disk_full")]


def test_a_notice_names_the_shop_and_the_times(mail: Recorded, clock: StoppedClock) -> None:
    with transaction():
        site_id = make_site("fern.test").id
    raise_in_transaction(clock, Cause.INDEX_DAMAGED, site_id)
    look()
    [notice] = mail.sent
    assert (notice.site, notice.detail, notice.first_seen_at) == ("fern.test", "12 MB left", clock.now())
    assert notice.title == "Warning: A search index is damaged or missing. (fern.test)"
    assert Cause.INDEX_DAMAGED.advice in notice.text


def test_old_alerts_are_no_news_to_a_channel_that_is_set_up_later(app: Flask, clock: StoppedClock) -> None:
    raise_in_transaction(clock, Cause.QUEUE_GONE)
    end_in_transaction(clock, Cause.QUEUE_GONE)
    raise_in_transaction(clock)
    look()
    clock.move(days=2)
    [mail] = channels(app, "mail")
    look()
    assert mail.events == [("alert_raised", "disk_full")], "the one that is open"


def test_a_channel_that_fails_is_tried_again_ever_more_seldom(app: Flask, clock: StoppedClock) -> None:
    mail, webhook = channels(app, "mail", "webhook")
    mail.reason = "refused"
    raise_in_transaction(clock)
    look()
    look()
    assert (mail.tries, webhook.tries) == (1, 1), "the next try waits for a minute"
    for _ in range(60 * 5):
        clock.move(minutes=1)
        look()
    assert mail.tries == 8
    assert webhook.events == [("alert_raised", "disk_full"), ("alert_raised", "delivery_failed")]
    assert ("delivery_failed", "mail") in keys()
    clock.move(hours=6)
    look()
    assert mail.tries == 9, "the alert is still open"


def test_a_message_about_an_alert_that_ended_is_given_up_but_the_last_of_its_channel(
    mail: Recorded, clock: StoppedClock
) -> None:
    mail.reason = "refused"
    for cause in (Cause.DISK_FULL, Cause.QUEUE_GONE):
        raise_in_transaction(clock, cause)
        end_in_transaction(clock, cause)
    for _ in range(4 * 24 * 2):
        look()
        clock.move(minutes=30)
    assert len(db.session.scalars(select(AlertMessage)).all()) == 1
    mail.reason = ""
    clock.move(hours=6)
    look()
    assert len(mail.sent) == 1 and keys() == []
    assert db.session.scalars(select(AlertMessage)).all() == []


def test_an_alert_that_is_open_is_sent_after_a_long_outage(mail: Recorded, clock: StoppedClock) -> None:
    mail.reason = "refused"
    raise_in_transaction(clock, Cause.WORKER_GONE)
    raise_in_transaction(clock)
    for _ in range(24 * 2):
        look()
        clock.move(minutes=30)
    mail.reason = ""
    clock.move(hours=6)
    look()
    look()
    assert sorted(mail.events) == [("alert_raised", "disk_full"), ("alert_raised", "worker_gone")]
    assert sorted(keys()) == [("disk_full", ""), ("worker_gone", "")]


def test_any_error_of_a_channel_is_a_failure_with_the_same_pauses(mail: Recorded, clock: StoppedClock) -> None:
    mail.send = lambda _notice: "ä".encode("ascii")  # type: ignore[method-assign, assignment, return-value]
    raise_in_transaction(clock)
    for _ in range(24 * 2):
        look()
        clock.move(minutes=30)
    assert ("delivery_failed", "mail") in keys()
    [message] = db.session.scalars(select(AlertMessage)).all()
    assert message.attempts < 15


def test_the_pause_of_a_message_that_no_process_survives_has_a_limit(mail: Recorded, clock: StoppedClock) -> None:
    mail.send = lambda _notice: (_ for _ in ()).throw(SystemExit)  # type: ignore[method-assign, assignment]
    raise_in_transaction(clock)
    for _ in range(12):
        with pytest.raises(SystemExit):
            look()
        look()
        clock.move(hours=6)


def test_the_alert_about_a_channel_that_is_no_longer_set_up_ends(app: Flask, clock: StoppedClock) -> None:
    with transaction():
        raise_alert(clock, Cause.DELIVERY_FAILED, "refused", subject="mail")
    look()
    assert keys() == []


def test_the_alert_about_a_channel_ends_with_its_next_success(app: Flask, mail: Recorded, clock: StoppedClock) -> None:
    mail.reason = "refused"
    raise_in_transaction(clock)
    for _ in range(10):
        look()
        clock.move(minutes=1)
    assert ("delivery_failed", "mail") in keys()
    mail.reason = ""
    clock.move(hours=1)
    look()
    assert mail.events == [("alert_raised", "disk_full")]
    assert keys() == [("disk_full", "")]


def test_a_process_that_died_while_sending_leaves_the_message_to_the_next(mail: Recorded, clock: StoppedClock) -> None:
    mail.send = lambda _notice: (_ for _ in ()).throw(SystemExit)  # type: ignore[method-assign, assignment]
    raise_in_transaction(clock)
    with pytest.raises(SystemExit):
        look()
    del mail.send
    look()
    assert mail.tries == 0, "it may be on its way still"
    clock.move(minutes=1)
    look()
    assert mail.events == [("alert_raised", "disk_full")]


def test_a_channel_that_is_no_longer_set_up_keeps_nobody_busy(app: Flask, clock: StoppedClock) -> None:
    mail, _webhook = channels(app, "mail", "webhook")
    mail.reason = "refused"
    raise_in_transaction(clock)
    look()
    channels(app, "webhook")
    clock.move(hours=1)
    alerts_job.look(lambda _name, _work: pytest.fail("nothing can be sent"))


def test_without_a_channel_nothing_waits(clock: StoppedClock) -> None:
    raise_in_transaction(clock)
    alerts_job.look(lambda _name, _work: pytest.fail("nothing is to be sent"))


def test_the_scheduler_sends_beside_a_rebuild(app: Flask, mail: Recorded, clock: StoppedClock) -> None:
    raise_in_transaction(clock)
    Scheduler(lambda _name, _work: False, lambda _name, work: work() is None).look()
    assert mail.events == [("alert_raised", "disk_full")]


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The scheduler cannot write the database until this is undone."""

    def refuse() -> None:
        raise OperationalError("INSERT", {}, OSError("no space"))

    for module in (alerts_job, machine):
        monkeypatch.setattr(module, "transaction", refuse)
    return monkeypatch


def test_an_alert_that_no_database_takes_is_sent_once_and_not_again_when_it_is_written(
    refusing: pytest.MonkeyPatch, mail: Recorded, clock: StoppedClock
) -> None:
    for _ in range(10):
        machine.raise_or_note(Cause.DISK_FULL, "no space", "media")
        alerts_job.look(lambda _name, _work: False)
        clock.move(seconds=10)
    assert mail.events == [("alert_raised", "disk_full")]
    refusing.undo()
    look()
    assert keys() == [("disk_full", "media")] and len(mail.sent) == 1
    with transaction():
        end_alert(clock, Cause.DISK_FULL, subject="media", machine=machine_id())
    clock.move(minutes=10)
    look()
    assert mail.events == [("alert_raised", "disk_full"), ("alert_ended", "disk_full")]


@pytest.mark.usefixtures("refusing")
def test_an_unwritten_alert_is_tried_again_by_the_channels_that_did_not_take_it(
    app: Flask, clock: StoppedClock
) -> None:
    mail, webhook = channels(app, "mail", "webhook")
    mail.reason = "refused"
    for _ in range(4):
        machine.raise_or_note(Cause.DISK_FULL, "no space")
        alerts_job.look(lambda _name, _work: False)
        clock.move(seconds=30)
    assert (mail.tries, len(webhook.sent)) == (1, 1)
    mail.reason = ""
    clock.move(minutes=5)
    alerts_job.look(lambda _name, _work: False)
    assert (len(mail.sent), len(webhook.sent)) == (1, 1)


def test_a_busy_database_and_one_that_has_the_alert_already_are_no_reason_to_send_it_from_memory(
    mail: Recorded, clock: StoppedClock, request: pytest.FixtureRequest
) -> None:
    raise_in_transaction(clock)
    look()
    assert len(mail.sent) == 1
    request.getfixturevalue("refusing")
    for _ in range(6):
        machine.raise_or_note(Cause.DISK_FULL, "no space")
        alerts_job.look(lambda _name, _work: False)
        clock.move(seconds=10)
    machine.raise_or_note(Cause.DATABASE_IO_ERROR, "locked")
    clock.move(seconds=10)
    alerts_job.look(lambda _name, _work: False)
    assert len(mail.sent) == 1


def test_a_nightly_job_that_fails_twice_in_a_row_raises_an_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    works = False

    def work() -> None:
        if not works:
            raise NotFound("The folder of the pictures is gone.")

    monkeypatch.setitem(scheduled.SCHEDULED, "purge", ScheduledJob("0 0 * * *", work, ""))  # type: ignore[call-overload]
    for expected in ([], [("job_failed_twice", "purge")]):
        with pytest.raises(NotFound):
            run_scheduled("purge")
        assert keys() == expected
    works = True
    run_scheduled("purge")
    assert keys() == []


def test_a_job_that_fails_for_one_site_is_that_sites_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction():
        well, ill = make_site("well.test").id, make_site("ill.test").id

    def work(site_id: int) -> None:
        if site_id == ill:
            raise NotFound("The index is gone.")

    run = partial(run_for_each_site, "reconcile", work)
    monkeypatch.setitem(scheduled.SCHEDULED, "reconcile", ScheduledJob("0 0 * * *", run, ""))  # type: ignore[call-overload]
    for _ in range(2):
        with pytest.raises(SitesFailed):
            run_scheduled("reconcile")
    assert keys(ill) == [("job_failed_twice", "reconcile")]
    assert keys(well) == keys(None) == []

"""Alerts on the dashboard, as JSON and in the metrics."""

from __future__ import annotations

import dataclasses
import re

import pytest
from flask import Flask

from app.domain.alerts import alerts
from app.domain.alerts.alerts import end_alert, note_alert, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.alerts.models import Alert
from app.domain.sites.accounts import Role
from app.extensions import db
from app.jobs.leased import LEASED_JOBS
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import WHEN, make_site
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient


@pytest.fixture
def raised(app: Flask, site_id: int, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        raise_alert(clock, Cause.INDEX_DAMAGED, "The file <main_1.seg> is cut.", site_id, "products")
        raise_alert(clock, Cause.DISK_FULL, "12 MB left of 8 GB.", subject="/srv/shop")
        raise_alert(clock, Cause.INDEX_NOT_REBUILT, "Another shop's.", make_site("other.test", "Other").id)
    clock.move(minutes=5)


def text_of(browser: PageClient) -> str:
    browser.get("/admin/")
    return " ".join(browser.client.get("/admin/", base_url=browser.base).text.split())


def test_a_long_reason_is_folded_and_commands_stand_as_code(
    app: Flask, signed_in: SignedIn, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        raise_alert(clock, Cause.BACKUP_OLD, "odd " * 200)
    text = text_of(signed_in(Role.ADMIN))
    assert "odd...</summary>" in text and ("odd " * 200).strip() in text
    assert "<code>flask --app wsgi jobs run check-backup</code>" in text and "`" not in text


def items(browser: PageClient) -> list[dict[str, str]]:
    answer = browser.client.get("/admin/rest/alerts", base_url=browser.base)
    assert answer.status_code == 200
    listed: list[dict[str, str]] = answer.json["items"]
    return listed


def test_without_alerts_there_is_no_panel(signed_in: SignedIn) -> None:
    admin = signed_in(Role.ADMIN)
    assert 'id="alerts"' not in text_of(admin)
    assert items(admin) == []


@pytest.mark.usefixtures("raised")
def test_an_admin_sees_what_is_wrong_since_when_and_what_to_do(signed_in: SignedIn) -> None:
    text = text_of(signed_in(Role.ADMIN))
    assert Cause.DISK_FULL.sentence in text and Cause.DISK_FULL.advice in text and "12 MB left of 8 GB." in text
    assert "The file &lt;main_1.seg&gt; is cut." in text
    assert "5 minutes ago" in text and 'href="/admin/search">Open Search' in text
    assert "Another shop" not in text
    assert text.index(Cause.DISK_FULL.sentence) < text.index(Cause.INDEX_DAMAGED.sentence), "the critical come first"


@pytest.mark.parametrize("job", [*LEASED_JOBS, "reconcile", "suggest"])
def test_a_job_that_fails_leads_to_its_page(
    app: Flask, signed_in: SignedIn, site_id: int, clock: StoppedClock, job: str
) -> None:
    with app.app_context(), transaction():
        raise_alert(clock, Cause.JOB_FAILED_TWICE, "It is odd.", site_id, job)
    text = text_of(signed_in())
    assert re.search(r'<a class="btn small" href="/admin/[\w/]+">Open (Search|Synonyms|Taxonomy)</a>', text)


@pytest.mark.usefixtures("raised")
def test_a_merchandiser_sees_those_of_the_shop_alone(signed_in: SignedIn) -> None:
    merchandiser = signed_in(Role.MERCHANDISER)
    text = text_of(merchandiser)
    assert Cause.INDEX_DAMAGED.sentence in text and Cause.DISK_FULL.sentence not in text
    assert [item["cause"] for item in items(merchandiser)] == ["index_damaged"]


@pytest.mark.usefixtures("raised")
def test_the_json_has_every_field(signed_in: SignedIn) -> None:
    assert items(signed_in(Role.ADMIN))[0] == {
        "cause": "disk_full",
        "severity": "critical",
        "scope": "machine",
        "machine": None,
        "subject": "/srv/shop",
        "sentence": Cause.DISK_FULL.sentence,
        "detail": "12 MB left of 8 GB.",
        "advice": Cause.DISK_FULL.advice,
        "firstSeenAt": "2026-11-20T12:00:00Z",
        "lastSeenAt": "2026-11-20T12:00:00Z",
    }


@pytest.mark.usefixtures("raised")
def test_an_alert_that_ended_is_gone(app: Flask, signed_in: SignedIn, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        end_alert(clock, Cause.DISK_FULL, subject="/srv/shop")
    assert [item["cause"] for item in items(signed_in(Role.ADMIN))] == ["index_damaged"]


def test_what_cannot_be_written_is_shown(signed_in: SignedIn, clock: StoppedClock) -> None:
    admin = signed_in(Role.ADMIN)
    note_alert(clock, Cause.DISK_FULL, "The database is full.", subject="database")
    assert [item["subject"] for item in items(admin)] == ["database"]


def test_the_next_transaction_that_succeeds_writes_what_could_not_be_written(app: Flask, clock: StoppedClock) -> None:
    note_alert(clock, Cause.DISK_FULL, "The database is full.", subject="database")
    with app.app_context():
        with transaction():
            make_site()
        assert db.session.query(Alert).one().subject == "database"
        assert not alerts.unwritten_alerts(clock)


def test_a_cause_of_another_version_breaks_no_page(app: Flask, signed_in: SignedIn) -> None:
    with app.app_context(), transaction():
        db.session.add(Alert(cause="of_tomorrow", subject="", detail="", first_seen_at=WHEN, last_seen_at=WHEN))
    assert items(signed_in(Role.ADMIN)) == []


@pytest.mark.usefixtures("raised")
def test_the_metrics_count_the_open_alerts_of_every_cause(app: Flask) -> None:
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], metrics_token="a token")
    text = app.test_client().get("/metrics", headers={"Authorization": "Bearer a token"}).text
    assert 'shop_alerts_open{cause="disk_full"} 1.0' in text
    assert 'shop_alerts_open{cause="index_not_rebuilt"} 1.0' in text
    assert 'shop_alerts_open{cause="queue_gone"} 0.0' in text

"""The System page: how jobs, queue, workers, indexes, database and disks stand, and what helps."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask

from app import ports
from app.adapters.queue import RqQueue
from app.adapters.whoosh import WhooshEngine
from app.config import S3Settings
from app.domain.alerts.alerts import raise_alert
from app.domain.alerts.causes import Cause
from app.domain.machines import machines
from app.domain.machines.coexistence import MachineFacts
from app.domain.search.sentence_model import SentenceModel
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.system import job_runs
from app.domain.work.progress import FailedJob, QueueKind, QueueOverview, QueueWorker
from app.extensions import db
from app.jobs import purging
from app.jobs.scheduled import run_scheduled
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.test_search_settings import Broken
from tests.contracts.meaning_contract import THINGS
from tests.contracts.search_engine_contract import rebuild
from tests.factories import make_run
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.fakes.sentence_model import WordSums
from tests.page_client import PageClient, loses_focus
from tests.statements import statements

PAGE = "/admin/settings/system"


@pytest.fixture
def admin(signed_in) -> PageClient:
    browser: PageClient = signed_in(Role.ADMIN)
    return browser


def lines_of(browser: PageClient) -> dict[str, str]:
    """The words of each row, by its heading."""
    html = browser.client.get(PAGE, base_url=browser.base).text
    rows = [part.split("</tr>")[0] for part in html.split("<tr>")[1:]]
    texts = [" ".join(_without_tags(row).split()) for row in rows]
    return {text.split("  ")[0]: text for text in texts}


def _without_tags(html: str) -> str:
    parts = html.split("<")
    return parts[0] + " ".join(part.partition(">")[2] for part in parts[1:])


def row(browser: PageClient, heading: str) -> str:
    found = [text for text in lines_of(browser).values() if text.startswith(heading)]
    assert len(found) == 1, f"{heading}: {found}"
    return found[0]


def test_a_shop_that_was_just_set_up_says_what_did_not_run_yet(admin: PageClient) -> None:
    page = admin.get(PAGE)
    assert page.texts["h1"] == "System"
    assert "Never ran" in row(admin, "Scheduler")
    assert "Not run yet" in row(admin, "purge")
    assert "Not watched" in row(admin, "Backups")
    assert "Not measured yet" in row(admin, "Pictures (media)")
    assert "Unreachable" in row(admin, "Products")


def test_the_scheduler_runs_until_it_is_silent_for_minutes(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    with app.app_context():
        purging.read_clock()
    assert "Runs" in row(admin, "Scheduler")
    assert "Trusted" in row(admin, "Clock")
    clock.move(minutes=4)
    assert "Silent" in row(admin, "Scheduler")


def test_a_clock_in_doubt_is_said_with_what_helps(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    with app.app_context():
        purging.read_clock()
        clock.jump(hours=30)
        purging.read_clock()
    with app.app_context():
        text = row(signed_in_again(app, admin), "Clock")
    assert "In doubt" in text
    assert "purge --all" in text


def signed_in_again(app: Flask, browser: PageClient) -> PageClient:
    return PageClient(app).signed_in("admin@shop.test")


def test_a_failed_job_says_why(app: Flask, admin: PageClient) -> None:
    config = app.config["SHOP"]
    app.config["SHOP"] = None  # What every look needs is missing.
    with app.app_context(), pytest.raises(AttributeError):
        run_scheduled("measure")
    app.config["SHOP"] = config
    text = row(admin, "measure")
    assert "Failed" in text
    assert "Something unexpected went wrong" in text


def test_failures_of_another_shop_are_a_superadmins_to_see(app: Flask, admin: PageClient, signed_in) -> None:
    with app.app_context(), transaction():
        job_runs.note_start(ports.clock(), "suggest")
        job_runs.note_end(ports.clock(), "suggest", {"1": "Here it failed.", "99": "There it failed."})
    here, above = row(admin, "suggest"), row(signed_in(Role.SUPERADMIN), "suggest")
    assert ("Here it failed." in here, "There it failed." in here) == (True, False)
    assert "Site 99: There it failed." in above


def test_a_job_that_never_ended_was_cut_off(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        job_runs.note_start(ports.clock(), "suggest")
    assert "Running" in row(admin, "suggest")
    clock.move(hours=3)
    assert "Interrupted" in row(admin, "suggest")


def test_jobs_that_only_look_are_run_from_here_and_no_others(app: Flask, admin: PageClient, queue) -> None:
    admin.get(PAGE)
    admin.post(f"{PAGE}/run", {"job": "measure"})
    assert queue.jobs == [("scheduled:look", ("measure",))]
    for other in ("purge", "nothing", ""):
        answer = admin.client.post(f"{PAGE}/run", data={"job": other, "csrf_token": admin.token}, base_url=admin.base)
        assert answer.status_code == 404
    queue.down = True
    admin.post(f"{PAGE}/run", {"job": "check-backup"})
    assert "flask --app wsgi jobs run check-backup" in admin.client.get(PAGE, base_url=admin.base).text


def test_sizes_and_safeguards_are_those_that_jobs_found(
    app: Flask, admin: PageClient, clock: StoppedClock, tmp_path: Path
) -> None:
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "dump").write_bytes(b"rows")
    shop = app.config["SHOP"]
    shop.media_dir.mkdir(parents=True, exist_ok=True)
    (shop.media_dir / "a.jpg").write_bytes(bytes(2_000_000))
    app.config["SHOP"] = dataclasses.replace(shop, backup_dir=tmp_path / "backups")
    assert "Not checked yet" in row(admin, "Backups")
    with app.app_context():
        run_scheduled("measure")
        run_scheduled("check-backup")
    assert "2.0 MB" in row(admin, "Pictures (media)")
    assert "the newest is from" in row(admin, "Backups") or "Needs attention" in row(admin, "Backups")


def test_pictures_in_a_bucket_are_said_to_be_there_and_are_not_measured(app: Flask, admin: PageClient) -> None:
    bucket = S3Settings("shop-pictures")
    app.config["SHOP"] = dataclasses.replace(app.config["SHOP"], pictures="s3", s3=bucket)
    assert "Not on this machine in the bucket shop-pictures" in row(admin, "Pictures (media)")
    with app.app_context():
        run_scheduled("measure")
    assert "Not on this machine in the bucket shop-pictures" in row(admin, "Pictures (media)")


def test_what_the_last_purge_removed_is_shown(app: Flask, admin: PageClient) -> None:
    with app.app_context():
        run_scheduled("purge")
    assert "Throttled attempts 0 0 0" in row(admin, "Throttled attempts")


def test_workers_and_what_failed_are_named(admin: PageClient, queue: RecordingQueue, clock: StoppedClock) -> None:
    now = clock.now()
    queue.held = QueueOverview(
        (QueueKind("default", 3, 1, 1, now - timedelta(minutes=5)), QueueKind("builds", 0, 0, 0)),
        (QueueWorker("worker-1", ("default", "builds"), True, "search:rebuild", now),),
        (FailedJob("catalogue:prepare_picture", now, "OSError: No space left on device"),),
    )
    assert "the oldest since" in row(admin, "Queue Slow")
    assert "Alive" in row(admin, "Workers")
    assert "search:rebuild" in row(admin, "worker-1")
    assert "No space left on device" in row(admin, "catalogue:prepare_picture")
    queue.held = QueueOverview((QueueKind("default", 0, 0, 0), QueueKind("builds", 0, 0, 0)), ())
    assert "no worker for default and builds" in row(admin, "Workers")


def test_the_page_stands_while_redis_is_down(app: Flask, admin: PageClient) -> None:
    """By the real adapter, at a port where nobody listens."""
    down = RqQueue("redis://127.0.0.1:1", "of-tests")
    app.extensions[EXTENSION] = dataclasses.replace(app.extensions[EXTENSION], queue=down)
    assert "Not responding" in row(admin, "Queue")
    assert "Unknown" in row(admin, "Workers")
    assert "Scheduled jobs" in admin.client.get(PAGE, base_url=admin.base).text


def test_work_that_failed_says_why(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    assert (
        "No jobs are waiting or running, and none failed in the last 7 days."
        in admin.client.get(PAGE, base_url=admin.base).text
    )
    with app.app_context(), transaction():
        make_run(db.session.get_one(Site, 1), "failed", error="No room.", finished_at=clock.now())
    assert "No room." in row(admin, "Rebuilds of the search index")


def test_the_fragment_is_the_contents_alone(admin: PageClient) -> None:
    answer = admin.client.get(PAGE, base_url=admin.base, headers={"HX-Request": "true"})
    assert answer.text.lstrip().startswith('<div id="system"')
    assert loses_focus(answer.text) == []


def test_the_page_asks_a_bounded_number_of_questions(app: Flask, admin: PageClient) -> None:
    admin.get(PAGE)
    with app.app_context():
        for name in ("measure", "check-backup", "purge"):
            run_scheduled(name)
    with statements(app) as seen:
        admin.get(PAGE)
    assert len(seen) <= 40


def test_merchandisers_do_not_see_it(signed_in) -> None:
    merchandiser = signed_in(Role.MERCHANDISER)
    assert merchandiser.client.get(PAGE, base_url=merchandiser.base).status_code == 403


def test_the_sentence_model_is_a_line(app: Flask, admin: PageClient) -> None:
    def shown(model: SentenceModel | None) -> str:
        engine = WhooshEngine(app.config["SHOP"].index_dir, model)
        app.extensions[EXTENSION] = dataclasses.replace(
            app.extensions[EXTENSION], search_engine=engine, sentence_model=model
        )
        return row(admin, "Sentence model")

    assert "Not installed" in shown(None)
    assert "make semantic" in shown(None)
    assert "Search settings" in shown(None)
    assert "Its file config.json is missing." in shown(Broken())
    assert "Not in use" in shown(WordSums())
    rebuild(WhooshEngine(app.config["SHOP"].index_dir, WordSums()), THINGS, site=1)
    assert "In use" in shown(WordSums())
    assert "sums of words; vectors of 5 of 5 products of this shop" in shown(WordSums())
    with app.app_context(), transaction():
        change_settings(1, {"search-by-meaning": False})
    assert "Off" in shown(WordSums())


def test_machines_are_listed_with_what_is_wrong_and_what_helps(
    app: Flask, admin: PageClient, clock: StoppedClock
) -> None:
    facts = MachineFacts("left", "1.0", "opensearch", "postgresql", "s3")
    with app.app_context(), transaction():
        machines.register(clock, "left00000000", facts)
    clock.move(minutes=2)
    with app.app_context(), transaction():
        machines.register(clock, ports.machine_id(), dataclasses.replace(facts, name="right"))
    assert "Silent" in row(admin, "left") and "machines forget left00000000" in row(admin, "left")
    assert "Runs" in row(admin, "right") and "(this one)" in row(admin, "right")
    with app.app_context(), transaction():
        machines.register(clock, "left00000000", dataclasses.replace(facts, engine="whoosh"))
    assert "In conflict" in row(admin, "right") and "It cannot run beside left" in row(admin, "right")


def test_a_fault_of_one_of_several_machines_names_it(app: Flask, admin: PageClient, clock: StoppedClock) -> None:
    facts = MachineFacts("left", "1.0", "opensearch", "postgresql", "s3")
    with app.app_context(), transaction():
        machines.register(clock, "left00000000", facts)
        raise_alert(clock, Cause.DISK_FULL, "12 MB left", machine="left00000000")
    page = "/admin"
    assert "Whole server" in admin.client.get(page, base_url=admin.base, follow_redirects=True).text
    with app.app_context(), transaction():
        machines.register(clock, "right0000000", dataclasses.replace(facts, name="right"))
    text = admin.client.get(page, base_url=admin.base, follow_redirects=True).text
    assert "Machine left" in text and "Whole server" not in text

"""Sitemaps are written by schedule, and soon for shops that have none."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask, current_app
from sqlalchemy import select

from app import ports
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap.store import SitemapStore
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db
from app.jobs.scheduled import SCHEDULED, SitesFailed, run_scheduled
from app.jobs.scheduler import Scheduler
from app.jobs.seo import SitemapWatch
from app.ports import STORES
from app.transaction import transaction
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_ids() -> list[int]:
    with transaction():
        return [make_site(host).id for host in ("one.test", "two.test", "three.test")]


def _with_sitemap(site_ids: list[int]) -> list[int]:
    return [site_id for site_id in site_ids if ports.sitemaps().files(site_id)]


def test_they_are_written_every_three_hours_or_as_a_setting_says(app: Flask) -> None:
    assert SCHEDULED["sitemaps"].current_times == "0 */3 * * *"
    app.config["SHOP"] = replace(app.config["SHOP"], sitemap_schedule="5 4 * * *")
    assert SCHEDULED["sitemaps"].current_times == "5 4 * * *"


def test_the_scheduler_keeps_to_the_setting(app: Flask, clock: StoppedClock) -> None:
    app.config["SHOP"] = replace(app.config["SHOP"], sitemap_schedule="30 * * * *")
    names: list[str] = []

    def in_background(name: str, _work: object) -> bool:
        names.append(name)
        return True

    scheduler = Scheduler(in_background)
    for _ in range(5):
        scheduler.look()
        clock.move(hours=1)
    assert names.count("sitemaps") == 4


@pytest.fixture
def public_site_ids(site_ids: list[int]) -> list[int]:
    """The others are staging sites."""
    with transaction():
        db.session.get_one(Site, site_ids[1]).staging = True
    return [site_ids[0], site_ids[2]]


def test_the_schedule_requests_one_of_a_worker_for_each_site_but_staging_ones(
    site_ids: list[int], public_site_ids: list[int], queue: RecordingQueue
) -> None:
    run_scheduled("sitemaps")
    requested = db.session.execute(select(SitemapBuild.site_id, SitemapBuild.id).order_by(SitemapBuild.site_id)).all()
    assert [site_id for site_id, _ in requested] == public_site_ids
    assert queue.jobs == [("seo:build_sitemap", (build_id,)) for _, build_id in requested]
    assert _with_sitemap(site_ids) == [], "the scheduler has other things to do"


def test_who_runs_the_job_by_hand_gets_them_at_once(site_ids: list[int], public_site_ids: list[int]) -> None:
    result = current_app.test_cli_runner().invoke(args=["jobs", "run", "sitemaps"])
    assert result.output.splitlines()[-1] == "sitemaps: done"
    assert _with_sitemap(site_ids) == public_site_ids


def test_a_site_that_fails_does_not_keep_the_others_from_theirs(app: Flask, site_ids: list[int]) -> None:
    """F45."""

    class FailsForTheFirst(SitemapStore):
        def start(self, site_id: int, build_id: str, attempt: int):
            if site_id == site_ids[0]:
                raise OSError(5, "Input/output error")
            return super().start(site_id, build_id, attempt)

    app.extensions[STORES] = replace(
        app.extensions[STORES], sitemaps=FailsForTheFirst(app.config["SHOP"].sitemap_folder)
    )
    with pytest.raises(SitesFailed, match=f"sitemaps failed for site {site_ids[0]}"):
        run_scheduled("sitemaps", is_by_hand=True)
    assert _with_sitemap(site_ids) == site_ids[1:]


def test_sites_without_one_are_noticed_within_seconds(
    site_ids: list[int], queue: RecordingQueue, clock: StoppedClock
) -> None:
    watch = SitemapWatch()
    watch.look()
    requested = db.session.scalars(select(SitemapBuild.id)).all()
    assert sorted(queue.jobs) == sorted(("seo:build_sitemap", (build_id,)) for build_id in requested)
    assert len(requested) == len(site_ids)
    watch.look()
    clock.move(minutes=1)
    watch.look()
    assert len(db.session.scalars(select(SitemapBuild.id)).all()) == len(site_ids)


def test_without_a_queue_the_scheduler_writes_them(site_ids: list[int], queue: RecordingQueue, clock: Clock) -> None:
    queue.down = True

    def at_once(_name: str, work) -> bool:
        work()
        return True

    scheduler = Scheduler(at_once)
    for _ in range(6):  # The first index of each shop comes first.
        scheduler.look()
        clock.move(seconds=timedelta(seconds=11).total_seconds())  # type: ignore[attr-defined]
    assert _with_sitemap(site_ids) == site_ids

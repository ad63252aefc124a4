"""Two machines with folders of their own on one database and one queue: each does what needs its disk."""

from __future__ import annotations

import io
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from flask import Flask
from PIL import Image
from sqlalchemy import select

from app import create_app
from app.adapters.mail import FolderMailer
from app.adapters.null_engine import NullEngine
from app.adapters.queue import RqQueue
from app.config import Config
from app.domain.alerts.alerts import alerts_of, open_alerts
from app.domain.alerts.models import Alert
from app.domain.catalogue import product_images
from app.domain.catalogue.models import PictureUpload, ProductImage
from app.domain.machines import machines
from app.domain.machines.coexistence import MachineFacts
from app.domain.machines.identity import MachineFile
from app.domain.search.engine import EngineFault, SearchEngine
from app.domain.seo.models import SitemapBuild
from app.domain.seo.sitemap import builds
from app.domain.shared.author import Author
from app.domain.system.job_runs import JobRun
from app.domain.work import leases
from app.extensions import db
from app.jobs.catalogue import prepare_picture
from app.jobs.heartbeat import Heartbeat
from app.jobs.machine import MachineWatch
from app.jobs.scheduler import Scheduler
from app.jobs.search import heal
from app.ports import EXTENSION, Ports, images, machine_id
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.failing_engine import FailingEngine
from tests.ready_app import config_for
from tests.searching import add_product, add_site
from worker import make_worker

pytestmark = pytest.mark.parametrize("database_kind", ["postgresql"], indirect=True)


@dataclass
class Place:
    """A machine: its application in a folder of its own."""

    app: Flask
    clock: StoppedClock

    @contextmanager
    def entered(self) -> Iterator[None]:
        with self.app.app_context():
            try:
                yield
            finally:
                db.session.remove()

    @property
    def id(self) -> str:
        with self.entered():
            return machine_id()

    def work(self) -> None:
        """Let a worker of this machine do all jobs that it finds, in a process of its own."""
        with self.entered():
            worker = make_worker(self.app, ["default", "builds"])
        process = multiprocessing.get_context("fork").Process(target=worker.work, kwargs={"burst": True})
        process.start()
        process.join(120)
        assert process.exitcode == 0


@pytest.fixture
def machine(database_url: str, redis_url: str, clock: StoppedClock, tmp_path: Path) -> Iterator[Callable[[str], Place]]:
    made: list[Flask] = []

    def make(name: str) -> Place:
        folder = tmp_path / name
        config = replace(config_for(database_url, folder), redis_url=redis_url, alert_free_disk_mb=1)
        file = MachineFile(config.machine_file)
        queue = RqQueue(redis_url, config.queue_prefix, lambda: file.id)
        ports = Ports(NullEngine(), clock, queue, mailer=FolderMailer(config.mail_folder))
        made.append(create_app(config, ports, surfaces=False))  # Not a copy: those share their configuration.
        return Place(made[-1], clock)

    yield make
    for app in made:
        with app.app_context():
            db.session.remove()
            db.engine.dispose()


@pytest.fixture
def left(machine: Callable[[str], Place]) -> Place:
    return machine("left")


@pytest.fixture
def right(machine: Callable[[str], Place]) -> Place:
    return machine("right")


@pytest.fixture
def product(left: Place) -> tuple[int, int]:
    """The ids of a site and its product."""
    with left.entered(), transaction():
        site_id = add_site().id
        return site_id, add_product(site_id, "tent").id


def upload(place: Place, product: tuple[int, int], shade: int) -> None:
    data = io.BytesIO()
    Image.new("RGB", (8, 8), (shade, shade, shade)).save(data, "PNG")
    site_id, product_id = product
    author = Author(site_id, "Mia", place.clock)
    with (
        place.entered(),
        product_images.receive_upload(images(), site_id, data.getvalue()) as file,
        transaction(),
    ):
        product_images.request_upload(author, product_id, file, "tent.png", "", machine_id())


def outcomes(place: Place) -> Counter[tuple[str, str, str | None]]:
    with place.entered():
        rows = db.session.execute(select(PictureUpload.machine, PictureUpload.state, PictureUpload.error))
        return Counter(tuple(row) for row in rows)


def test_pictures_are_drawn_where_they_were_uploaded(left: Place, right: Place, product: tuple[int, int]) -> None:
    for number in range(6):
        upload((left, right)[number % 2], product, number * 40)
    left.work()
    assert outcomes(left) == {(left.id, "done", None): 3, (right.id, "waiting", None): 3}
    right.work()
    assert outcomes(left) == {(left.id, "done", None): 3, (right.id, "done", None): 3}
    with left.entered():
        files = set(db.session.scalars(select(ProductImage.file)))
    kept = [{path.name for path in config.media_dir.rglob("*.webp")} & files for config in configs(left, right)]
    assert [len(each) for each in kept] == [3, 3] and kept[0] | kept[1] == files


def configs(*places: Place) -> list[Config]:
    return [place.app.config["SHOP"] for place in places]


def test_an_upload_that_the_other_is_asked_for_is_left_alone(
    left: Place, right: Place, product: tuple[int, int]
) -> None:
    """As a job in a queue that both serve would have it."""
    upload(left, product, 0)
    with right.entered():
        upload_id = db.session.scalars(select(PictureUpload.id)).one()
        assert leases.free_keys(product_images.UPLOAD_WORK, right.clock, machine_id()) == []
        db.session.rollback()
        assert not prepare_picture(upload_id)
    assert outcomes(left) == {(left.id, "waiting", None): 1}


def test_each_machine_writes_its_own_sitemap(left: Place, right: Place, product: tuple[int, int]) -> None:
    for place in (left, right):
        with place.entered(), transaction():
            machines.register(place.clock, machine_id(), MachineFacts("x", "1", "opensearch", "postgresql", "s3"))
    with left.entered(), transaction():
        builds.request_build_everywhere(Author(product[0], "Mia", left.clock), machine_id())
    left.work()
    right.work()
    assert all(
        (config.sitemap_folder / str(product[0]) / "current" / "sitemap.xml").exists()
        for config in configs(left, right)
    )
    with left.entered():
        assert set(db.session.scalars(select(SitemapBuild.state))) == {"done"}


def test_an_alert_is_ended_by_the_machine_that_raised_it_alone(left: Place, right: Place) -> None:
    for name, place in (("left", left), ("right", right)):
        with place.entered(), transaction():
            machines.register(place.clock, machine_id(), MachineFacts(name, "1", "opensearch", "postgresql", "s3"))
    left.app.config["SHOP"] = replace(left.app.config["SHOP"], alert_free_disk_mb=10**9)
    left.app.config["SHOP"].index_dir.mkdir(parents=True)
    watches = []
    for place in (left, right):
        with place.entered():
            watches.append((place, MachineWatch()))
    look(watches, 3)
    assert labels(right) == ["left"]
    look(watches, 30)
    assert labels(right) == ["left"], "the other disk is not full"
    left.app.config["SHOP"] = replace(left.app.config["SHOP"], alert_free_disk_mb=1)
    look(watches, 30)
    assert labels(right) == []


def test_a_machine_that_comes_back_beside_one_that_it_cannot_run_with_says_so_until_one_is_stopped(
    left: Place, right: Place, clock: StoppedClock
) -> None:
    """Neither was refused: the first was silent as the second started."""
    facts = MachineFacts("", "1", "whoosh", "postgresql", "files")
    heartbeats = [(place, Heartbeat()) for place in (left, right)]
    for name, place in (("left", left), ("right", right)):
        with place.entered(), transaction():
            machines.register(clock, machine_id(), replace(facts, name=name))
        clock.move(minutes=2)
    watches = []
    for place in (left, right):
        with place.entered():
            watches.append((place, MachineWatch()))
    beat(heartbeats)
    look(watches, 1)
    assert sorted(labels(left, "machines_in_conflict")) == ["left", "right"]
    with left.entered():
        assert all("set SEARCH_ENGINE to opensearch" in alert.detail for alert in open_alerts(None))
    for _ in range(15):
        beat(heartbeats[:1])
        look(watches[:1], 1)
    assert labels(left, "machines_in_conflict") == ["right"], "that machine ends its own"
    beat(heartbeats[1:])
    clock.move(minutes=2)
    look(watches[1:], 10)
    assert labels(left, "machines_in_conflict") == []


def beat(heartbeats: list[tuple[Place, Heartbeat]]) -> None:
    for place, heartbeat in heartbeats:
        with place.entered():
            heartbeat.look()


def test_an_engine_that_one_machine_does_not_reach_is_said_until_that_one_reaches_it(
    left: Place, right: Place, product: tuple[int, int]
) -> None:
    for name, place in (("left", left), ("right", right)):
        with place.entered(), transaction():
            machines.register(place.clock, machine_id(), MachineFacts(name, "1", "opensearch", "postgresql", "s3"))
    engine = FailingEngine(NullEngine(), EngineFault.UNREACHABLE)
    set_engine(left, engine)
    set_engine(right, FailingEngine(NullEngine()))
    for _ in range(3):
        for place in (left, right):
            with place.entered():
                heal()
        left.clock.move(seconds=1)
    assert labels(right, "search_engine_failing") == ["left"]
    with left.entered():
        assert [alert.times for alert in db.session.scalars(select(Alert))] == [1]
        engine.fault = None
        heal()
    assert labels(right, "search_engine_failing") == []


def set_engine(place: Place, engine: SearchEngine) -> None:
    place.app.extensions[EXTENSION] = replace(place.app.extensions[EXTENSION], search_engine=engine)


def look(watches: list[tuple[Place, MachineWatch]], times: int) -> None:
    for _ in range(times):
        watches[0][0].clock.move(seconds=10)
        for place, watch in watches:
            with place.entered():
                watch.look()


def labels(place: Place, cause: str = "disk_full") -> list[str | None]:
    """The names of the machines that have the fault, as the dashboard of a machine shows them."""
    with place.entered():
        found = [alert for alert in alerts_of(place.clock, 0, with_machine=True) if alert.cause.key == cause]
        assert len(found) == len([alert for alert in open_alerts(None) if alert.cause == cause])
        return [alert.machine for alert in found]


def test_what_concerns_a_machine_runs_on_each_and_all_else_once(left: Place, right: Place, clock: StoppedClock) -> None:
    begun: Counter[str] = Counter()

    def run(name: str, work: Callable[[], object]) -> bool:
        begun[name] += 1
        work()
        return True

    schedulers = []
    for place in (left, right):
        with place.entered():
            schedulers.append((place, Scheduler(run)))
    for _ in range(3):
        for place, scheduler in schedulers:
            with place.entered():
                scheduler.look()
        clock.move(hours=1)
    assert {name: begun[name] for name in ("measure", "check-backup", "count-sales", "pos-sessions")} == {
        "measure": 4,
        "check-backup": 4,
        "count-sales": 2,
        "pos-sessions": 2,
    }
    with left.entered():
        noted = set(db.session.scalars(select(JobRun.job)))
    assert {f"measure@{left.id}", f"measure@{right.id}", "count-sales"} <= noted

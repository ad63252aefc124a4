"""One deed of a shop in a process of its own: `python -m tests.faults.act DEED [ARGUMENT]`.

The shop is the one that the environment names, its engine the real one with the fault that FAULT describes.
What was acknowledged to the outside is printed, a line each, the moment it is.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from flask import Flask
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app import create_app
from app.adapters.clock import SystemClock
from app.adapters.images import FileImages
from app.adapters.queue import NoQueue, RqQueue
from app.adapters.whoosh import WhooshEngine
from app.config import from_environment
from app.domain.catalogue.models import Product
from app.domain.search.index import runs
from app.domain.shared.problems import StaleRevision
from app.domain.sites.models import Site
from app.domain.taxonomy.life import activation, saving
from app.domain.taxonomy.tasks import running
from app.domain.taxonomy.taxonomies import taxonomy_of
from app.extensions import db
from app.jobs import events, indexing
from app.jobs.scheduled import SCHEDULED
from app.ports import Ports, clock, search_engine
from app.transaction import transaction
from tests.faults.faulty_engine import FaultyEngine
from tests.faults.killed_in_database import kill_at
from tests.searching import add_product
from worker import make_worker

shop_of_this_process: Flask


def shop() -> Flask:
    config = from_environment()
    engine = FaultyEngine(WhooshEngine(config.index_dir), os.environ.get("FAULT", ""))
    queue = RqQueue(config.redis_url, config.queue_prefix) if config.redis_url else NoQueue()
    return create_app(config, Ports(engine, SystemClock(), queue, FileImages(config.media_dir)))


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def site_id() -> int:
    return db.session.scalars(select(Site.id).order_by(Site.id)).first() or 0


def ask() -> str:
    with transaction():
        run, joined = runs.request_rebuild(clock(), search_engine(), site_id(), "PRODUCTS", "tests")
        run_id = run.id
    say("joined" if joined else "asked", run_id)
    return run_id


def rebuild() -> None:
    indexing.rebuild(ask())


def build() -> None:
    """What waits already."""
    for run in runs.waiting_runs():
        indexing.rebuild(run.id)


def ask_often(times: str) -> None:
    """From several threads at once."""
    application = shop_of_this_process

    def press() -> None:
        with application.app_context():
            for _ in range(int(times) // 5):
                ask()

    threads = [threading.Thread(target=press) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def save(times: str) -> None:
    """Creates, changes and deletes products, and says so after each commit; `0` goes on until killed."""
    for done in saves(int(times), lambda doing: say("about", doing)):
        say(done)
        time.sleep(0.005)  # Others want to write as well.


def saves(times: int, announce: Callable[[str], object] = str) -> Iterator[str]:
    """What was done, each announced before its commit and told after it, or refused by the database; 0 times is for
    ever."""
    rng = random.Random()
    known = list(db.session.scalars(select(Product.sku)))
    for number in itertools.count() if times == 0 else range(times):
        try:
            with transaction():
                done = save_one(rng, known, f"new-{number}-{rng.randrange(10**12)}")
                announce(done)
        except OperationalError as refused:
            db.session.rollback()
            done = f"refused {refused.orig}"
        yield done


def save_one(rng: random.Random, known: list[str], sku: str) -> str:
    """Products are known by SKU: SQLite gives the id of a deleted one to the next, which may be another saver's."""
    product = db.session.scalar(select(Product).where(Product.sku == rng.choice(known)))
    if product is None or rng.random() < 0.4:
        add_product(site_id(), sku, f"name-{sku}")
        known.append(sku)
        return f"saved {sku} name-{sku}"
    if rng.random() < 0.2:
        db.session.delete(product)
        return f"deleted {product.sku}"
    product.name = f"name-{sku}"
    return f"saved {product.sku} {product.name}"


def apply() -> None:
    indexing.apply_outbox(site_id())
    say("applied")


def lock(seconds: str) -> None:
    with transaction():
        say("locked")
        time.sleep(float(seconds))


def work(kind: str) -> None:
    make_worker(shop_of_this_process, [kind]).work(logging_level="WARNING")


def job(name: str) -> None:
    SCHEDULED[name].run()
    say("done")


def activate(point: str) -> None:
    """Switches to the taxonomy `garden`, and is killed at a point (tests/faults/killed_in_database.py)."""
    db.session.rollback()
    kill_at(point)
    with transaction():
        activation.activate(clock(), 1, "garden", "Garden", "tests")
    say("activated")


def save_structure(point: str) -> None:
    """Saves the active taxonomy `camping` with another level, and is killed at a point."""
    taxonomy = taxonomy_of(1, "camping")
    revision, levels = taxonomy.revision, [*taxonomy.root_levels, {"name": "Added"}]
    prepared = saving.prepare(1, "camping", revision, "Camping", "", levels)
    kill_at(point)
    with transaction():
        saving.store(clock(), prepared, "tests")
    say("saved")


def save_structure_often(times: str) -> None:
    """From ten threads at once, each on the revision that it read a moment before."""
    application = shop_of_this_process

    def save_mine(thread: int) -> None:
        with application.app_context():
            for number in range(int(times)):
                say(_saved_structure(f"by-{os.getpid()}-{thread}-{number}"))

    threads = [threading.Thread(target=save_mine, args=(thread,)) for thread in range(10)]
    for started in threads:
        started.start()
    for started in threads:
        started.join()


def _saved_structure(level_id: str) -> str:
    taxonomy = taxonomy_of(1, "camping")
    revision, levels = taxonomy.revision, [*taxonomy.root_levels, {"levelId": level_id, "name": level_id}]
    try:
        prepared = saving.prepare(1, "camping", revision, "Camping", "", levels)
        with transaction():
            saving.store(clock(), prepared, level_id)
    except StaleRevision as stale:
        db.session.rollback()
        return f"stale {stale.current_revision} {level_id}"
    except OperationalError as refused:
        return f"refused {refused.orig}"
    return f"saved {revision + 1} {level_id}"


def deliver(point: str) -> None:
    """Follows up what waits, and is killed at a point."""
    kill_at(point)
    events.deliver()
    say("delivered")


def work_off_tasks(point: str, batch: str) -> None:
    """Does the site's tasks, so many products at a time, and is killed at a point."""
    kill_at(point)
    running.work_off(running.Means(clock(), transaction, batch=int(batch)), 1)
    say("worked")


DEEDS: dict[str, Callable[..., object]] = {
    deed.__name__: deed
    for deed in (
        ask,
        ask_often,
        build,
        rebuild,
        save,
        apply,
        lock,
        work,
        job,
        activate,
        save_structure,
        save_structure_often,
        deliver,
        work_off_tasks,
    )
}


def main(arguments: Sequence[str]) -> None:
    global shop_of_this_process
    shop_of_this_process = shop()
    with shop_of_this_process.app_context():
        DEEDS[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])

"""One deed of a shop in a process of its own.

The shop is the one that the environment names, its engine the real one with the fault that FAULT describes.
What was acknowledged to the outside is printed, a line each, the moment it is.
"""

from __future__ import annotations

import gc
import itertools
import logging
import os
import random
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from flask import Flask
from flask.cli import ScriptInfo
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm.exc import StaleDataError
from werkzeug.serving import make_server

from app.domain.alerts import alerts
from app.domain.catalogue.models import Product
from app.domain.search.index import runs
from app.domain.search.index.runs import REBUILD
from app.domain.shared.author import Author
from app.domain.shared.problems import StaleRevision
from app.domain.taxonomy.saves import prepare, store
from app.domain.taxonomy.taxonomies import taxonomy_of
from app.domain.work import leases
from app.extensions import db
from app.jobs import commands, leased, machine, search
from app.jobs.scheduled import run_scheduled
from app.ports import STORES, clock, search_engine, worker_locks
from app.transaction import transaction
from app.web.server.server import WebServer
from tests.fakes.rate_limits import NoRateLimits
from tests.faults import killed_deeds
from tests.faults.acting import say, shop, site_id
from tests.faults.faulty_engine import FaultyEngine
from tests.injected_faults import injected
from tests.searching import add_product
from worker import make_worker

shop_of_this_process: Flask


def request_rebuild(scope: str = "PRODUCTS") -> str:
    with transaction():
        author = Author(site_id(), "tests", clock())
        run, joined = runs.request_rebuild(author, search_engine(), worker_locks(), scope)
        run_id = run.id
    say("joined" if joined else "asked", run_id)
    return run_id


def rebuild(scope: str = "PRODUCTS") -> None:
    search.rebuild(request_rebuild(scope))


def save_and_rebuild() -> None:
    save("1")
    rebuild()
    save("1")


def build() -> None:
    """What waits already."""
    for run_id in leases.free_keys(REBUILD, clock()):
        search.rebuild(run_id)


def request_often(times: str) -> None:
    """From several threads at once."""
    application = shop_of_this_process

    def press() -> None:
        with application.app_context():
            for _ in range(int(times) // 5):
                request_rebuild()

    threads = [threading.Thread(target=press) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def create(times: str) -> None:
    """New products, and nothing that is there already."""
    for number in range(int(times)):
        with transaction():
            add_product(site_id(), sku := f"created-{os.getpid()}-{number}", f"name-{sku}")
        say("saved", sku, f"name-{sku}")


def save(times: str) -> None:
    """Creates, changes and deletes products, and says so after each commit; `0` goes on until killed."""
    for done in saves(int(times), lambda doing: say("about", doing)):
        say(done)
        time.sleep(0.005)  # Others want to write as well.


def saves(times: int, announce: Callable[[str], object] = str) -> Iterator[str]:
    """What was done, each announced before its commit and told after it, or refused by the database, or overtaken by
    another saver; 0 times is for ever. Touches what the shop began with and its own products: what another saver made
    has one teller."""
    rng = random.Random()
    known = list(db.session.scalars(select(Product.sku).where(Product.sku.startswith("sku-"))))
    for number in itertools.count() if times == 0 else range(times):
        try:
            with transaction():
                done = save_one(rng, known, f"new-{number}-{rng.randrange(10**12)}")
                announce(done)
        except OperationalError as refused:
            db.session.rollback()
            done = f"refused {refused.orig}"
        except StaleDataError as overtaken:  # On PostgreSQL another saver may delete what this one has read.
            done = f"overtaken {overtaken}"
        yield done


def save_one(rng: random.Random, known: list[str], sku: str) -> str:
    """Products are known by SKU: SQLite gives the id of a deleted one to the next, which may be another saver's."""
    product = db.session.scalar(select(Product).where(Product.sku == rng.choice(known or [sku])))
    if product is None or rng.random() < 0.4:
        add_product(site_id(), sku, f"name-{sku}")
        known.append(sku)
        return f"saved {sku} name-{sku}"
    if rng.random() < 0.2:
        db.session.delete(product)
        return f"deleted {product.sku}"
    product.name = f"name-{sku}"
    return f"saved {product.sku} {product.name}"


def rebuild_without_memory(point: str) -> None:
    """From that point on the process gets no more than it has."""
    engine = search_engine()
    assert isinstance(engine, FaultyEngine)
    engine.plan(point, _take_no_more_memory)
    rebuild()


def _take_no_more_memory() -> None:
    injected()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
    gc.collect()


def apply() -> None:
    search.apply_outbox(site_id())
    say("applied")


def browse() -> None:
    """Looks at the shop as a shopper and a monitor do, and says what they are answered whenever that changes."""
    client, known = shop_of_this_process.test_client(), ""
    while True:
        paths = {"search": "/search?q=name", "category": "/c/all?uncached=1", "ready": "/readyz"}
        statuses = {name: client.get(path, base_url="http://shop.test").status_code for name, path in paths.items()}
        seen = " ".join(f"{name} {status}" for name, status in statuses.items())
        if seen != known:
            known = seen
            say(seen)
        time.sleep(0.05)


def lock(seconds: str) -> None:
    with transaction():
        say("locked")
        injected()
        time.sleep(float(seconds))


def work(kind: str) -> None:
    make_worker(shop_of_this_process, [kind]).work(logging_level="WARNING")


def work_restlessly(kind: str) -> None:
    """A worker that speaks to the queue every second, not only when a job comes or half a minute has passed."""
    worker = make_worker(shop_of_this_process, [kind])
    worker.worker_ttl = 16
    worker.work(logging_level="WARNING")


def scheduler() -> None:
    application = shop_of_this_process
    application.cli.main(["scheduler"], obj=ScriptInfo(create_app=lambda: application))


def eager_scheduler() -> None:
    """The scheduler, which looks five times a second and requests forgotten work again after one, for tests that are
    not about how soon it does."""
    commands.SECONDS_BETWEEN_LOOKS = 0.2
    leased.REQUEST_AGAIN_AFTER = 1.0
    scheduler()


def watch_machine() -> None:
    """The scheduler, which looks at the machine all the time and believes at once what it sees."""
    machine.BETWEEN_LOOKS, machine.CALM = 0.2, timedelta(seconds=1)
    machine.DATABASE_MAY_PAUSE = machine.QUEUE_MAY_PAUSE = machine.WORKERS_MAY_PAUSE = 0.5
    alerts.SENT_AFTER = timedelta(seconds=0.5)
    eager_scheduler()


def serve() -> None:
    """Answers requests; says its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # Without a line for each request.
    server = make_server("127.0.0.1", 0, shop_of_this_process, threaded=True)
    say(f"http://127.0.0.1:{server.server_port}")
    server.serve_forever()


def serve_tills(port: str) -> None:
    """The shop's web server, for tills that may ask as often as they like."""
    stores = shop_of_this_process.extensions[STORES]
    shop_of_this_process.extensions[STORES] = replace(stores, memory=NoRateLimits())
    listener = socket.create_server(("127.0.0.1", int(port)))
    server = WebServer(shop_of_this_process, listener)
    say("serves")
    server.run()


def job(name: str) -> None:
    run_scheduled(name)
    say("done")


def save_structure_often(times: str) -> None:
    """From ten threads at once, each on the revision that it read a moment before."""
    application = shop_of_this_process
    # On a busy machine the last of so many may wait longer than the shop lets anybody wait.
    event.listen(db.engine, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout=60000"))

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
        prepared = prepare(1, "camping", revision, "Camping", "", levels)
        with transaction():
            store(Author(1, level_id, clock()), prepared)
    except StaleRevision as stale:
        db.session.rollback()
        return f"stale {stale.current_revision} {level_id}"
    except OperationalError as refused:
        return f"refused {refused.orig}"
    return f"saved {revision + 1} {level_id}"


DEEDS: dict[str, Callable[..., object]] = {
    deed.__name__: deed
    for deed in (
        request_rebuild,
        request_often,
        build,
        rebuild,
        rebuild_without_memory,
        save_and_rebuild,
        create,
        save,
        apply,
        browse,
        lock,
        work,
        work_restlessly,
        scheduler,
        eager_scheduler,
        watch_machine,
        serve,
        serve_tills,
        job,
        save_structure_often,
        *killed_deeds.DEEDS,
    )
}


def main(arguments: Sequence[str]) -> None:
    global shop_of_this_process
    shop_of_this_process = shop()
    with shop_of_this_process.app_context():
        DEEDS[arguments[0]](*arguments[1:])

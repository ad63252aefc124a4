"""The goals of load, of a shop of 10,000 made-up products that runs as `make run` starts it.

Requests arrive at a constant rate (bench/arrivals.py). Each figure stands beside a multiple of a bare page at the
same rate in the same run, which comes to the goal where a bare page takes two milliseconds; a line of JSON compares the
figure with the goal itself, for information."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flask import Flask
from sqlalchemy import select

from app import create_app, ports
from app.config import REDIS_ADDRESS_FILE, from_environment
from app.domain.catalogue.models import Product
from app.domain.search.index import runs
from app.domain.search.models import RebuildRun
from app.domain.shared.author import Author
from app.domain.sites.sites import site_at
from app.extensions import db
from app.transaction import transaction
from bench import made_up
from bench.admin_client import AdminClient, signed_in
from bench.arrivals import Answer, Request, arrive, crowd, send_request
from bench.bare_page import choices_for
from bench.measuring import Yardstick, at_most, heading, median, one_of_all, percentile, run, sized, workspace
from bench.shop import SECRET_KEY, settings
from bench.till import AMOUNT, LOCATION, Signed, open_till
from bench.web_load import server, wait_for
from bench.web_memory import growth, web_processes
from bench.yardsticks import PAGE_BYTES, bare_commit, durable_write_and_page
from tests.processes import RunningShop

HOST = "load.localhost"
PRODUCTS = sized(10_000)
SECONDS = 6 if one_of_all() else 20
JUNK = 10_000 if one_of_all() else sized(100_000)
SAVED = 20 if one_of_all() else 100
QUICK, CALM = 100, 40  # Pages a second.
SAVES, INTENTS, AGENTS = 20, 5, 12
CLIENTS = 10
TREE_BYTES = 8_000_000
NOTHING = Yardstick("the goal", 0, "")
# Times a bare page at the same rate, a bare page and a commit, and a durable write and a page for 10,000 products.
IDLE, REBUILDING, REBUILDING_P99, WRITES, FINDABLE, REBUILD = 75, 125, 250, 100, 1_000, 3_000
SLOWED = 2


def main() -> None:
    with workspace() as directory:
        bare = {rate: _bare(directory, rate) for rate in (QUICK, CALM)}
        with _running_shop(directory) as (shop, app), app.app_context():
            site_id = site_at(HOST).id
            _storefront(shop, app, site_id, bare, durable_write_and_page(directory))
            page_and_commit = Yardstick("a bare page and commit", bare[CALM].value + bare_commit().value, "ms")
            admin = signed_in(shop.port, HOST, site_id)
            _writes(shop, admin, open_till(site_id, AGENTS), site_id, page_and_commit)
            _findable(shop, admin, site_id, page_and_commit)
            _memory(shop, admin)


def goal(name: str, value: float, limit: Yardstick, at_best: float) -> None:
    """A figure beside its limit, and a line that compares it with the goal."""
    kept = at_most(name, value, limit)
    compared = {"goal": name, "at most": round(at_best, 3), "measured": round(value, 3), "unit": limit.unit}
    share = round(value / limit.limit, 3) if limit.limit else None
    verdict = {"met": value <= at_best, "limit": str(limit), "share of limit": share, "limit kept": kept}
    print(json.dumps(compared | verdict), flush=True)


def _bare(directory: Path, rate: int) -> Yardstick:
    request = Request(f"/?choices={choices_for(PAGE_BYTES)}", headers={"Host": HOST})
    with server("bench.bare_page:app", settings(directory)) as port:
        wait_for(port, HOST, request.path)
        arrive(port, itertools.repeat(request), rate, 2)
        times = _times(arrive(port, itertools.repeat(request), rate, SECONDS / 2))
    return Yardstick(f"a bare page at {rate} a second", median(times), "ms")


def _times(answers: Sequence[Answer]) -> list[float]:
    return [answer.milliseconds for answer in answers]


def _failed(answers: Sequence[Answer]) -> int:
    return sum(answer.status == 0 or answer.status >= 500 for answer in answers)


def _pages(seed: int) -> Iterator[Request]:
    return (Request(path, headers={"Host": HOST}) for path in made_up.pages(seed))


def _storefront(shop: RunningShop, app: Flask, site_id: int, bare: dict[int, Yardstick], durable: Yardstick) -> None:
    heading(f"Storefront, {PRODUCTS:,} products, categories with facets and searches")
    arrive(shop.port, _pages(1), CALM, 5)  # What is seen for the first time takes longer.
    quick, calm = (arrive(shop.port, _pages(rate), rate, SECONDS) for rate in (QUICK, CALM))
    goal(f"a page at {QUICK} a second, p95", percentile(_times(quick), 0.95), IDLE * bare[QUICK], 150)
    with _rebuilding(app, site_id) as took:
        meanwhile = arrive(shop.port, _pages(3), CALM, SECONDS)
    times = _times(meanwhile)
    name = f"a page at {CALM} a second while the index is rebuilt"
    goal(f"{name}, p95", percentile(times, 0.95), REBUILDING * bare[CALM], 250)
    goal(f"{name}, p99", percentile(times, 0.99), REBUILDING_P99 * bare[CALM], 500)
    # Every third page is a search.
    before = Yardstick("before", percentile(_times(calm)[2::3], 0.95), "ms")
    slower = percentile(times[2::3], 0.95)
    goal("a search meanwhile, p95", slower, SLOWED * before, SLOWED * before.value)
    seconds = Yardstick(durable.name, durable.value / 1000 * PRODUCTS / 10_000, "s")
    goal(f"{PRODUCTS:,} products rebuilt meanwhile", max(took), REBUILD * seconds, 30)
    goal("pages that failed", _failed([*quick, *calm, *meanwhile]), NOTHING, 0)


@contextmanager
def _rebuilding(app: Flask, site_id: int) -> Iterator[list[float]]:
    """One rebuild after the other; the seconds that each took, by its record."""
    took: list[float] = []
    done = threading.Event()

    def rebuild() -> None:
        with app.app_context():
            while not done.is_set():
                took.append(_rebuilt(site_id))

    thread = threading.Thread(target=rebuild)
    thread.start()
    try:
        yield took
    finally:
        done.set()
        thread.join()


def _rebuilt(site_id: int) -> float:
    author = Author(site_id, "Benchmark", ports.clock())
    with transaction():
        run_id = runs.request_rebuild(author, ports.search_engine(), ports.worker_locks(), "PRODUCTS")[0].id
    while True:
        db.session.rollback()
        rebuild = db.session.get_one(RebuildRun, run_id, populate_existing=True)
        if rebuild.finished_at and rebuild.started_at:
            assert rebuild.state == "done", rebuild.error
            return (rebuild.finished_at - rebuild.started_at).total_seconds()
        time.sleep(0.2)


def _writes(shop: RunningShop, admin: AdminClient, agents: Sequence[Signed], site_id: int, bare: Yardstick) -> None:
    heading(f"{SAVES} saves in the admin and {INTENTS} payments at tills a second")
    ids = list(db.session.scalars(select(Product.id).where(Product.site_id == site_id)))
    chance = random.Random(5)
    saves = (admin.add_terms(chance.choice(ids), f"word{number}") for number in itertools.count())
    intents = (_intent(agents[number % AGENTS]) for number in itertools.count())
    every = SAVES // INTENTS + 1
    both = (next(intents) if number % every == 0 else next(saves) for number in itertools.count())
    answers = arrive(shop.port, both, SAVES + INTENTS, SECONDS)
    paid, saved = answers[::every], [answer for place, answer in enumerate(answers) if place % every]
    goal("a save, p95", percentile(_times(saved), 0.95), WRITES * bare, 300)
    goal("a payment begun, p95", percentile(_times(paid), 0.95), WRITES * bare, 300)
    statuses = Counter(answer.status for answer in answers)
    print(f"     answers by status: {dict(statuses)}")
    goal("saves and payments that were refused", len(answers) - statuses[200] - statuses[201], NOTHING, 0)


def _intent(agent: Signed) -> Request:
    headers = {"Host": HOST, "Content-Type": "application/json", **agent.headers}
    body = json.dumps({"amountInPence": AMOUNT, "currency": "gbp"}).encode()
    return Request(f"/v1/pos/{LOCATION}/paymentIntents", "POST", headers, body)


def _findable(shop: RunningShop, admin: AdminClient, site_id: int, bare: Yardstick) -> None:
    heading("From a save in the admin to the search that finds it")
    ids = itertools.cycle(db.session.scalars(select(Product.id).where(Product.site_id == site_id).limit(SAVED)))
    waits = [_seconds_until_found(shop, admin, next(ids)) for _ in range(SAVED)]
    seconds = Yardstick(bare.name, bare.value / 1000, "s")
    goal("a saved product found, p99", percentile(waits, 0.99), FINDABLE * seconds, 3)


def _seconds_until_found(shop: RunningShop, admin: AdminClient, product_id: int) -> float:
    word = "".join(random.choices("bcdfghjklmnpqrstvwxz", k=16))
    assert send_request(shop.port, admin.add_terms(product_id, word)).status == 200
    saved = time.perf_counter()
    search = Request(f"/search?q={word}", headers={"Host": HOST})
    while b"<strong>1</strong>" not in send_request(shop.port, search).content:
        if time.perf_counter() - saved > 120:
            raise SystemExit(f"{word} was not findable within two minutes.")
        time.sleep(0.01)
    return time.perf_counter() - saved


def _memory(shop: RunningShop, admin: AdminClient) -> None:
    heading("Memory of the web processes, of the one that grows most")
    junk = (f"{path}?p{number}=v{number}" for number, path in enumerate(itertools.cycle(made_up.categories())))
    requests = [Request(path, headers={"Host": HOST}) for path in itertools.islice(junk, JUNK)]
    processes = web_processes(shop.pid)
    crowd(shop.port, requests[: JUNK // 20], CLIENTS)
    answers: list[Answer] = []
    grown = growth(processes, lambda: answers.extend(crowd(shop.port, requests[JUNK // 20 :], CLIENTS)))
    goal(f"after {JUNK:,} addresses with invented parameters", grown, Yardstick("the goal", 20, "MB"), 20)
    grown = growth(processes, lambda: answers.append(send_request(shop.port, admin.structure(TREE_BYTES))), peak=True)
    goal("at most, while a tree of 8 MB is saved", grown, Yardstick("the goal", 100, "MB"), 100)
    print(f"     the tree was answered {answers[-1].status}: {answers[-1].content[:120]!r}")
    goal("requests that failed", _failed(answers), NOTHING, 0)


@contextmanager
def _running_shop(directory: Path) -> Iterator[tuple[RunningShop, Flask]]:
    shop = RunningShop(directory, SECRET_KEY=SECRET_KEY, WEB_WORKERS="2").start()
    try:
        bundle = made_up.write_bundle(directory / "bundle", HOST, PRODUCTS)
        for command in (["bundle", "import", str(bundle)], ["index", "rebuild", "--site", HOST, "--wait"]):
            done = shop.flask(*command)
            if done.returncode:
                raise SystemExit(done.stdout + done.stderr)
        instance = directory / "instance"
        queue = (instance / REDIS_ADDRESS_FILE).read_text().strip()
        yield shop, create_app(from_environment(settings(instance) | {"REDIS_URL": queue}))
    finally:
        shop.stop()


if __name__ == "__main__":
    run(main)

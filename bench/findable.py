"""From a save to the page that shows it: the shop as it really runs, with its worker and queue, over HTTP."""

from __future__ import annotations

import http.client
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from flask import Flask
from sqlalchemy import select

from app import create_app
from app.config import REDIS_ADDRESS_FILE, from_environment
from app.domain.catalogue import terms
from app.domain.catalogue.models import Product
from app.domain.merchandising.shop import FRESH
from app.domain.shared.author import Author
from app.domain.sites.sites import site_at
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from bench.catalogue import icecat
from bench.measuring import Yardstick, at_most, heading, median, percentile, run, sized, workspace
from bench.shop import settings
from bench.yardsticks import bare_commit
from tests.processes import RunningShop

HOST = "icecat.localhost"
SAVES = 60
BURST, BURSTS = sized(5_000), 3
SAVED, SLOWEST_SAVE, HUNDRED, ALL, MEANWHILE = 12, 150, 250, 3_000, 5
WAIT = 0.01  # Seconds between two looks.


def main() -> None:
    heading("From a save to the page that shows it, 19,406 products, all processes running")
    with _running_shop() as (shop, app), app.app_context():
        site_id = site_at(HOST).id
        products = list(db.session.scalars(select(Product.id).where(Product.site_id == site_id).limit(BURST)))
        idle = median(itertools.islice(_page_times(shop), 200)) / 1000
        page = Yardstick("a page and a commit", idle + bare_commit().value / 1000, "s")
        delays = [_save_and_look(shop, site_id, [product]) for product in products[:SAVES]]
        at_most("a saved product findable, p50", median(delays), _look_and_work(page))
        at_most("a saved product findable, p99", percentile(delays, 0.99), SLOWEST_SAVE * page)
        hundred = [_save_and_look(shop, site_id, products[:100]) for _ in range(5)]
        at_most("100 products saved at once findable", median(hundred), HUNDRED * page)
        _burst(shop, site_id, products, page)


def _look_and_work(page: Yardstick) -> Yardstick:
    """Most of it is waiting for the next look of a web process at the index's version, as long on every machine."""
    waited = FRESH.total_seconds() / 2
    return Yardstick(f"half an interval of looks + {SAVED} x a page and a commit", waited + SAVED * page.value, "s")


def _burst(shop: RunningShop, site_id: int, products: list[int], page: Yardstick) -> None:
    """Several bursts, since one is indexed within two seconds, in which few pages are asked for. The shopper begins at
    the commit: before it this process is busy saving, and would time itself."""
    idle = list(itertools.islice(_page_times(shop), 200))
    times: list[float] = []
    caught_up = []
    for _ in range(BURSTS):
        word = _save(site_id, products)
        with _meanwhile(shop, times.append):
            caught_up.append(_look(shop, word, len(products)))
    at_most(f"{len(products):,} saved products findable", median(caught_up), ALL * page)
    before = Yardstick("one before", percentile(idle, 0.95), "ms")
    at_most("a search page meanwhile, p95", percentile(times, 0.95), MEANWHILE * before)


def _save_and_look(shop: RunningShop, site_id: int, products: list[int]) -> float:
    return _look(shop, _save(site_id, products), len(products))


def _save(site_id: int, products: list[int]) -> str:
    """Give the products a new word, unlike any that the shop knows; return it."""
    word = "".join(random.choices("bcdfghjklmnpqrstvwxz", k=16))
    with transaction():
        for product_id in products:
            terms.add_terms(Author(site_id, "Benchmark", clock()), product_id, [word])
    db.session.remove()
    return word


def _look(shop: RunningShop, word: str, products: int) -> float:
    """Seconds from the commit, which was just now, until the shop shows so many products for the word."""
    saved = time.perf_counter()
    wanted = f"<strong>{products:,}</strong>".encode()
    while wanted not in _page(shop, word):
        if time.perf_counter() - saved > 120:
            raise SystemExit(f"{word} was not findable within two minutes.")
        time.sleep(WAIT)
    return time.perf_counter() - saved


def _page(shop: RunningShop, words: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", shop.port, timeout=10)
    try:
        connection.request("GET", f"/search?q={quote(words)}", headers={"Host": HOST})
        return connection.getresponse().read()
    finally:
        connection.close()


def _page_times(shop: RunningShop) -> Iterator[float]:
    """Milliseconds of one search page after the other."""
    for words in itertools.cycle(("laptop", "hdmi cable", "toner black", "usb hub", "monitor 24")):
        start = time.perf_counter()
        _page(shop, words)
        yield 1000 * (time.perf_counter() - start)


@contextmanager
def _meanwhile(shop: RunningShop, note: Callable[[float], None]) -> Iterator[None]:
    """A shopper who goes on searching."""
    done = threading.Event()

    def search() -> None:
        for duration in _page_times(shop):
            if done.is_set():
                return
            note(duration)
            time.sleep(0.02)

    shopper = threading.Thread(target=search)
    shopper.start()
    try:
        yield
    finally:
        done.set()
        shopper.join()


@contextmanager
def _running_shop() -> Iterator[tuple[RunningShop, Flask]]:
    with workspace() as folder:
        shop = RunningShop(folder).start()
        try:
            _must(shop, "bundle", "import", str(icecat()), "--site", HOST)
            _must(shop, "index", "rebuild", "--site", HOST, "--wait")
            yield shop, _app_beside(folder / "instance")
        finally:
            shop.stop()


def _must(shop: RunningShop, *command: str) -> None:
    done = shop.flask(*command)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def _app_beside(instance: Path) -> Flask:
    """This process saves as a web process of the shop would."""
    queue = (instance / REDIS_ADDRESS_FILE).read_text().strip()
    return create_app(from_environment(settings(instance) | {"REDIS_URL": queue}))


if __name__ == "__main__":
    run(main)

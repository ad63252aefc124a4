"""People at a shop: shoppers who look at pages, search and fill baskets, and a merchandiser who saves products, each
without a pause. What they were answered is what the shop must have."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from tests.injected_faults import requested
from tests.page_client import Reading

SHOPPERS = 3
PAGES = ("/", "/search?q=tent", "/c/outdoor", "/p/skylark-1", "/search?q=mug", "/basket")
EMAIL, PASSWORD = "merch@demo.test", "demo-password-1"
NEW_PRODUCT = "/admin/catalogue/product/new"


@dataclass
class Load:
    """Requests so far. `failures` are those that were answered by something else than what belongs to them, `saved` the
    SKUs of products that were said to be saved."""

    made: int = 0
    failures: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)

    def note(self, request: str, status: int, wanted: int) -> None:
        self.made += 1
        if status != wanted:
            self.failures.append(f"{request}: {status}")


class Browser:
    """One with a connection that is kept, and with cookies."""

    def __init__(self, port: int, load: Load) -> None:
        self._connection = http.client.HTTPConnection("localhost", port, timeout=120)
        self._cookies: dict[str, str] = {}
        self._load = load

    def get(self, path: str) -> str:
        return self._request("GET", path, None, 200)[1]

    def post(self, path: str, form: dict[str, str], wanted: int) -> bool:
        """Whether the answer was the one that is wanted."""
        return self._request("POST", path, urlencode(form), wanted)[0] == wanted

    def close(self) -> None:
        self._connection.close()

    def _request(self, method: str, path: str, body: str | None, wanted: int) -> tuple[int, str]:
        cookie = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        headers = {"Cookie": cookie, "User-Agent": "Mozilla/5.0", "Sec-Fetch-Site": "same-origin"}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read().decode()
        for cookies in answer.headers.get_all("Set-Cookie", []):
            self._cookies |= {name: morsel.value for name, morsel in SimpleCookie(cookies).items()}
        self._load.note(f"{method} {path}", answer.status, wanted)
        return answer.status, content


def _shop_around(browser: Browser, ended: threading.Event) -> None:
    while not ended.is_set():
        for path in PAGES:
            browser.get(path)
        browser.post("/basket", {"sku": "TENT-01", "quantity": "1"}, 303)


def _save_products(browser: Browser, load: Load, ended: threading.Event) -> None:
    token = Reading(browser.get("/admin/login")).value("csrf_token")
    browser.post("/admin/login", {"csrf_token": token, "email": EMAIL, "password": PASSWORD}, 302)
    token = Reading(browser.get(NEW_PRODUCT)).value("csrf_token")
    while not ended.is_set():
        sku = f"LOAD-{time.monotonic_ns()}"
        form = {"name": f"Zephyr {sku}", "sku": sku, "price": "12.00", "enabled": "on", "revision": "0"}
        if browser.post(NEW_PRODUCT, form | {"csrf_token": token}, 302):
            load.saved.append(sku)


@contextmanager
def load_on(port: int) -> Iterator[Load]:
    """The load until the end of the block; how much it was gets into the table of faults."""
    load, ended = Load(), threading.Event()
    browsers = [Browser(port, load) for _ in range(SHOPPERS + 1)]
    with ThreadPoolExecutor(len(browsers)) as people:
        running = [people.submit(_shop_around, browser, ended) for browser in browsers[1:]]
        running.append(people.submit(_save_products, browsers[0], load, ended))
        try:
            yield load
        finally:
            ended.set()
            wait(running)
            for browser in browsers:
                browser.close()
    for one in running:
        one.result()
    requested(load.made, len(load.failures))

"""The till's app on a slow phone: what its first load weighs and takes, how soon it starts again, and how smoothly it
scrolls a thousand products.

The phone is Lighthouse's: a processor at a quarter of this one's speed, 150 ms to the shop and back, 1.6 Mbit/s. Most
of a first load is that network, which is the same on every machine, so its goal is in milliseconds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from bench.measuring import ROUNDS, Yardstick, at_least, at_most, heading, run, sized, workspace
from tests.e2e.till.measuring import scroll_all_products, store_products
from tests.e2e.till.signing_in import PASSWORD, PHONE, set_up_pin
from tests.processes import RunningShop
from tests.surroundings import chromium

SLOWDOWN = 4
ROUND_TRIP = 150  # Milliseconds.
BYTES_A_SECOND = 1.6 * 1_000_000 / 8
LISTED = sized(1_000)
WEIGHT = Yardstick("the goal", 200, "kB")
USABLE = Yardstick("the goal", 2_000, "ms")
FRAMES_ON_TIME = Yardstick("the goal", 0.95, "share")
# Resolves with the milliseconds since the navigation once a control can be used.
USABLE_AT = """(selector) => new Promise((resolve) => {
  const look = () => (document.querySelector(selector) ? resolve(performance.now()) : requestAnimationFrame(look));
  look();
})"""


def benchmark() -> None:
    program = chromium()
    arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with workspace() as folder, sync_playwright() as playwright:
        shop = RunningShop(folder).start()
        try:
            browser = playwright.chromium.launch(executable_path=program, args=arguments)
            _measure_starts(browser, shop.address)
            _measure_scrolling(browser, shop.address)
            browser.close()
        finally:
            shop.stop()


def _measure_starts(browser: Browser, address: str) -> None:
    heading("The till on a slow phone")
    first, again, weights = [], [], []
    for _ in range(ROUNDS):
        with _phone(browser, address) as (page, devtools):
            received: list[float] = []
            devtools.on("Network.loadingFinished", lambda event, into=received: into.append(event["encodedDataLength"]))
            first.append(_usable_after(page, "/till", "button[type=submit]"))
            weights.append(sum(received) / 1_000)
            page.evaluate("navigator.serviceWorker.ready")
            page.wait_for_function("navigator.serviceWorker.controller !== null")
            again.append(_usable_after(page, "/till", "button[type=submit]"))
    at_most("over the wire before one can sign in", median(weights), WEIGHT)
    at_most("usable after the first load", median(first), USABLE)
    at_most("usable after a start from the device", median(again), Yardstick("the first load", median(first), "ms"))


def _measure_scrolling(browser: Browser, address: str) -> None:
    heading(f"{LISTED:,} products on a screen")
    context = browser.new_context(base_url=address, viewport=PHONE)
    page = context.new_page()
    page.goto("/till")
    store_products(page, LISTED)
    page.get_by_role("textbox", name="E-mail").fill("agent@demo.test")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    set_up_pin(page)
    scrolled = scroll_all_products(page, LISTED)
    at_least("frames that keep to 60 a second", scrolled.on_time, FRAMES_ON_TIME)
    at_most("a frame", scrolled.median, Yardstick("60 frames a second", 1_000 / 60 * 1.05, "ms"))
    context.close()


@contextmanager
def _phone(browser: Browser, address: str) -> Iterator[tuple[Page, CDPSession]]:
    context: BrowserContext = browser.new_context(base_url=address, viewport=PHONE, is_mobile=True, has_touch=True)
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    conditions = {"offline": False, "latency": ROUND_TRIP, "downloadThroughput": BYTES_A_SECOND}
    devtools.send("Network.emulateNetworkConditions", conditions | {"uploadThroughput": BYTES_A_SECOND / 2})
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    yield page, devtools
    context.close()


def _usable_after(page: Page, path: str, selector: str) -> float:
    page.goto(path, wait_until="commit")
    usable: float = page.evaluate(USABLE_AT, selector)
    return usable


if __name__ == "__main__":
    run(benchmark)

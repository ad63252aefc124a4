"""A real browser before the shop as it really runs."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import wraps

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

from tests.processes import RunningShop
from tests.surroundings import chromium
from tests.waiting import until

expect.set_options(timeout=20_000)  # A busy machine is no fault.
ACTIONS = ("check", "click", "drag_to", "fill", "focus", "press", "press_sequentially", "select_option", "uncheck")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in item.path.as_posix():
            item.add_marker("e2e")


@pytest.fixture(scope="package")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningShop]:
    """The demo shop under its supervisor. Like the browser it ends with these tests, since both work on when idle."""
    folder = tmp_path_factory.mktemp("shop")
    backups = folder / "backups"
    backups.mkdir()
    (backups / "earlier").write_text("A file that is young enough, so that no page shows an alert about it.")
    running = RunningShop(folder, BACKUP_DIR=str(backups)).start()
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="package", autouse=True)
def deliberate_hands() -> Iterator[None]:
    """A page is used once its scripts have run: the driver acts as soon as the element is there, which no hand does,
    and meets links and buttons that no script has taken over yet."""
    with pytest.MonkeyPatch.context() as patch:
        for action in ACTIONS:
            patch.setattr(Locator, action, _once_loaded(getattr(Locator, action)))
        yield


def _once_loaded(act: Callable[..., None]) -> Callable[..., None]:
    @wraps(act)
    def acted(locator: Locator, *args: object, **options: object) -> None:
        locator.page.wait_for_load_state("load")
        act(locator, *args, **options)

    return acted


@pytest.fixture(scope="package")
def stocked(shop: RunningShop) -> None:
    """A fresh shop needs a moment until its products can be found; before that its categories have no filters."""
    until(lambda: has_filters(shop.address + "/c/outdoor"))


def has_filters(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as page:
            return b'id="f-colour-1"' in page.read()
    except urllib.error.HTTPError:
        return False


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        yield opened
        opened.close()


@pytest.fixture(params=[(1280, 800)], ids=["wide"])
def page(browser: Browser, shop: RunningShop, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of its own session. A script error or a breach of the content policy fails the test."""
    width, height = request.param
    context = browser.new_context(base_url=shop.address, viewport={"width": width, "height": height})
    context.set_default_timeout(20_000)
    opened = context.new_page()
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    opened.on("console", note)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []

"""Two whole shops that share PostgreSQL, two Redis, OpenSearch and a bucket, and no disk: what is saved at one is there
at the other, and one goes on when the other dies."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in, until_found
from tests.e2e.test_pictures import drawn, payload
from tests.machines import shared_services
from tests.processes import RunningShop

PRODUCT = "/admin/catalogue/product/1"
SECONDS_UNTIL_FOUND = 60  # Two shops, their database and a cluster keep this machine busy.
pytestmark = pytest.mark.thorough


class Machines(NamedTuple):
    left: RunningShop
    right: RunningShop


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory, opensearch_url: str) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("machines")
    for name in ("left", "right"):
        (folder / name).mkdir()
    with ExitStack() as stack:
        shared = stack.enter_context(shared_services(folder, opensearch_url))
        both = Machines(*(RunningShop(folder / name, **shared) for name in ("left", "right")))
        for machine in both:
            stack.callback(lambda machine=machine: machine.is_running and machine.stop(60))
            machine.start()
        yield both


@pytest.fixture
def pages(machines: Machines, browser: Browser) -> Iterator[tuple[Page, Page]]:
    """The same admin at each machine: a session of one is one of the other."""
    context = browser.new_context(base_url=machines.left.address)
    left = context.new_page()
    sign_in(left)
    yield left, context.new_page()
    context.close()


def test_what_is_saved_at_one_machine_is_found_and_shown_at_the_other(
    machines: Machines, pages: tuple[Page, Page], browser: Browser
) -> None:
    left, right = pages
    left.goto(PRODUCT)
    left.locator("input[name=name]").fill("Zephyr travel kettle")
    left.get_by_role("button", name="Save", exact=True).last.click()
    expect(left.locator("#details-news")).to_contain_text("Saved.")
    shopper = browser.new_context(base_url=machines.right.address)
    until_found(shopper.new_page(), "zephyr", "Zephyr travel kettle", SECONDS_UNTIL_FOUND)
    shopper.close()

    left.goto(PRODUCT)
    pictures = left.locator("#images .pictures li")
    before = pictures.count()
    left.get_by_label("Add a picture").set_input_files(payload("kettle.png", drawn()))
    expect(pictures).to_have_count(before + 1)
    right.goto(machines.right.address + PRODUCT)
    shown = right.locator("#images .pictures img").last
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth)")


def test_one_machine_goes_on_when_the_other_is_killed(machines: Machines) -> None:
    paths = ["/", "/search?q=kettle", "/search?q=lamp", "/healthz"] * 8
    with ThreadPoolExecutor(4) as shoppers:
        answers = shoppers.map(machines.right.status_of, paths)
        machines.left.kill()
        assert set(answers) == {200}
    assert machines.right.status_of("/search?q=zephyr") == 200
    machines.left.start()
    assert machines.left.status_of("/search?q=zephyr") == 200

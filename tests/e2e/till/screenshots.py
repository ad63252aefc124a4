"""The pictures of the till in docs/screenshots, made anew: `python -m tests.e2e.till.screenshots`."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.e2e.conftest import has_filters
from tests.e2e.till.selling import hand_over, is_paid, next_sale
from tests.e2e.till.signing_in import PHONE, sign_in_to_till
from tests.processes import RunningShop
from tests.surroundings import ROOT, chromium
from tests.waiting import until

FOLDER = ROOT / "docs" / "screenshots"
TABLET: ViewportSize = {"width": 768, "height": 1024}
GAP, GROUND = 24, {"light": "#d5dbe1", "dark": "#2f363d"}
COLOURS = 128
Scheme = Literal["light", "dark"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        shop = RunningShop(Path(folder)).start()
        arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        try:
            until(lambda: has_filters(f"{shop.address}/c/outdoor"))
            with till(browser, shop, PHONE, "light") as page:
                write("till", "light", [start(page), order(page), waiting(page), done(page)])
            with till(browser, shop, PHONE, "dark") as page:
                write("till-dark", "dark", [order(page), waiting(page), done(page)])
            with till(browser, shop, TABLET, "light") as page:
                write("till-tablet", "light", [order(page, browses=True)])
        finally:
            browser.close()
            shop.stop()


@contextmanager
def till(browser: Browser, shop: RunningShop, size: ViewportSize, scheme: Scheme) -> Iterator[Page]:
    """The till, signed in, on its start screen."""
    context = browser.new_context(
        base_url=shop.address,
        viewport=size,
        color_scheme=scheme,
        reduced_motion="reduce",
        has_touch=True,
    )
    yield sign_in_to_till(context.new_page())
    context.close()


def start(page: Page) -> Image.Image:
    return picture(page)


def order(page: Page, browses: bool = False) -> Image.Image:
    """An order of four, beside the products of a category where the screen is wide enough."""
    page.get_by_role("button", name="New order").click()
    lines = page.locator(".lines > li")
    choice = page.get_by_role("dialog")
    for place, words in enumerate(("enamel", "beeswax dinner", "flask", "fell map")):
        page.get_by_role("searchbox", name="Find a product").fill(words)
        page.get_by_role("list", name="Products found").get_by_role("button").first.click()
        until(lambda place=place: choice.is_visible() or lines.count() > place)  # type: ignore[misc]
        if choice.is_visible():
            for option in choice.get_by_role("group").all():
                option.locator("label:not(.gone)").first.click()
            choice.get_by_role("button", name="Add to the order").click()
        expect(lines).to_have_count(place + 1)
    page.get_by_role("list", name="Order").get_by_role("button", name="More").nth(1).click()
    expect(page.get_by_text("5 items")).to_be_visible()
    if browses:
        page.get_by_role("button", name="Outdoor").click()
        expect(page.get_by_role("list", name="Outdoor").get_by_role("button").first).to_be_visible()
    expect(page.get_by_text("not checked yet")).to_be_hidden()
    return picture(page)


def waiting(page: Page) -> Image.Image:
    """The order is paid by card: the reader waits."""
    page.get_by_role("button", name="Charge").click()
    page.get_by_role("button", name="Card", exact=True).click()
    expect(page.get_by_role("status", name="Payment")).to_contain_text("Waiting for card")
    return picture(page)


def done(page: Page) -> Image.Image:
    """The card paid, and the next customer's cash is taken, with change."""
    page.get_by_role("group", name="Simulated cards").get_by_role("button", name="visa", exact=True).click()
    is_paid(page)
    next_sale(page)
    page.get_by_role("button", name="Quick payment").click()
    for digit in "1450":
        page.get_by_role("group", name="Amount").get_by_role("button", name=digit, exact=True).click()
    page.get_by_role("button", name="Cash", exact=True).click()
    hand_over(page, "£20.00")
    is_paid(page)
    expect(page.get_by_role("img", name="Receipt code")).to_be_visible()
    return picture(page)


def picture(page: Page) -> Image.Image:
    """The screen as it is, once its pictures are there and nothing moves or has the focus."""
    page.wait_for_load_state("networkidle")
    page.evaluate("() => { document.activeElement?.blur(); document.getAnimations().forEach((one) => one.finish()); }")
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def write(name: str, scheme: Scheme, screens: list[Image.Image]) -> None:
    """Write the screens side by side, with few colours, as a small file."""
    width = sum(screen.width for screen in screens) + GAP * (len(screens) + 1)
    sheet = Image.new("RGB", (width, screens[0].height + 2 * GAP), GROUND[scheme])
    left = GAP
    for screen in screens:
        sheet.paste(screen, (left, GAP))
        left += screen.width + GAP
    sheet.quantize(COLOURS, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()

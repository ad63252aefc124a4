"""Take the pictures of the admin's Help: for each task of docs/tasks the part of the screen that it is about.

`python -m tools.help_pictures` starts the demo shop in a temporary folder; with an address it takes those of the shop
that runs there, which must be the demo shop, as it was made. Names given behind `--only` limit it to these tasks. It
needs Chromium.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping
from io import BytesIO

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from app.web.help_tasks import PICTURES, Picture, Task, tasks_by_name
from tests.e2e.till.selling import hand_over, is_paid, next_sale
from tests.e2e.till.signing_in import PHONE, sign_in_to_till
from tools.screenshots import EDITOR, SCHEMES, chromium_path, running_demo_shop, signed_in_page, wait_until_indexed

SCREEN_HEIGHT = 900
GROUND = 16  # Pixels around the element.
OWNER = "super@demo.test"
COLOURS = 48  # A picture of few colours takes a third of the bytes.
MILLISECONDS_TO_FIND, MILLISECONDS_TO_WORK = 30_000, 180_000  # The latter of the worker.
SECONDS_TO_SETTLE = 0.7  # Previews, charts, pictures that come late.

# Without what sticks to the screen, and with the folder of backups that the documents name: this one is temporary.
AS_PICTURED = """
() => {
  document.activeElement?.blur();
  for (const one of document.querySelectorAll(".top, .save-bar")) one.style.position = "static";
  for (const one of document.querySelectorAll("pre.listing"))
    one.textContent = one.textContent.replace(/[/][^ ]*backups(?= |$)/m, "/var/backups/shop");
}
"""
# Left, top, width and height on the page, without the padding of an element that is the ground of others.
BOX = """
(element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  const style = element.tagName === "MAIN" ? getComputedStyle(element) : null;
  const [left, top] = style ? [parseFloat(style.paddingLeft), parseFloat(style.paddingTop)] : [0, 0];
  return [x + scrollX + left, y + scrollY + top, width - 2 * left, height - top];
}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("address", nargs="?", help="the demo shop that runs there, such as http://localhost:8000")
    parser.add_argument("--only", nargs="+", choices=tasks_by_name(), default=list(tasks_by_name()), metavar="TASK")
    arguments = parser.parse_args()
    PICTURES.mkdir(exist_ok=True)
    failed = 0
    with running_demo_shop(arguments.address) as address, sync_playwright() as playwright:
        wait_until_indexed(playwright.request.new_context(), address)
        flags = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=flags)
        for suffix, scheme in SCHEMES.items():
            _take_till_pictures(browser, address, scheme, suffix, arguments.only)
            tasks = [tasks_by_name()[name] for name in arguments.only]
            for email in (EDITOR, OWNER):
                page = signed_in_page(browser, address, (1040, SCREEN_HEIGHT), scheme, email)
                page.set_default_timeout(MILLISECONDS_TO_FIND)
                for task in tasks:
                    if not task.picture.till and task.picture.superadmin == (email == OWNER):
                        failed += _take_picture(page, task, suffix)
                page.context.close()
    return 1 if failed else 0


def _take_picture(page: Page, task: Task, suffix: str) -> int:
    """Return how many pictures could not be taken, and say why: the others are taken all the same."""
    try:
        _write(_of_page(page, task.picture), f"{task.name}{suffix}")
    except PlaywrightError as error:
        print(f"{task.name}: {str(error).splitlines()[0]} at {task.picture}", file=sys.stderr)
        return 1
    return 0


def _of_page(page: Page, picture: Picture) -> Image.Image:
    page.set_viewport_size({"width": picture.screen, "height": SCREEN_HEIGHT})
    page.goto(_end_of(picture.journey, page) if picture.journey else picture.at)
    for selector in picture.press:
        page.locator(selector).first.click()
    for selector, text in picture.fill:
        page.locator(selector).first.fill(text)
    if picture.wait:
        page.locator(picture.wait).first.wait_for(timeout=MILLISECONDS_TO_WORK)
    time.sleep(SECONDS_TO_SETTLE)
    return _cut(page, page.locator(picture.of).first, picture.height)


_ENDS: dict[str, str] = {}  # Of the journeys that were made.


def _end_of(journey: str, page: Page) -> str:
    """Return the address where a journey ended, the first time by making it."""
    if journey not in _ENDS:
        JOURNEYS[journey](page)
        _ENDS[journey] = page.url
    return _ENDS[journey]


def _cut(page: Page, element: Locator, height: int) -> Image.Image:
    """Return the element down to a height with a little ground around it, without what sticks to the screen."""
    page.evaluate(AS_PICTURED)
    element.scroll_into_view_if_needed()
    left, top, width, most = element.evaluate(BOX)
    whole = Image.open(BytesIO(page.screenshot(animations="disabled", full_page=True))).convert("RGB")
    return whole.crop(
        (
            max(0, round(left) - GROUND),
            max(0, round(top) - GROUND),
            min(whole.width, round(left + width) + GROUND),
            min(whole.height, round(top + min(most, height)) + GROUND),
        )
    )


def _take_till_pictures(browser: Browser, address: str, scheme: str, suffix: str, only: list[str]) -> None:
    """Take the pictures of the till one after the other, since each goes on where the one before ended."""
    screens = {task.picture.till: task.name for task in tasks_by_name().values() if task.picture.till}
    if not set(screens.values()) & set(only):
        return
    context = browser.new_context(
        base_url=address,
        viewport=PHONE,
        has_touch=True,
        color_scheme=scheme,
        reduced_motion="reduce",  # type: ignore[arg-type]
    )
    page = sign_in_to_till(context.new_page())
    for screen, reach in TILL_SCREENS.items():
        reach(page)
        page.wait_for_load_state("networkidle")
        page.evaluate("() => document.activeElement?.blur()")
        if screens[screen] in only:
            _write(Image.open(BytesIO(page.screenshot(animations="disabled"))).convert("RGB"), screens[screen] + suffix)
    context.close()


def _pay(page: Page, digits: str, way: str) -> None:
    page.get_by_role("button", name="Quick payment").click()
    for digit in digits:
        page.get_by_role("group", name="Amount").get_by_role("button", name=digit, exact=True).click()
    page.get_by_role("button", name=way, exact=True).click()


def _wait_for_card(page: Page) -> None:
    _pay(page, "2400", "Card")
    page.get_by_role("status", name="Payment").get_by_text("Waiting for card").wait_for()


def _give_change(page: Page) -> None:
    page.get_by_role("group", name="Simulated cards").get_by_role("button", name="visa", exact=True).click()
    is_paid(page)
    next_sale(page)
    _pay(page, "1450", "Cash")
    hand_over(page, "£20.00")
    is_paid(page)
    page.get_by_role("img", name="Receipt code").wait_for()


def _count_drawer(page: Page) -> None:
    next_sale(page)
    page.get_by_role("link", name="Session").click()
    page.get_by_role("button", name="Close session").click()
    page.get_by_role("dialog").get_by_label("£20", exact=True).fill("1")


TILL_SCREENS: Mapping[str, Callable[[Page], object]] = {
    "card": _wait_for_card,
    "cash": _give_change,
    "close": _count_drawer,
}


def _order_with_delivery(page: Page) -> None:
    """Buy something as a shopper does, to be delivered, and open the order in the admin."""
    page.goto("/search?q=lantern&inStock=true")
    page.locator(".card a").first.click()
    page.get_by_role("button", name="Add to basket").click()
    page.get_by_role("link", name="Go to basket").click()
    page.get_by_role("link", name="Check out").click()
    page.get_by_label("Standard delivery").check()
    for label, text in ORDERED_BY.items():
        page.get_by_label(label).fill(text)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Place order").click()
    page.wait_for_url("**/order/**")
    page.goto("/admin/orders?status=submitted")
    page.locator("main tbody tr:has-text('To be sent') a").first.click()
    page.get_by_role("button", name="Payment received").wait_for()


def _classify_lanterns(page: Page) -> None:
    """Give some lanterns a level that lacks an attribute of theirs; the page can undo it."""
    page.goto("/admin/catalogue/products/classify?q=lantern")
    page.wait_for_load_state("networkidle")  # A level that is chosen before htmx came is not previewed.
    page.get_by_label("Level", exact=True).select_option("outdoor-walking-rucksacks")
    page.get_by_role("button", name="Change 2 products").click()
    page.locator(".task .undo").wait_for(timeout=MILLISECONDS_TO_WORK)


ORDERED_BY = {
    "Your name": "Robin Reed",
    "Email address": "robin@home.test",
    "Address line 1": "1 Long Lane",
    "Town or city": "Kendal",
    "Postcode": "LA9 4TN",
}
# What the demo shop has only after something was done. Each is done once, and leads to the page that is pictured.
JOURNEYS: Mapping[str, Callable[[Page], object]] = {
    "order with delivery": _order_with_delivery,
    "classified products": _classify_lanterns,
}


def _write(picture: Image.Image, name: str) -> None:
    file = PICTURES / f"{name}.png"
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.name}  {picture.width} × {picture.height}  {file.stat().st_size // 1024} kB", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())

"""Take the pictures of docs/screenshots: the main screens of the demo shop on a desktop and a phone, light and dark.

`python tools/screenshots.py` starts the demo shop in a temporary folder; with an address it takes those of the shop
that runs there, which must be the demo shop. Names given behind `--only` limit it to these screens. It needs Chromium.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "screenshots"
SIZES = {"": (1280, 860), "-phone": (390, 844)}
SCHEMES = {"": "light", "-dark": "dark"}
COLOURS = 128  # A picture of few colours takes a third of the bytes.
SECONDS_TO_INDEX = 120
SECONDS_TO_SETTLE = 1.0  # Charts, pictures that come late, frames.
TENTS = "/c/outdoor/camping/tents"
EDITOR, PASSWORD = "admin@demo.test", "demo-password-1"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("address", nargs="?", help="the demo shop that runs there, such as http://localhost:8000")
    parser.add_argument("--only", nargs="+", choices=SCREENS, default=list(SCREENS), metavar="SCREEN")
    arguments = parser.parse_args()
    with running_demo_shop(arguments.address) as address, sync_playwright() as playwright:
        wait_until_indexed(playwright.request.new_context(), address)
        flags = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=flags)
        for of_scheme, scheme in SCHEMES.items():
            for of_size, size in SIZES.items():
                page = signed_in_page(browser, address, size, scheme)
                for name in arguments.only:
                    SCREENS[name](page)
                    _write(page, FOLDER / f"{name}{of_size}{of_scheme}.png")
                page.context.close()
    return 0


def chromium_path() -> str:
    from tests.surroundings import chromium

    found = chromium()
    if found is None:
        raise SystemExit("No Chromium is installed (on Debian: apt install chromium-headless-shell).")
    return found


@contextmanager
def running_demo_shop(address: str | None) -> Iterator[str]:
    from tests.processes import RunningShop

    if address:
        yield address.rstrip("/")
        return
    with tempfile.TemporaryDirectory() as folder:
        backups = Path(folder) / "backups"
        backups.mkdir(mode=0o700)
        shop = RunningShop(Path(folder), BACKUP_DIR=str(backups)).start()
        try:
            yield shop.address
        finally:
            shop.stop()


def wait_until_indexed(context: object, address: str) -> None:
    deadline = time.monotonic() + SECONDS_TO_INDEX
    while 'id="landing-links"' not in context.get(f"{address}/c/outdoor").text():  # type: ignore[attr-defined]
        if time.monotonic() > deadline:
            raise SystemExit("The demo shop was not indexed.")
        time.sleep(0.5)


def signed_in_page(browser: Browser, address: str, size: tuple[int, int], scheme: str, email: str = EDITOR) -> Page:
    viewport = {"width": size[0], "height": size[1]}
    context = browser.new_context(base_url=address, viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto("/admin/login")
    for name, text in (("email", email), ("password", PASSWORD)):
        page.fill(f"[name={name}]", text)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "login" not in url)
    return page


def _at(path: str) -> Callable[[Page], object]:
    return lambda page: page.goto(path)


def _open_taxonomy(page: Page) -> None:
    page.goto("/admin/catalogue/taxonomy")
    editor = page.locator("main tbody a[href*='/admin/catalogue/taxonomy/']").first.get_attribute("href") or ""
    page.goto(f"{editor}?level=outdoor-camping-tents&attribute=season")


def _open_grid(page: Page) -> None:
    page.goto("/admin/merchandising/category/3?show=grid")
    page.locator(".product-grid").first.evaluate(
        "grid => window.scrollTo(0, grid.getBoundingClientRect().top + scrollY - 200)"
    )


def _open_gallery(page: Page) -> None:
    page.goto("/admin/settings/themes/gallery/preview")
    page.goto(TENTS)


SCREENS: Mapping[str, Callable[[Page], object]] = {
    "home": _at("/"),
    "category": _at(TENTS),
    "product": _at("/p/skylark-2"),
    "search": _at("/search?q=waterproof+jacket"),
    "dashboard": _at("/admin/?days=30"),
    "search-overview": _at("/admin/search"),
    "search-analytics": _at("/admin/search/analytics?days=30"),
    "test-a-search": _at("/admin/search/test?q=tents+under+%C2%A3200"),
    "merchandising": _open_grid,
    "taxonomy-editor": _open_taxonomy,
    "appearance": _at("/admin/settings/appearance"),
    "orders": _at("/admin/orders"),
    # Last, since the preview of another theme stays in the browser.
    "gallery": _open_gallery,
}


def _write(page: Page, file: Path) -> None:
    page.wait_for_load_state("load")
    time.sleep(SECONDS_TO_SETTLE)
    picture = Image.open(BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"{file.relative_to(ROOT)}  {file.stat().st_size // 1024} kB")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    raise SystemExit(main())

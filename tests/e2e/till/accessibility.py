"""What every screen of the till keeps to, in a bright room and in a dark one."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SMALLEST = 44  # Pixels, of what a thumb is to hit. A link within a sentence is as high as its line.
TOO_SMALL = """(smallest) => [...document.querySelectorAll("a, button, input, select, textarea, summary")]
  .filter((one) => one.checkVisibility({ opacityProperty: false }) && !(one.matches("a") && one.closest("p")))
  .map((one) => (one.matches("[type=checkbox], [type=radio]") ? one.closest("label") ?? one : one))
  .map((one) => ({ one, box: one.getBoundingClientRect() }))
  .filter(({ box }) => box.width && Math.min(box.width, box.height) < smallest - 0.5)
  .map(({ one, box }) => `${one.outerHTML.slice(0, 120)}: ${box.width} × ${box.height}`)"""
AT_REST = "() => document.getAnimations().forEach((one) => one.cancel())"
TOO_WIDE = "() => document.documentElement.scrollWidth > innerWidth"


def expect_no_violations(page: Page) -> None:
    """Axe finds nothing, light and dark; whatever is pressed is large enough; nothing is scrolled sideways."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate(AT_REST)
        found = Axe().run(page)
        assert not found.violations_count, f"{page.url}, {scheme}: {found.generate_report()}"
    assert page.evaluate(TOO_SMALL, SMALLEST) == [], page.url
    assert not page.evaluate(TOO_WIDE), page.url

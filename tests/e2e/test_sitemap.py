"""The sitemap of a shop that has just been started, and a new one at the press of a button."""

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop
from tests.waiting import until

SECONDS_UNTIL_WRITTEN = 60


def until_written(shop: RunningShop) -> None:
    until(lambda: shop.status_of("/sitemap.xml") == 200, SECONDS_UNTIL_WRITTEN)


def test_a_fresh_shop_has_a_sitemap_within_a_minute(shop: RunningShop, page: Page) -> None:
    until_written(shop)
    answer = page.request.get("/robots.txt")
    assert answer.text().endswith("Sitemap: https://localhost/sitemap.xml\n")


def test_a_new_one_is_followed_live_until_it_is_written(shop: RunningShop, page: Page) -> None:
    until_written(shop)
    sign_in(page)
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="SEO").click()
    build = page.get_by_role("button", name="Build now")
    expect(build).to_be_visible()
    rows = page.locator("#recent tbody tr")
    before = rows.count()
    build.press("Enter")
    # The cards come along when the build's own has ended; nobody reloads the page.
    expect(rows.first).to_contain_text("Merle Merchandiser")
    expect(rows.first).to_contain_text("Done", timeout=30_000)
    expect(rows).to_have_count(before + 1)
    expect(page.locator("#build")).to_be_hidden()

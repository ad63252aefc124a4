"""What a form shows that the shop could not save, as tests/blueprints/admin/test_storage_faults.py has it answered."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.e2e.test_taxonomy_editor import fresh_taxonomy

FRAGMENT = '<div class="note bad" role="alert" tabindex="-1"><strong>Not available just now.</strong> Try again.</div>'


def refuse(route: Route) -> None:
    if route.request.method != "POST":
        return route.continue_()
    place = {"HX-Retarget": "#flashes", "HX-Reswap": "innerHTML show:top", "Content-Type": "text/html"}
    return route.fulfill(status=503, headers=place, body=FRAGMENT)


def test_trouble_stands_above_the_page_and_the_form_keeps_what_was_typed(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/terms")
    page.route("**/*", refuse)
    add = page.locator("#add")
    add.get_by_label("Search term").fill("quibblefrond")
    add.get_by_label("Product").fill("BAG-01")
    add.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#flashes")).to_contain_text("Not available just now.")
    expect(page.locator("#flashes .note")).to_be_in_viewport()
    expect(add.get_by_label("Search term")).to_have_value("quibblefrond")


def test_trouble_of_a_long_form_comes_into_sight_wherever_it_was_saved_from(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/content/page/new")
    page.route("**/*", refuse)
    page.get_by_label("Title").fill("Winter")
    page.set_viewport_size({"width": 390, "height": 500})
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.get_by_role("button", name="Add the page").click()
    expect(page.locator("#details-news .note")).to_be_in_viewport()
    expect(page.get_by_label("Title")).to_have_value("Winter")


def test_the_taxonomy_editor_says_it_in_its_bar(page: Page) -> None:
    fresh_taxonomy(page, "Trouble")
    page.route("**/*", refuse)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_contain_text("Not available just now.")
    expect(page.locator("#flashes .note.bad")).to_have_count(0)

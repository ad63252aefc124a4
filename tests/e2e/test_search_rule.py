"""A rule from its editor to the shop, by mouse and by keyboard."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

WITHIN = 2.5  # Seconds in which every process serves what was saved, and the time for asking.


@pytest.fixture(autouse=True, scope="module")
def _stocked(shop: RunningShop, stocked: None) -> None:
    """Every test here looks at products."""


def add(page: Page, sku: str, act: str) -> None:
    page.get_by_label("Find a product").fill(sku)
    page.locator("#found").get_by_role("button", name=f"{act} ").first.click()
    expect(page.locator(f"#placing input[value='{sku}']")).to_have_count(1)


def pinned(page: Page) -> list[str]:
    return [field.input_value() for field in page.locator("[name=pin]").all()]


def test_pausing_by_keyboard_says_so_and_the_list_fits_the_screen(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/search/ranking")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("button", name=re.compile("^Pause the rule for")).first.press("Enter")
    expect(page.locator("#flashes")).to_contain_text("Paused.")
    resume = page.get_by_role("button", name=re.compile("^Resume the rule for")).first
    expect(resume).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#flashes")).to_contain_text("Resumed.")
    page.goto("/admin/search/ranking?state=live")
    page.get_by_role("button", name=re.compile("^Pause the rule for")).first.press("Enter")
    expect(page.get_by_role("region", name="Rules")).to_be_focused()
    page.locator("#flashes").get_by_role("button", name="Undo").press("Enter")
    expect(page.locator("#flashes")).to_contain_text("Undone")


def until_first(page: Page, words: str, name: str) -> None:
    """Asked again and again, since each process of the shop takes the change up by itself."""
    deadline = time.monotonic() + WITHIN
    while True:
        page.goto(f"/search?q={words}")
        if name in page.locator(".product-card, article, .card").first.inner_text():
            return
        assert time.monotonic() < deadline, page.locator("main").inner_text()[:400]


def test_products_are_pinned_dragged_and_served_in_that_order(page: Page):
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=tent")
    preview = page.locator("#try")
    expect(preview).to_contain_text("Preview")
    add(page, "MUG-01", "Pin")
    page.get_by_label("Find a product").fill("BAG-04")
    expect(page.locator("#found button")).to_have_count(3)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#placing input[value='BAG-04']")).to_have_count(1)
    expect(preview.locator(".tried-places .new").first).to_be_visible()
    expect(page.get_by_label("Find a product")).to_be_focused()
    assert pinned(page) == ["MUG-01", "BAG-04"]
    rows = page.locator("[data-pins] > li")
    page.locator("#placing").evaluate("before => before.dataset.before = ''")
    rows.nth(1).locator("[data-grip]").drag_to(rows.nth(0), target_position={"x": 60, "y": 2})
    expect(page.locator("#placing[data-before]")).to_have_count(0)  # The list with the new order has come.
    expect(page.locator("[name=pin]").first).to_have_value("BAG-04")
    down = page.get_by_role("button", name="down").first
    down.focus()
    page.keyboard.press("Enter")
    expect(page.locator("[name=pin]").first).to_have_value("MUG-01")
    expect(page.locator("#placing button:focus")).to_have_count(1)
    name = rows.nth(0).get_by_role("link").inner_text()
    page.get_by_role("textbox", name="Text").fill("Free pegs with every tent")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Added the rule for “tent”.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/ranking/\d+$"))
    until_first(page, "TENT", name)
    expect(page.get_by_text("Free pegs with every tent")).to_be_visible()


def test_a_product_is_pinned_from_the_preview_beside_the_form(page: Page):
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=bench")
    third = page.locator("#try .tried-places > li").nth(1)
    name = third.locator(".two-lines").inner_text()
    third.get_by_role("button", name=f"Pin {name}", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-pins] > li").get_by_role("link", name=name, exact=True)).to_be_visible()
    unpin = page.locator("#try").get_by_role("button", name=f"Unpin {name}", exact=True)
    expect(unpin).to_be_visible()
    unpin.click()
    expect(page.locator("[data-pins] > li")).to_have_count(0)


def test_a_position_that_is_taken_makes_room_and_focus_stays_in_the_list(page: Page):
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=lantern")
    for sku in ("MUG-01", "BAG-04", "TENT-01"):
        add(page, sku, "Pin")
    first = page.locator("#placing .position").first
    first.fill("3")
    first.press("Tab")
    expect(page.locator("[name=pin]").last).to_have_value("MUG-01")
    assert pinned(page) == ["BAG-04", "TENT-01", "MUG-01"]
    assert [field.input_value() for field in page.locator("[name=position]").all()] == ["1", "2", "3"]
    expect(page.locator("#placing :focus")).to_have_count(1)


def test_a_replay_stays_while_the_form_is_left_and_changed(page: Page):
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=stove")
    expect(page.locator("#try")).to_contain_text("nothing changes")
    page.get_by_label("Page of this shop").press_sequentially("/basket")
    expect(page.locator("#try")).to_contain_text("goes to /basket")
    page.get_by_role("button", name="Replay the top 200 searches").click()
    replayed = page.locator("#replay").get_by_text("With the rule for “stove”")
    expect(replayed).to_be_visible(timeout=20_000)
    earlier = page.get_by_text("has changed since this replay")
    expect(earlier).to_be_hidden()
    page.get_by_role("textbox", name="Text").fill("Mind the flame")
    expect(page.locator("#try")).to_contain_text("the banner changes")
    expect(replayed).to_be_visible()
    expect(earlier).to_be_visible()


def test_a_deleted_rule_says_what_changes_and_is_gone_from_the_shop(page: Page):
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=parcel+lost")
    page.get_by_label("Page of this shop").fill("/pages/delivery")
    page.get_by_role("button", name="Add the rule").click()
    expect(page.get_by_text("Added the rule for “parcel lost”.")).to_be_visible()
    deadline = time.monotonic() + WITHIN
    while "/pages/delivery" not in page.url:
        assert time.monotonic() < deadline, page.url
        page.goto("/search?q=Parcel lost")
    page.goto("/admin/search/ranking?q=parcel")
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Shoppers see results again instead of /pages/delivery.")
    dialog.get_by_role("button", name="Delete rule").click()
    expect(page.get_by_text("Deleted the rule for “parcel lost”.")).to_be_visible()


def test_a_group_is_boosted_for_every_search_that_contains_the_term(page: Page):
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=lantern")
    page.get_by_label("When shoppers search").select_option("contains")
    page.get_by_role("button", name="Add a group").click()
    group = page.get_by_role("group", name="Group 1")
    group.get_by_label("Stock").select_option("in")
    group.get_by_label("Price from").fill("1")
    page.get_by_role("button", name="Add a group").click()
    expect(page.locator(".group-row")).to_have_count(2)
    page.get_by_role("button", name="Remove group 2").click()
    expect(page.locator(".group-row")).to_have_count(1)
    expect(group.get_by_label("Price from")).to_have_value("1")
    expect(page.locator("#try")).to_contain_text("With the rule for searches that contain “lantern”")
    page.get_by_role("button", name="Add the rule").click()
    expect(page.get_by_text("Added the rule for searches that contain “lantern”.")).to_be_visible()
    page.goto("/admin/search/ranking")
    expect(page.get_by_text("Searches that contain “lantern”", exact=True)).to_be_visible()
    expect(page.get_by_text("Boosted: from £1.00, in stock")).to_be_visible()


def test_a_rule_for_a_category_boosts_by_a_range_of_a_number(page: Page):
    sign_in(page)
    page.goto("/admin/search/ranking/new?term=heavy stoves")
    page.get_by_label("When shoppers search").select_option("any")
    page.get_by_label("Or a category").fill("Outdoor › Camping › Stoves")
    page.get_by_role("button", name="Add a group").click()
    page.get_by_role("button", name="Add a number to group 1").click()
    expect(page.get_by_label("Attribute (a number)")).to_be_focused()
    page.keyboard.type("Weight")
    page.keyboard.press("Tab")
    page.keyboard.type("7000.5")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Added the rule “heavy stoves”.")).to_be_visible()
    expect(page.get_by_label("From (g)")).to_have_value("7000.5")
    page.goto("/admin/search/ranking")
    expect(page.get_by_text("Searches that name Outdoor › Camping › Stoves", exact=True)).to_be_visible()
    expect(page.get_by_text("Boosted: Weight from 7000.5 g")).to_be_visible()
    deadline = time.monotonic() + WITHIN
    first = page.locator("main a[href^='/p/']").first
    while page.goto("/search?q=stoves") and first.get_attribute("href") != "/p/fire-bowl-50":
        assert time.monotonic() < deadline, first.get_attribute("href")

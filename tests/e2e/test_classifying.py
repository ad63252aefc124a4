"""A product gets another level by keyboard alone, what it then misses, and shoppers see it."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in

LANTERNS = "/admin/catalogue/products?level=outdoor-camping-lanterns&sort=name"


def focused(page: Page) -> str:
    return page.evaluate("document.activeElement.id")


def test_a_product_changes_its_level_by_keyboard_and_shoppers_see_what_was_filled_in(page: Page) -> None:
    sign_in(page)
    page.goto(LANTERNS)
    page.locator("main tbody").get_by_role("link").first.click()
    finder = page.get_by_role("combobox", name="Level")
    finder.focus()
    page.keyboard.type("rucks")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    part = page.locator("#taxonomy")
    expect(part).to_contain_text("Outdoor › Walking › Rucksacks")
    expect(part).to_contain_text("Not saved yet.")
    expect(page.locator("#left-behind")).to_contain_text("Brightness")
    assert focused(page) == "taxonomy-heading"
    part.get_by_role("link", name="Volume").press("Enter")
    assert focused(page) == "f-attr-volume-l"
    page.keyboard.type("lots")
    page.keyboard.press("Control+Enter")

    news = page.locator("#details-news")
    expect(news).to_contain_text("Volume “lots”: Volume takes a number.")
    expect(news).to_contain_text("Brightness")
    volume = page.get_by_label(re.compile("^Volume"))
    expect(volume).to_have_value("lots")
    volume.fill("42")
    page.keyboard.press("Control+Enter")
    expect(news).to_contain_text("Saved. Search shows it in a few seconds.")
    expect(part).to_contain_text("100 % complete")
    expect(page.locator("#parts")).to_contain_text("100 %")

    news.get_by_role("link", name="See it in the shop").click()
    expect(page).to_have_url(re.compile("/p/"))
    expect(page.get_by_role("term").filter(has_text="Volume")).to_be_visible()
    expect(page.get_by_role("definition").filter(has_text=re.compile("^42 l$"))).to_be_visible()


def test_a_level_for_several_products_is_undone_from_its_page(page: Page) -> None:
    sign_in(page)
    page.goto(LANTERNS)
    for place in (0, 1):
        page.locator("#results [data-tick]").nth(place).check()
    page.get_by_role("button", name="Classify…").click()
    expect(page.get_by_role("heading", name="Classify 2 products")).to_be_visible()  # The list has a “Level” too.
    page.get_by_label("Level", exact=True).fill("Outdoor › Walking › Rucksacks")
    page.keyboard.press("Tab")
    expect(page.locator("#preview")).to_contain_text("Brightness")
    page.get_by_role("button", name="Change 2 products").click()
    task = page.locator("section.task")
    expect(task).to_contain_text("2 products moved to “Rucksacks”", timeout=30_000)
    task.get_by_role("button", name="Undo").click()
    expect(task).to_contain_text("2 products are as they were", timeout=30_000)
    page.goto(LANTERNS)
    page.locator("main tbody").get_by_role("link").first.click()
    expect(page.locator("#taxonomy")).to_contain_text("Outdoor › Camping › Lanterns")
    expect(page.get_by_label(re.compile("^Brightness"))).not_to_have_value("")


def test_the_list_of_levels_opens_again_and_says_which_one_is_marked(page: Page) -> None:
    sign_in(page)
    page.goto(LANTERNS)
    page.locator("main tbody").get_by_role("link").first.click()
    finder = page.get_by_role("combobox", name="Level")
    marked = page.get_by_role("listbox", name="Levels found").get_by_role("option", selected=True)
    finder.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
        expect(marked).to_have_count(1)
        expect(finder).to_have_attribute("aria-expanded", "true")
        expect(finder).to_have_attribute("aria-activedescendant", marked.get_attribute("id") or "")
        assert focused(page) == "f-levelId"
        page.keyboard.press("Escape")
        expect(page.locator("#level-list [role=option]")).to_have_count(0)
        expect(finder).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowDown")
    expect(marked).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#taxonomy")).to_contain_text("Not saved yet.")


def test_a_page_of_the_worklist_that_is_done_makes_room_for_what_is_left(page: Page) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/taxonomy/worklist")
    page.get_by_role("navigation", name="Levels with something to do").get_by_role("link", name="Stoves").click()
    row = page.locator(".worklist > li")
    expect(row).to_have_count(1)
    for number in row.locator("input[type=text], input:not([type])").all():
        number.fill("3")
    for choice in row.locator("select").all():
        choice.select_option(index=1)
    row.get_by_role("button", name="Save").press("Enter")
    expect(row).to_contain_text("Saved. It is complete.")
    expect(page.locator("#worklist")).to_contain_text("Nothing is missing here")
    assert focused(page) == "rows-heading"


def test_all_products_are_not_offered_beside_those_that_are_ticked(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/catalogue/products")
    every = page.get_by_role("link", name=re.compile("^Classify all"))
    expect(every).to_be_visible()
    first = page.locator("#results [data-tick]").first
    first.check()
    expect(page.get_by_role("button", name="Classify…")).to_be_visible()
    expect(every).to_be_hidden()
    first.uncheck()
    expect(every).to_be_visible()

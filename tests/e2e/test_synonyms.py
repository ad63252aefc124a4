"""Synonyms edited in place, and found with in the shop."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.test_from_rebuild_to_shop import sign_in, until_found
from tests.processes import RunningShop


def test_the_message_and_its_undo_are_in_sight_wherever_the_page_was_scrolled_to(page: Page, shop: RunningShop) -> None:
    sign_in(page)
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto("/admin/search/synonyms")
    page.get_by_role("link", name="Add a synonym").first.click()
    form = page.locator("#synonym-form-new")
    form.get_by_label("Words that mean the same").fill("zorpa, blipa")
    form.get_by_role("button", name="Preview").click()
    expect(page.locator("#try")).to_contain_text("found")
    form.get_by_role("button", name="Add").evaluate("button => button.scrollIntoView({block: 'start'})")
    form.get_by_role("button", name="Add").evaluate("button => button.click()")
    undo = page.locator("#flashes").get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    at, bar = undo.bounding_box(), page.locator(".top").bounding_box()
    assert at and bar and bar["height"] <= at["y"] <= 400
    undo.click()
    expect(page.locator("#flashes")).to_contain_text("Undone")


def test_a_synonym_is_added_edited_and_deleted_in_its_row(page: Page, stocked: None) -> None:
    sign_in(page)
    page.goto("/admin/search/synonyms")
    page.get_by_role("link", name="Add a synonym").first.click()
    form = page.locator("#synonym-form-new")
    expect(form.get_by_label("Words that mean the same")).to_be_focused()
    form.get_by_text("One way", exact=True).click()
    form.get_by_label("Shoppers who search").fill("quonkbottle")
    form.get_by_label("Also find").fill("bottle, Bottles")
    form.get_by_role("button", name="Add").click()
    expect(form).to_contain_text("“bottle” and “Bottles” are one word to search.")
    form.get_by_label("Also find").fill("tent")
    form.get_by_role("button", name="Preview").click()
    expect(page.locator("#try")).to_contain_text(re.compile(r"0 → [1-9]\d* found"))
    expect(form).not_to_contain_text("are one word to search")
    name = page.locator("#try .tried-side:last-child .tried-places .two-lines").first.inner_text()
    form.get_by_role("button", name="Add").click()
    expect(form).to_have_count(0)
    expect(page.locator("#try")).to_be_empty()
    row = page.locator("#results tbody tr").filter(has_text="quonkbottle")
    expect(row).to_contain_text("Live")
    expect(row.get_by_role("link", name=re.compile("^Edit"))).to_be_focused()
    until_found(page, "quonkbottle", name)

    page.goto("/admin/search/synonyms?q=quonk")
    row = page.locator("#results tbody tr").filter(has_text="quonkbottle")
    row.get_by_role("link", name=re.compile("^Edit")).click()
    opened = page.locator("#results .is-open")
    expect(opened.get_by_label("Also find")).to_be_focused()
    opened.get_by_label("Also find").fill("tent, flysheet")
    opened.get_by_label("Also find").press("Control+Enter")
    expect(row).to_contain_text("tent, flysheet")
    delete = row.get_by_role("link", name=re.compile("^Delete"))
    delete.click()
    expect(opened.locator("p[data-focus]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(delete).to_be_focused()
    delete.click()
    expect(page.locator("#results")).to_contain_text("no longer finds what only says “tent” or “flysheet”")
    page.locator("#results .is-open").get_by_role("button", name="Delete").click()
    expect(page.locator("#results")).to_contain_text("No synonym matches")

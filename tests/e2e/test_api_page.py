"""The page of the API: an operation is found by words, and the page fits a phone."""

import pytest
from playwright.sync_api import Page, expect

BOTH = pytest.mark.parametrize("page", [(1280, 800), (390, 844)], indirect=True, ids=["wide", "phone"])


@BOTH
def test_an_operation_is_found_by_words_and_by_its_address(page: Page) -> None:
    page.goto("/v1/docs")
    page.keyboard.press("/")
    page.keyboard.type("capture post")
    expect(page.locator("#found")).to_contain_text("1 of ")
    expect(page.locator("#capturePosPaymentIntent")).to_be_visible()
    expect(page.locator("#login")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#login")).to_be_visible()

    page.locator("#find").fill("capture post")
    page.evaluate("location.hash = '#login'")
    expect(page.locator("#login")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

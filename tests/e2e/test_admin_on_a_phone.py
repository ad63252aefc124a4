"""The admin on a phone: no page scrolls sideways."""

import pytest
from playwright.sync_api import Page

from tests.e2e.test_from_rebuild_to_shop import sign_in

PAGES = (
    "/admin/",
    "/admin/search",
    "/admin/search/analytics",
    "/admin/search/analytics/found-nothing",
    "/admin/search/synonyms",
    "/admin/search/synonyms?word=brolly",
    "/admin/search/synonyms/import",
    "/admin/search/terms?term=brolly",
    "/admin/search/ranking",
    "/admin/search/ranking/new?term=kettle",
    "/admin/search/test?q=kettle",
    "/admin/search/golden",
    "/admin/search/judgements",
    "/admin/search/activity",
    "/admin/orders",
    "/admin/settings/search",
    "/admin/settings",
    "/admin/users",
    "/admin/activity",
    "/admin/personal-data",
    "/admin/settings/system",
    "/admin/settings/import-export",
    "/admin/catalogue/products",
    "/admin/catalogue/product/5",
    "/admin/catalogue/taxonomy",
    "/admin/catalogue/taxonomy/new",
    "/admin/catalogue/taxonomy/outdoor-and-home/copy",
    "/admin/catalogue/taxonomy/outdoor-and-home/restore",
    "/admin/catalogue/taxonomy/worklist",
    "/admin/catalogue/collections",
    "/admin/catalogue/taxonomy/outdoor-and-home?level=outdoor-camping-mats",
    "/admin/catalogue/taxonomy/outdoor-and-home?level=outdoor&attribute=colour",
    "/admin/content/pages",
    "/admin/pos/agents",
    "/admin/pos/agents/1",
    "/admin/pos/agents/new",
    "/admin/pos/settings",
    "/admin/pos/locations/new",
)


@pytest.mark.parametrize("page", [(390, 844)], indirect=True, ids=["phone"])
def test_no_admin_page_is_wider_than_the_screen(page: Page) -> None:
    sign_in(page, "admin@demo.test")
    too_wide = []
    for path in PAGES:
        answer = page.goto(path)
        assert answer is not None and answer.ok, path
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            too_wide.append(path)
    assert too_wide == []

"""No page of the shop or of its admin hinders anybody: axe finds nothing, wide and light or narrow and dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.e2e.test_from_rebuild_to_shop import sign_in
from tests.processes import RunningShop

WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
AT_REST = "() => document.getAnimations().forEach((one) => one.cancel())"
TOO_WIDE = "() => document.documentElement.scrollWidth > innerWidth"
# Of the rules that axe does not run by itself: for those who speak to their machine, and for fingers.
OFF_BY_DEFAULT = ("label-content-name-mismatch", "target-size")
OPTIONS = {"rules": {rule: {"enabled": True} for rule in OFF_BY_DEFAULT}, "resultTypes": ["violations"]}

FOR_SHOPPERS = (
    "/",
    "/c/outdoor",
    "/c/outdoor/camping/tents",
    "/search?q=waterproof+jacket",
    "/search?q=nothing+of+the+kind",
    "/p/skylark-2",
    "/basket",
    "/checkout",
    "/orders/find",
    "/no-such-page",
    "/admin/login",
    "/admin/forgotten",
    "/admin/login/passkey",
)
FOR_STAFF = (
    "/admin/?days=30",
    "/admin/activity",
    "/admin/catalogue/products",
    "/admin/catalogue/product/1",
    "/admin/catalogue/product/new",
    "/admin/catalogue/products/classify",
    "/admin/catalogue/products/import",
    "/admin/catalogue/collections",
    "/admin/catalogue/collection/new",
    "/admin/catalogue/taxonomy",
    "/admin/catalogue/taxonomy/worklist",
    "/admin/content/pages",
    "/admin/content/page/new",
    "/admin/find?q=tent",
    "/admin/help",
    "/admin/keys",
    "/admin/merchandising",
    "/admin/merchandising/category/3",
    "/admin/merchandising/category/3?show=grid",
    "/admin/orders",
    "/admin/passkeys",
    "/admin/password",
    "/admin/personal-data",
    "/admin/pos",
    "/admin/pos/journal",
    "/admin/pos/reports",
    "/admin/pos/settings",
    "/admin/pos/transactions",
    "/admin/search",
    "/admin/search/analytics?days=30",
    "/admin/search/comparisons",
    "/admin/search/golden",
    "/admin/search/judgements",
    "/admin/search/learning",
    "/admin/search/ranking",
    "/admin/search/ranking/new",
    "/admin/search/ranking/settings",
    "/admin/search/rebuilds",
    "/admin/search/synonyms",
    "/admin/search/synonyms/new",
    "/admin/search/terms",
    "/admin/search/test?q=tent",
    "/admin/seo/check",
    "/admin/seo/crawlers",
    "/admin/seo/inspector?path=/c/outdoor",
    "/admin/seo/redirects",
    "/admin/seo/redirects/import",
    "/admin/seo/settings",
    "/admin/seo/sitemap",
    "/admin/settings",
    "/admin/settings/appearance",
    "/admin/settings/delivery",
    "/admin/settings/emails",
    "/admin/settings/import-export",
    "/admin/settings/search",
    "/admin/subscriptions",
    "/admin/tokens",
    "/admin/two-step",
    "/admin/user/invite",
    "/admin/users",
)


def findings(page: Page, path: str) -> list[str]:
    """Return what axe finds on a page, and whether it must be scrolled sideways."""
    page.goto(path)
    page.evaluate(AT_REST)
    found = [
        f"{path}: {violation['id']}, {node['html'][:160]}"
        for violation in Axe().run(page, options=OPTIONS).response["violations"]
        for node in violation["nodes"][:3]
    ]
    return [*found, *([f"{path}: wider than the screen"] if page.evaluate(TOO_WIDE) else [])]


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(WIDE, "light", id="wide", marks=pytest.mark.thorough),
        pytest.param(PHONE, "dark", id="phone"),
    ],
)
def test_no_page_hinders_anybody(
    browser: Browser, shop: RunningShop, stocked: None, size: dict[str, int], scheme: str
) -> None:
    context = browser.new_context(base_url=shop.address, viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    found = [finding for path in FOR_SHOPPERS for finding in findings(page, path)]
    sign_in(page, "admin@demo.test")
    found += [finding for path in FOR_STAFF for finding in findings(page, path)]
    context.close()
    assert not found, "\n".join(found)

"""Category pages over HTTP."""

from __future__ import annotations

from tests.blueprints.storefront.conftest import Get


def test_a_category_shows_its_products(get: Get):
    page = get("/c/camping/tents")
    assert page.status_code == 200
    assert "<h1>Tents</h1>" in page.text
    assert "Fell tent 9" in page.text

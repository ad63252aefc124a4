"""What the page about the sitemap shows, at a cost that does not grow with the shop."""

from __future__ import annotations

import pytest
from flask import Flask

from app import ports
from app.domain.search.engine import MOST_FACET_VALUES
from app.domain.seo.sitemap.builds import sitemap_overview
from app.domain.shared.clock import Clock
from tests.blueprints.storefront import small_shop
from tests.domain.seo.sitemap.counting import Counting
from tests.snapshots import built

pytestmark = pytest.mark.usefixtures("context")


def test_a_shop_of_more_categories_than_are_counted_at_once_asks_search_once(app: Flask, clock: Clock) -> None:
    site_id = built(app, small_shop.build)
    engine = Counting(MOST_FACET_VALUES)
    shown = sitemap_overview(clock, engine, ports.sitemaps(), site_id)  # type: ignore[arg-type]
    assert engine.requests == 1
    assert [category.label for category in shown.categories_left_out] == ["Camping › Hidden"]
    assert not shown.is_every_category_counted

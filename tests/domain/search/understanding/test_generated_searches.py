"""A thousand searches made from a real shop's products are understood as their products say."""

from __future__ import annotations

from app.domain.search.understanding.facts import QueryReader
from bench.generated_searches import CURRENCY, CountedShop, SearchMaker, score
from tests.surroundings import real_bundle

SEARCHES = 1_000


def test_what_is_understood_is_nearly_always_right_and_most_of_what_is_said():
    shop = CountedShop(real_bundle("icecat-3"))
    reader = QueryReader.of(1, shop.tree, CURRENCY, ("manufacturer", "price"))
    searches = SearchMaker(shop).make(SEARCHES)
    result = score([(one, reader.understand(shop, one.words).parts) for one in searches])
    assert result.wanted > SEARCHES, "most searches say something"
    assert result.precision >= 0.98
    assert result.recall >= 0.85

"""What is kept of the names of a shop, and of what its popular searches find: the newest, and not for long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from flask import Flask

from app.domain.merchandising.shop import Shop, read_shop
from app.domain.search.engine import IndexName, SearchRequest, SearchResult, SearchUnavailable
from app.domain.search.ranking_settings import RankingSettings, SoldOut
from app.domain.search.serving.plan import Served
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Rule
from app.domain.search.suggestions import CHECKED_FOR, FRESH, SuggestionDirectory
from tests.blueprints.storefront import small_shop
from tests.snapshots import built

NOW = datetime.fromisoformat("2026-11-23T12:00:00+00:00")


class Counted:
    """An engine whose products are all tents of one brand. It counts what it is asked, and may be away."""

    def __init__(self, tents: int) -> None:
        self.tents, self.requests, self.is_away, self.found, self.brands = tents, 0, False, 0, ("Moor",)
        self.checked: list[str] = []

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        self.requests += 1
        if self.is_away:
            raise SearchUnavailable("It is away.")
        counted = {"category": ((str(self.tents), 4),), "manufacturer": tuple((name, 4) for name in self.brands)}
        return SearchResult(4, facets={name: counted[name] for name in request.facets})

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        if index is not IndexName.PRODUCTS:
            return [SearchResult(0) for _ in requests]
        self.checked += [request.words for request in requests]
        return [SearchResult(0 if "nothing" in request.words else self.found) for request in requests]


@pytest.fixture
def shop(app: Flask, context: None) -> Shop:
    site_id = built(app, small_shop.build)
    return read_shop(site_id)


@pytest.fixture
def engine(shop: Shop) -> Counted:
    return Counted(next(node.id for node in shop.tree.nodes.values() if node.name == "Tents"))


def categories(directory: SuggestionDirectory, engine: Counted, shop: Shop, now: datetime = NOW) -> list[str]:
    return [node.name for node in directory.categories(engine, shop, now)]


def test_what_search_did_not_count_while_it_was_away_is_not_kept(engine: Counted, shop: Shop) -> None:
    directory, engine.is_away = SuggestionDirectory(), True
    assert "Mugs" in categories(directory, engine, shop)
    engine.is_away = False
    assert categories(directory, engine, shop) == ["Tents"]
    engine.is_away = True
    assert categories(directory, engine, shop) == ["Tents"], "what was counted is kept"


def test_names_are_counted_once_a_minute_however_often_the_index_changes(engine: Counted, shop: Shop) -> None:
    directory = SuggestionDirectory()
    for version in range(50):
        changed = replace(shop, index_version=version)
        categories(directory, engine, changed)
        directory.brands(engine, changed, NOW + FRESH / 2)
    assert engine.requests == 2
    engine.brands, later = ("Fell",), NOW + 2 * FRESH
    same = replace(shop, index_version=0)
    assert [brand.name for brand in directory.brands(engine, same, later)] == ["Moor"], "nothing changed"
    assert [brand.name for brand in directory.brands(engine, changed, later)] == ["Fell"]
    assert len(directory._brands) == len(directory._categories) == 1, "the newest of each shop alone are kept"


def test_names_that_stayed_the_same_are_not_made_anew(engine: Counted, shop: Shop) -> None:
    directory = SuggestionDirectory()
    changed, later = replace(shop, index_version=shop.index_version + 1), NOW + 2 * FRESH
    before = directory.categories(engine, shop, NOW), directory.brands(engine, shop, NOW)
    after = directory.categories(engine, changed, later), directory.brands(engine, changed, later)
    assert engine.requests == 4
    assert [new is old for new, old in zip(after, before, strict=True)] == [True, True]


def test_another_tree_is_read_at_once(engine: Counted, shop: Shop) -> None:
    directory = SuggestionDirectory()
    categories(directory, engine, shop)
    categories(directory, engine, replace(shop, version=shop.version + 1))
    assert engine.requests == 2


@pytest.mark.parametrize(
    "other",
    [
        {"ranking": replace(RankingSettings.DEFAULT, sold_out=SoldOut.HIDDEN)},
        {"stop_words": frozenset({"cheap"})},
        {"version": 1},
    ],
    ids=["ranking", "optional words", "version"],
)
def test_what_a_search_finds_is_looked_for_again_under_other_settings(
    engine: Counted, shop: Shop, other: dict[str, object]
) -> None:
    directory = SuggestionDirectory()
    assert directory.leading_searches(engine, shop, Served.NOTHING, NOW, ["tent"], 1) == []
    engine.found = 3
    assert directory.leading_searches(engine, shop, Served.NOTHING, NOW, ["tent"], 1) == []
    assert directory.leading_searches(engine, shop, replace(Served.NOTHING, **other), NOW, ["tent"], 1) == ["tent"]


def test_no_more_searches_are_checked_than_it_takes(engine: Counted, shop: Shop) -> None:
    directory, engine.found = SuggestionDirectory(), 3
    searches = ["tent", "mug", "stove", "rope"]
    assert directory.leading_searches(engine, shop, Served.NOTHING, NOW, searches, 2) == ["tent", "mug"]
    assert engine.checked == ["tent", "mug"]
    searches = ["tent", "nothing", "stove", "rope"]
    assert directory.leading_searches(engine, shop, Served.NOTHING, NOW, searches, 2) == ["tent", "stove"]
    assert engine.checked == ["tent", "mug", "nothing", "stove", "rope"], "those that are known are not checked again"


def test_what_a_search_finds_is_looked_for_once_a_minute_however_often_the_index_changes(
    engine: Counted, shop: Shop
) -> None:
    directory, engine.found = SuggestionDirectory(), 3

    def tent(version: int, now: datetime) -> list[str]:
        return directory.leading_searches(
            engine, replace(shop, index_version=version), Served.NOTHING, now, ["tent"], 1
        )

    assert [tent(version, NOW + FRESH / 2) for version in range(50)] == [["tent"]] * 50
    assert engine.checked == ["tent"]
    engine.found = 0
    assert tent(0, NOW + 2 * FRESH) == ["tent"], "nothing changed"
    assert tent(49, NOW + 2 * FRESH) == [], "what finds nothing is shown for a minute at most"


def test_a_search_whose_redirect_ended_is_suggested_for_minutes_at_most(engine: Counted, shop: Shop) -> None:
    rule = Rule("sale", redirect_url="/c/camping", ends_at=NOW + timedelta(seconds=1))
    directory, served = SuggestionDirectory(), replace(Served.NOTHING, rules=RuleSet.of([rule]))
    assert directory.leading_searches(engine, shop, served, NOW, ["sale"], 1) == ["sale"]
    later = NOW + timedelta(seconds=CHECKED_FOR)
    assert directory.leading_searches(engine, shop, served, later, ["sale"], 1) == []

"""The search parts of the contract, against a real node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.domain.search.engine import Alternatives, SearchEngine, SearchRequest
from tests.adapters.opensearch_loader import Loader, loaded, node_url
from tests.contracts.meaning_contract import MeaningContract, model
from tests.contracts.ranking_contract import RankingContract
from tests.contracts.search_engine_contract import PRODUCTS, SITE, SearchEngineContract, rebuild, shoe
from tests.contracts.taught_search_contract import TaughtSearchContract

__all__ = ["node_url"]


class TestSearches(SearchEngineContract, TaughtSearchContract, MeaningContract, RankingContract):
    @pytest.fixture
    def engine(self, node_url: str) -> Iterator[Loader]:
        with loaded(node_url) as loader:
            yield loader

    @pytest.fixture
    def engine_with_model(self, node_url: str) -> Iterator[Loader]:
        with loaded(node_url, model()) as loader:
            yield loader

    def test_a_trial_knows_the_meaning_of_what_is_not_saved(self, taught: SearchEngine) -> None:
        assert not taught.supports_trials

    def test_a_search_by_meaning_takes_three_round_trips(self, engine_with_model: Loader) -> None:
        rebuild(engine_with_model, [shoe(n, "Blue shoe") for n in range(20)])
        engine_with_model.trips = 0
        request = SearchRequest(words="blue shoe", by_meaning=True)
        assert engine_with_model.search(SITE, PRODUCTS, request).total == 20
        assert engine_with_model.trips == 3

    def test_an_ordinary_search_takes_two_round_trips_and_many_share_theirs(self, engine: Loader) -> None:
        rebuild(engine, [shoe(n, "Blue shoe", values={"level": ("root", "shoes")}) for n in range(20)])
        request = SearchRequest(words="blue shoe", facets=("brand", "colour"), range_facets=("price",))
        for requests in ([request], [replace(request, page=page, per_page=5) for page in (1, 2, 3)]):
            engine.trips = 0
            assert all(result.total == 20 for result in engine.search_many(SITE, PRODUCTS, requests))
            assert engine.trips == 2

    def test_a_search_that_finds_too_little_takes_a_few_more(self, engine: Loader) -> None:
        rebuild(engine, [shoe(n, "Blue shoe") for n in range(20)])
        for words in ("blue shoe kettle", "blue shoo", "blu"):
            engine.trips = 0
            assert engine.search(SITE, PRODUCTS, SearchRequest(words=words)).total == 20
            assert engine.trips <= 10, words

    @pytest.mark.parametrize("found", [True, False])
    def test_a_search_as_long_as_they_come_is_answered(self, engine: Loader, found: bool) -> None:
        typed = [f"word{letter}" for letter in "abcdefghijklmnop"]
        rebuild(engine, [shoe(n, " ".join(typed[: 15 + found])) for n in range(2)])
        runs = [
            Alternatives(n, 1, tuple((f"{word}{m}", "or", "other") for m in range(8))) for n, word in enumerate(typed)
        ]
        request = SearchRequest(words=" ".join(typed), alternatives=tuple(runs))
        assert {hit.id for hit in engine.search(SITE, PRODUCTS, request).hits} == {"P0", "P1"}

    def damage(self, engine: object) -> None:
        pytest.skip("is about the life of an engine, of which this has none")

"""The search parts of the contract, against a real node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.opensearch_loader import Loader, loaded, node_url
from tests.contracts.ranking_contract import RankingContract
from tests.contracts.search_engine_contract import SearchEngineContract
from tests.contracts.taught_search_contract import TaughtSearchContract

__all__ = ["node_url"]


class TestSearches(SearchEngineContract, TaughtSearchContract, RankingContract):
    @pytest.fixture
    def engine(self, node_url: str) -> Iterator[Loader]:
        with loaded(node_url) as loader:
            yield loader

    def damage(self, engine: object) -> None:
        pytest.skip("is about the life of an engine, of which this has none")

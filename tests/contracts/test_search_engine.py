from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from app.adapters.null_engine import NullEngine
from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import EngineState, IndexName, SearchEngine, SearchRequest, SearchUnavailable
from tests.adapters.reference_engine import ReferenceEngine
from tests.adapters.whoosh_catalogue import generation_directory
from tests.contracts.meaning_contract import MeaningContract, model
from tests.contracts.placed_groups_contract import PlacedGroupsContract
from tests.contracts.ranking_contract import RankingContract
from tests.contracts.search_engine_contract import SearchEngineContract
from tests.contracts.spelling_contract import SpellingContract
from tests.contracts.taught_search_contract import TaughtSearchContract
from tests.contracts.word_forms_contract import WordFormsContract
from tests.shared_node import engine_of, lose_files, own_settings


class Contracts(
    SearchEngineContract,
    TaughtSearchContract,
    MeaningContract,
    RankingContract,
    PlacedGroupsContract,
    WordFormsContract,
    SpellingContract,
):
    """All that an engine must do."""


class TestWhooshEngine(Contracts):
    @pytest.fixture
    def engine(self, tmp_path: Path) -> SearchEngine:
        return WhooshEngine(tmp_path / "index")

    @pytest.fixture
    def engine_with_model(self, tmp_path: Path) -> SearchEngine:
        return WhooshEngine(tmp_path / "index", model(), wait=60)

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "index"

    def damage(self, engine: SearchEngine) -> None:
        for segment in generation_directory(self.folder).glob("*.seg"):
            os.truncate(segment, 100)


class TestReferenceEngine(Contracts):
    @pytest.fixture
    def engine(self) -> SearchEngine:
        return ReferenceEngine()

    @pytest.fixture
    def engine_with_model(self) -> SearchEngine:
        return ReferenceEngine(model())

    def damage(self, engine: SearchEngine) -> None:
        assert isinstance(engine, ReferenceEngine)
        engine.damaged.update(engine.live)


class TestOpenSearchEngine(Contracts):
    @pytest.fixture
    def engine(self, opensearch_url: str, tmp_path: Path) -> Iterator[SearchEngine]:
        with own_settings(opensearch_url) as settings:
            self.client, self.prefix = OpenSearch([opensearch_url]), settings.prefix
            yield engine_of(settings, tmp_path)
            self.client.close()

    @pytest.fixture
    def engine_with_model(self, opensearch_url: str, tmp_path: Path) -> Iterator[SearchEngine]:
        with own_settings(opensearch_url) as settings:
            yield engine_of(settings, tmp_path, model())

    def damage(self, engine: SearchEngine) -> None:
        lose_files(self.client, f"{self.prefix}-1-products-*")


class TestNullEngine:
    """Not set up is a state of the product: it is told, and nothing is searched."""

    def test_says_that_it_is_not_set_up(self) -> None:
        assert NullEngine().status(1, IndexName.PRODUCTS).state is EngineState.NOT_SET_UP

    def test_everything_else_answers_with_a_sentence(self) -> None:
        engine = NullEngine()
        for search in (
            lambda: engine.search(1, IndexName.PRODUCTS, SearchRequest()),
            lambda: engine.search_many(1, IndexName.PRODUCTS, [SearchRequest()]),
            lambda: engine.explain(1, IndexName.PRODUCTS, SearchRequest(), "P1"),
            lambda: engine.apply(1, IndexName.PRODUCTS, []),
            lambda: engine.trial(1, IndexName.PRODUCTS, []),
            lambda: engine.start_generation(1, IndexName.PRODUCTS),
            lambda: engine.digests(1, IndexName.PRODUCTS),
            lambda: engine.verify(1, IndexName.PRODUCTS),
        ):
            with pytest.raises(SearchUnavailable, match="not set up"):
                search()

    def test_says_that_it_has_no_trials(self) -> None:
        assert not NullEngine().supports_trials

    def test_has_nothing_to_lock_or_to_forget(self) -> None:
        with NullEngine().exclusive(1, IndexName.PRODUCTS):
            NullEngine().forget(1)

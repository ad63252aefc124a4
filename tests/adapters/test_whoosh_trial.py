"""A trial answers as the index would after the changes, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import (
    Change,
    Delete,
    IndexDocument,
    IndexName,
    Searching,
    SearchRequest,
    SearchResult,
    SearchUnavailable,
    Upsert,
)

SITE = 7


def _kettle(number: int, *terms: str, name: str = "Green kettle") -> IndexDocument:
    return IndexDocument(
        id=f"p{number}", name=f"{name} {number}", terms=terms, card={"sku": f"K{number}"}, digest=f"{number}{terms}"
    )


def _build(engine: WhooshEngine, documents: Iterable[IndexDocument]) -> None:
    generation = engine.start_generation(SITE, IndexName.PRODUCTS)
    generation.add(documents)
    generation.seal()
    with engine.exclusive(SITE, IndexName.PRODUCTS):
        generation.publish()


@pytest.fixture
def engine(tmp_path: Path) -> WhooshEngine:
    made = WhooshEngine(tmp_path)
    _build(made, [_kettle(number) for number in range(1, 31)])
    return made


def _search(searching: Searching, words: str) -> SearchResult:
    return searching.search(SITE, IndexName.PRODUCTS, SearchRequest(words=words, per_page=50, facets=("none",)))


CHANGES: list[Change] = [
    Upsert(_kettle(3, "tea maker")),
    Delete("p4"),
    Upsert(_kettle(31, name="Red teapot")),
    Delete("p999"),
]


@pytest.mark.parametrize("words", ["kettle", "tea maker", "teapot", "green kettle 3", "kettel", "nothing at all", ""])
def test_a_trial_answers_exactly_as_the_index_does_after_the_changes(engine: WhooshEngine, words: str) -> None:
    with engine.trial(SITE, IndexName.PRODUCTS, CHANGES) as trial:
        tried = _search(trial, words)
    with engine.exclusive(SITE, IndexName.PRODUCTS):
        engine.apply(SITE, IndexName.PRODUCTS, CHANGES)
    assert tried == _search(engine, words)


def test_a_trial_changes_nothing_for_anybody_else(engine: WhooshEngine) -> None:
    before = _search(engine, "tea maker"), engine.status(SITE, IndexName.PRODUCTS)
    with engine.trial(SITE, IndexName.PRODUCTS, CHANGES) as trial:
        assert _search(trial, "tea maker").total == 1
        assert (_search(engine, "tea maker"), engine.status(SITE, IndexName.PRODUCTS)) == before
    assert (_search(engine, "tea maker"), engine.status(SITE, IndexName.PRODUCTS)) == before
    assert _search(engine, "kettel").suggestion == "kettle"


def test_a_trial_without_changes_answers_as_the_index_does(engine: WhooshEngine) -> None:
    with engine.trial(SITE, IndexName.PRODUCTS, []) as trial:
        assert _search(trial, "green kettle") == _search(engine, "green kettle")


def test_a_trial_without_an_index_says_so(tmp_path: Path) -> None:
    engine = WhooshEngine(tmp_path / "none")
    with pytest.raises(SearchUnavailable), engine.trial(SITE, IndexName.PRODUCTS, CHANGES):
        pass


def test_what_goes_wrong_during_a_trial_is_told_as_it_is(engine: WhooshEngine) -> None:
    with pytest.raises(ValueError, match="mine"), engine.trial(SITE, IndexName.PRODUCTS, CHANGES):
        raise ValueError("mine")

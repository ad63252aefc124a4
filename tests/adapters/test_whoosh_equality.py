"""Whoosh itself reads what our writer writes, and finds, scores and counts the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from whoosh import columns, query, reading, scoring, searching

from app.adapters.whoosh import WhooshEngine
from app.adapters.whoosh.files import VALUE_SEPARATOR
from app.adapters.whoosh.scoring import field_scores, word_matches
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest, Upsert, ValueFilter
from app.domain.search.ranking.scoring import K1, TEXT_FIELDS, inverse_document_frequency
from app.domain.search.text import words
from tests.adapters.whoosh_catalogue import (
    BRANDS,
    COLOURS,
    PRODUCTS,
    SITE,
    THINGS,
    TRAITS,
    apply,
    built,
    changed_much,
    product,
    whoosh_searcher,
)


@pytest.fixture(params=["fresh", "changed"])
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """One segment without deletions, and many segments with them."""
    (built if request.param == "fresh" else changed_much)(tmp_path, 300)
    return tmp_path


class WithoutDeleted(scoring.BM25F):  # type: ignore[misc]
    """Whoosh's scores, for which deleted documents have no words: Whoosh counts them until it merges."""

    def idf(self, searcher: searching.Searcher, fieldname: str, text: bytes) -> float:
        reader = searcher.get_parent().reader()
        holders = [doc for doc in reader.postings(fieldname, text).all_ids() if not reader.is_deleted(doc)]
        return inverse_document_frequency(reader.doc_count(), len(holders))


@pytest.fixture
def searcher(directory: Path) -> Iterator[searching.Searcher]:
    field_b = {f"{name}_B": field.b for name, field in TEXT_FIELDS.items()}
    with whoosh_searcher(directory, weighting=WithoutDeleted(K1=K1, **field_b)) as searcher:
        yield searcher


@pytest.fixture
def view(directory: Path) -> View:
    return WhooshEngine(directory)._reader(SITE, PRODUCTS).view()


def live(view: View, scores: dict[int, float]) -> dict[int, float]:
    return {doc: score for doc, score in scores.items() if view.live is None or view.live[doc]}


def column(reader: reading.IndexReader, name: str) -> columns.ColumnReader:
    return reader.column_reader(name, reader.schema[name].column_type)


def whoosh_scores(searcher: searching.Searcher, whoosh_query: query.Query) -> dict[int, float]:
    return {hit.docnum: hit.score for hit in searcher.search(whoosh_query, limit=None)}


@pytest.mark.parametrize("word", [*words(" ".join(THINGS)), *words(" ".join(TRAITS)), "acme"])
def test_a_word_scores_in_each_field_as_whoosh_scores_it(view: View, searcher: searching.Searcher, word: str) -> None:
    for field in TEXT_FIELDS:
        scored = field_scores(view, field, word)
        ours = {} if scored is None else dict(zip(scored[0].tolist(), scored[1].tolist(), strict=True))
        assert live(view, ours) == pytest.approx(whoosh_scores(searcher, query.Term(field, word)), rel=1e-6)


@pytest.mark.parametrize("word", words(" ".join(THINGS)))
def test_weighted_fields_add_up_as_in_whoosh(view: View, searcher: searching.Searcher, word: str) -> None:
    sent = query.Or([query.Term(name, word, boost=field.weight) for name, field in TEXT_FIELDS.items()])
    matches = word_matches(view, word)
    exact = matches.fields >= 1 << len(TEXT_FIELDS)
    assert not exact.any(), "the words of this catalogue are in no field of codes"
    ours = dict(zip(matches.docs.tolist(), matches.scores.tolist(), strict=True))
    assert live(view, ours) == pytest.approx(whoosh_scores(searcher, sent), rel=1e-5)


def test_all_words_find_what_whoosh_finds(directory: Path, view: View, searcher: searching.Searcher) -> None:
    engine = WhooshEngine(directory)
    for thing in words(" ".join(THINGS)):
        for trait in words(" ".join(TRAITS)):
            each = [query.Or([query.Term(field, word) for field in TEXT_FIELDS]) for word in (thing, trait)]
            expected = len(searcher.search(query.And(each), limit=None))
            result = engine.search(SITE, PRODUCTS, SearchRequest(words=f"{thing} {trait}", prefix_last=False))
            assert result.total == expected or (result.relaxed and expected < 4)


def test_values_are_counted_as_whoosh_reads_them(directory: Path, searcher: searching.Searcher) -> None:
    engine = WhooshEngine(directory)
    reader = searcher.reader()
    for brand in BRANDS:
        brands, colours = (
            reader.column_reader(f"v_{name}", reader.schema[f"v_{name}"].column_type) for name in ("brand", "colour")
        )
        docs = [doc for doc in reader.all_doc_ids() if brands[doc].decode() == brand]
        counted = Counter(value for doc in docs for value in colours[doc].decode().split(VALUE_SEPARATOR) if value)
        result = engine.search(
            SITE, PRODUCTS, SearchRequest(filters=(ValueFilter("brand", (brand,)),), facets=("colour",))
        )
        assert (result.total, dict(result.facets["colour"])) == (len(docs), dict(counted))
        assert set(counted) <= set(COLOURS)


def test_whoosh_finds_documents_by_id_and_reads_their_columns(view: View, searcher: searching.Searcher) -> None:
    doc = searcher.document_number(id="P42")
    reader = searcher.reader()
    assert doc == view.document_of("P42")
    assert column(reader, "doc")[doc] == b"P42"
    assert column(reader, "n_price")[doc] == view.numbers("price")[doc]


def test_lengths_and_frequencies_are_those_that_whoosh_counts(tmp_path: Path) -> None:
    built(tmp_path, 50)
    with whoosh_searcher(tmp_path) as searcher:
        reader = searcher.reader()
        names = [words(product(number).name) for number in range(50)]
        assert reader.field_length("name") == sum(map(len, names))
        assert [reader.doc_field_length(doc, "name") for doc in range(50)] == list(map(len, names))
        assert reader.frequency("name", "tent") == sum(name.count("tent") for name in names)
        assert reader.doc_frequency("name", "tent") == sum("tent" in name for name in names)
        assert list(reader.lexicon("name")) == [word.encode() for word in sorted({w for name in names for w in name})]


def test_words_of_what_was_just_saved_count_as_before(tmp_path: Path) -> None:
    built(tmp_path, 50)
    engine = WhooshEngine(tmp_path)

    def scores() -> list[float]:
        found: list[float] = word_matches(engine._reader(SITE, PRODUCTS).fresh_view(), "tent").scores.tolist()
        return sorted(found)

    before = scores()
    apply(engine, *(Upsert(product(number)) for number in range(50) if "tent" in words(product(number).name)))
    assert scores() == pytest.approx(before, rel=1e-2)


def test_scores_are_numbers(view: View) -> None:
    assert np.isfinite(word_matches(view, "tent").scores).all()

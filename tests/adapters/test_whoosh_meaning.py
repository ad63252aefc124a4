"""The vectors of documents on files: what is embedded when, and what is never compared."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.adapters.whoosh import WhooshEngine
from app.adapters.whoosh.building import MOST_EMBEDDED
from app.adapters.whoosh.embedding import BATCH, MOST_BYTES, Embedder, UnfinishedVectors
from app.adapters.whoosh.meaning import Meaning, _ranks, _ranks_by_words, meaning_of
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.vectors import hash_texts, pack_vectors
from app.domain.search.engine import Delete, EngineState, IndexDocument, SearchRequest, Upsert
from app.domain.search.ranking.scoring import RANKED
from app.domain.search.sentence_model import Meanings, QueryVectors, SentenceModelUnavailable, Vectors
from tests.adapters.whoosh_catalogue import generation_directory
from tests.contracts.meaning_contract import THINGS, answer, ids, model, thing
from tests.contracts.search_engine_contract import PRODUCTS, SITE, apply, rebuild
from tests.fakes.sentence_model import WordSums

LONG = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


def with_model(folder: Path, made: WordSums | None = None) -> tuple[WhooshEngine, WordSums]:
    made = made or model()
    return WhooshEngine(folder, made, wait=LONG), made


def newly_embedded(model: WordSums) -> list[str]:
    texts, model.embedded[:] = list(model.embedded), []
    return texts


def segments_of(engine: WhooshEngine) -> Sequence[Segment]:
    return engine._reader(SITE, PRODUCTS).fresh_view().segments


def test_a_rebuild_embeds_only_what_changed(folder: Path):
    engine, made = with_model(folder)
    rebuild(engine, THINGS)
    assert newly_embedded(made) == [document.name for document in THINGS]
    rebuild(engine, [*THINGS[:-1], thing(5, "Kettle"), thing(6, "Couch")])
    assert newly_embedded(made) == ["Kettle"]
    assert set(ids(answer(engine, "furniture", correct=False))) == {"T3", "T4", "T6"}


def abandoned(engine: WhooshEngine, documents: Sequence[IndexDocument]) -> None:
    """A rebuild whose process ends before it is done."""
    engine.start_generation(SITE, PRODUCTS).add(documents)


def test_a_rebuild_goes_on_where_one_that_did_not_finish_ended(folder: Path):
    first, made = with_model(folder)
    abandoned(first, [thing(n, f"Couch {n}") for n in range(BATCH + 5)])
    assert len(made.embedded) == BATCH
    engine, made = with_model(folder)
    rebuild(engine, [thing(n, f"Couch {n}") for n in range(BATCH + 5)])
    assert made.embedded == [f"Couch {n}" for n in range(BATCH, BATCH + 5)]
    assert not engine.status(SITE, PRODUCTS).lacks_vectors
    assert not list(folder.rglob("*.vectors")), "a finished rebuild leaves nothing beside the index"


def test_what_was_half_written_or_of_another_model_is_not_taken_over(tmp_path: Path):
    file = tmp_path / "unfinished.vectors"
    kept, rows = (
        UnfinishedVectors(file),
        pack_vectors("this", WordSums().embed(["mug", "lamp"]), hash_texts(["mug", "lamp"])),
    )
    kept.append(rows)
    kept.append(rows)
    file.write_bytes(file.read_bytes()[:-1])
    assert [len(vectors) for vectors in kept.read("this")] == [2]
    assert kept.read("that") == []
    assert not file.exists()


def test_what_follows_a_half_written_block_is_kept(tmp_path: Path):
    file = tmp_path / "unfinished.vectors"
    kept, rows = (
        UnfinishedVectors(file),
        pack_vectors("this", WordSums().embed(["mug", "lamp"]), hash_texts(["mug", "lamp"])),
    )
    kept.append(rows)
    file.write_bytes(file.read_bytes()[:-1])
    assert kept.read("this") == []
    kept.append(rows)
    assert [len(vectors) for vectors in kept.read("this")] == [2]


def test_so_much_is_kept_and_no_more(tmp_path: Path):
    file = tmp_path / "unfinished.vectors"
    file.touch()
    os.truncate(file, MOST_BYTES)
    UnfinishedVectors(file).append(pack_vectors("this", WordSums().embed(["mug"]), hash_texts(["mug"])))
    assert file.stat().st_size == MOST_BYTES


def test_another_process_takes_vectors_over_as_well(folder: Path):
    rebuild(with_model(folder)[0], THINGS)
    engine, made = with_model(folder)
    rebuild(engine, THINGS)
    assert newly_embedded(made) == []


def test_a_change_of_anything_but_the_text_embeds_nothing(folder: Path):
    engine, made = with_model(folder)
    rebuild(engine, THINGS)
    newly_embedded(made)
    apply(engine, Upsert(thing(3, "Couch", colour="Green")), Delete("T4"))
    assert newly_embedded(made) == []
    assert ids(answer(engine, "furniture", correct=False)) == ["T3"]


def test_what_was_indexed_without_a_vector_gets_one_when_it_is_saved_again(folder: Path):
    engine, _ = with_model(folder, WordSums(dimensions=8))
    rebuild(engine, [thing(n, f"Teapot {n}") for n in range(1_000)])
    late = [Upsert(thing(n, f"Couch {n}")) for n in range(1_000, 1_060)]
    with engine.exclusive(SITE, PRODUCTS):
        engine.apply(SITE, PRODUCTS, late)  # Saved after the preparation of the batch that has them.
    assert engine.status(SITE, PRODUCTS).vectors == 1_000
    apply(engine, *late)
    assert engine.status(SITE, PRODUCTS).vectors == 1_060


def test_changes_saved_during_a_rebuild_are_embedded_with_it(folder: Path):
    engine, _ = with_model(folder)
    rebuild(engine, THINGS, [Upsert(thing(7, "Settee"))])
    assert set(ids(answer(engine, "furniture", correct=False))) == {"T3", "T4", "T7"}


def test_merged_segments_keep_their_vectors(folder: Path):
    engine, made = with_model(folder)
    rebuild(engine, THINGS)
    for number in range(10, 30):
        apply(engine, Upsert(thing(number, f"Couch number{number} sofa sofa sofa sofa")))
    assert len(segments_of(engine)) < 10
    assert len(made.embedded) == len(THINGS) + 20
    assert answer(engine, "furniture", correct=False).total == 22
    assert not engine.status(SITE, PRODUCTS).lacks_vectors


def test_a_large_build_uses_both_processes_and_loses_no_vector(folder: Path):
    engine, made = with_model(folder, WordSums({"couch": "sofa"}, dimensions=8))
    rebuild(engine, [thing(n, f"Couch {n}") for n in range(5_000)])
    vectors = [segment.vectors for segment in segments_of(engine)]
    assert sorted(len(v) for v in vectors if v is not None) == [2_500, 2_500]
    expected = Embedder(made).vectors([thing(7, "Couch 7")])
    assert any((v.rows[:] == expected.rows[0]).all(axis=1).any() for v in vectors if v is not None)
    assert not engine.status(SITE, PRODUCTS).lacks_vectors


def test_without_a_model_no_vector_is_written(folder: Path):
    engine = WhooshEngine(folder)
    rebuild(engine, THINGS)
    apply(engine, Upsert(thing(6, "Couch")))
    assert [segment.vectors for segment in segments_of(engine)] == [None, None]
    assert ids(answer(engine, "computer")) == ["T1", "T2"]
    assert not engine.status(SITE, PRODUCTS).lacks_vectors


def test_an_index_from_before_the_model_answers_by_words_until_it_is_rebuilt(folder: Path):
    rebuild(WhooshEngine(folder), THINGS)
    engine, _ = with_model(folder)
    apply(engine, Upsert(thing(6, "Couch")))
    assert engine.status(SITE, PRODUCTS).lacks_vectors
    assert ids(answer(engine, "computer")) == ["T1", "T2"]
    assert answer(engine, "furniture", correct=False).total == 0
    rebuild(engine, THINGS)
    assert not engine.status(SITE, PRODUCTS).lacks_vectors
    assert ids(answer(engine, "computer")) == ["T2", "T1"]


def test_vectors_of_another_model_are_never_compared(folder: Path):
    class Other(WordSums):
        name = "other"

    rebuild(with_model(folder)[0], THINGS)
    engine, made = with_model(folder, Other())
    assert engine.status(SITE, PRODUCTS).lacks_vectors
    assert answer(engine, "couch").by_meaning_alone == 0
    rebuild(engine, THINGS)
    assert set(newly_embedded(made)) == {"couch", *(document.name for document in THINGS)}


def test_a_model_that_is_gone_leaves_what_the_index_finds(folder: Path):
    rebuild(with_model(folder)[0], THINGS)
    engine = WhooshEngine(folder)
    apply(engine, Upsert(thing(6, "Computer")))
    assert set(ids(answer(engine, "computer"))) == {"T1", "T2", "T6"}


class Unusable(WordSums):
    def embed(self, texts: Sequence[str]) -> Vectors:
        raise SentenceModelUnavailable("Its weights are damaged.")


def test_a_change_of_anything_but_the_text_does_not_even_load_the_model(folder: Path):
    rebuild(with_model(folder)[0], THINGS)
    apply(WhooshEngine(folder, Unusable()), Upsert(thing(3, "Couch", colour="Green")))
    assert set(ids(answer(with_model(folder)[0], "furniture", correct=False))) == {"T3", "T4"}


@pytest.mark.parametrize("fault", [SentenceModelUnavailable("Damaged."), OSError("Too many open files"), MemoryError()])
def test_a_model_that_cannot_be_used_leaves_a_rebuild_and_changes_by_words(folder: Path, fault: Exception):
    class Faulty(WordSums):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise fault

    engine = WhooshEngine(folder, Faulty())
    rebuild(engine, [*THINGS, *(thing(n, f"Teapot {n}") for n in range(10, 600))])
    apply(engine, Upsert(thing(6, "Computer")))
    assert set(ids(engine.search(SITE, PRODUCTS, SearchRequest(words="computer")))) == {"T1", "T2", "T6"}


class Stuck(WordSums):
    """Makes vectors for shoppers when it is freed, and others at once."""

    def __init__(self) -> None:
        super().__init__({"computer": "laptop", "notebook": "laptop"})
        self.free = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        if threading.current_thread().name.startswith("query-vectors"):
            assert self.free.wait(LONG)
        return super().embed(texts)


@pytest.fixture
def stuck(folder: Path) -> Iterator[WhooshEngine]:
    """An engine whose shoppers get no vector."""
    made = Stuck()
    engine = WhooshEngine(folder, made, wait=0.0)
    rebuild(engine, THINGS)
    yield engine
    made.free.set()


def test_a_query_whose_vector_is_late_is_answered_by_words(stuck: WhooshEngine):
    late = answer(stuck, "computer")
    assert late.lacks_meaning
    assert not answer(stuck, "AB-4").lacks_meaning
    assert late.hits == stuck.search(SITE, PRODUCTS, SearchRequest(words="computer")).hits
    assert ids(answer(stuck, "computer", explain=True)) == ["T2", "T1"]
    assert ids(answer(stuck, "computer")) == ["T2", "T1"]
    assert not answer(stuck, "computer").lacks_meaning


def test_who_says_what_shoppers_find_in_general_waits_for_the_meaning(stuck: WhooshEngine):
    request = SearchRequest(words="computer", by_meaning=True, patient=True)
    (found,) = stuck.search_many(SITE, PRODUCTS, [request])
    assert ids(found) == ["T2", "T1"]


def test_a_preview_waits_as_its_request_says(stuck: WhooshEngine):
    request = SearchRequest(words="computer", by_meaning=True)
    with stuck.trial(SITE, PRODUCTS, [Delete("T5")]) as changed:
        assert ids(changed.search(SITE, PRODUCTS, request)) == ["T1", "T2"]
        assert ids(changed.search(SITE, PRODUCTS, replace(request, patient=True))) == ["T2", "T1"]


def test_a_later_page_waits_for_the_meaning(stuck: WhooshEngine):
    assert ids(answer(stuck, "computer", per_page=1, page=2)) == ["T1"]


def test_ranks_far_down_are_estimated_in_the_order_of_the_scores():
    scores = np.random.default_rng(7).gamma(2, 3, 3 * RANKED).astype(np.float32)
    scores[::5] = scores[0]
    exact, ranks = _ranks(scores), _ranks_by_words(scores)
    first = exact < RANKED - (scores == scores[0]).sum()
    np.testing.assert_array_equal(ranks[first], exact[first])
    order = np.argsort(exact, kind="stable")
    steps, exact_steps = np.diff(ranks[order]), np.diff(exact[order])
    assert ((steps > 0) == (exact_steps > 0)).all()


def test_vectors_that_the_system_does_not_let_read_are_an_index_that_cannot_be_read(folder: Path):
    class NoFiles(WordSums):
        @property
        def name(self) -> str:  # type: ignore[override]
            raise OSError("Too many open files")

    rebuild(WhooshEngine(folder), THINGS)
    assert with_model(folder, NoFiles())[0].status(SITE, PRODUCTS).state is EngineState.UNREACHABLE


def test_damaged_vectors_are_a_damaged_index(folder: Path):
    rebuild(with_model(folder)[0], THINGS)
    (segment,) = generation_directory(folder).glob("*.seg")
    engine, _ = with_model(folder)
    vectors = segments_of(engine)[0].vectors
    assert vectors is not None
    content = segment.read_bytes()
    at = content.index(vectors.rows[:].tobytes())
    with open(segment, "r+b") as file:
        file.seek(at)
        file.write(bytes([content[at] ^ 1]))
    os.utime(segment)
    assert with_model(folder)[0].status(SITE, PRODUCTS).state is EngineState.UNREACHABLE


def test_a_preview_of_many_products_embeds_a_bounded_number(folder: Path):
    engine, made = with_model(folder)
    rebuild(engine, [thing(n, "Teapot") for n in range(2_000)])
    newly_embedded(made)
    with engine.trial(SITE, PRODUCTS, [Upsert(thing(n, f"Couch {n}")) for n in range(MOST_EMBEDDED + 9)]) as changed:
        result = changed.search(SITE, PRODUCTS, SearchRequest(words="couch", by_meaning=True))
    assert (result.total, len(newly_embedded(made))) == (MOST_EMBEDDED + 9, MOST_EMBEDDED + 1)


def test_a_hundred_thousand_products_take_less_than_60_megabytes(folder: Path):
    plain, vectors = folder / "plain", folder / "vectors"
    rebuild(WhooshEngine(plain), THINGS)
    rebuild(with_model(vectors)[0], THINGS)
    sizes = [WhooshEngine(place).size(SITE, PRODUCTS) or 0 for place in (vectors, plain)]
    assert (sizes[0] - sizes[1]) / len(THINGS) * 100_000 < 60_000_000


def test_a_document_without_a_vector_takes_no_place_among_the_nearest(folder: Path):
    rebuild(with_model(folder)[0], THINGS)
    apply(WhooshEngine(folder), Upsert(thing(7, "Settee")))
    engine, made = with_model(folder)
    view = engine._reader(SITE, PRODUCTS).fresh_view()
    differing = Meaning(view, made, "settee", made.embed_search("settee"))._differing()
    assert differing[-1] > made.dimensions >= differing[:-1].max()


def test_what_is_searched_again_is_neither_compared_nor_ranked_again(folder: Path):
    engine, made = with_model(folder)
    rebuild(engine, THINGS)
    view = engine._reader(SITE, PRODUCTS).fresh_view()
    docs, scores = np.arange(3), np.array([1, 2, 3], np.float32)
    for words, is_cached in (("computer", False), ("computer", True), ("couch", False)):
        before = len(view._recent)
        meaning = meaning_of(view, Meanings(made, QueryVectors(made), LONG), words, [words], SearchRequest())
        assert meaning is not None
        meaning.unite(docs, scores, None, np.zeros(3, np.intp), None)
        assert (len(view._recent) == before) is is_cached
    other = meaning.unite(docs, scores[::-1].copy(), None, np.zeros(3, np.intp), None)
    assert other.points.tolist() != meaning.unite(docs, scores, None, np.zeros(3, np.intp), None).points.tolist()

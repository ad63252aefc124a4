"""A search waits for its vector only so long; the next one of the same words has it at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Semaphore

import numpy as np
import pytest
from structlog.typing import EventDict

from app.domain.search.sentence_model import MOST_WAITING, QueryVectors, SentenceModelUnavailable, Vectors
from app.domain.search.text import MAX_WORDS
from tests.fakes.sentence_model import WordSums

LONG = 60.0  # Seconds; never waited for.


class Slow(WordSums):
    """Makes no vector before it may; `began` is set once it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.may_go_on = Event(), Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.began.set()
        assert self.may_go_on.wait(LONG)
        return super().embed(texts)


class Broken(WordSums):
    def embed(self, texts: Sequence[str]) -> Vectors:
        raise SentenceModelUnavailable("Its weights are damaged.")


class Noted(ThreadPoolExecutor):
    """Counts what it was given to do."""

    submitted = Semaphore(0)

    def submit(self, work: Callable[..., Vectors | None], *given: object) -> Future[Vectors | None]:  # type: ignore[override]
        future = super().submit(work, *given)
        self.submitted.release()
        return future


def test_a_search_has_the_vector_of_its_words() -> None:
    model = WordSums()
    vector = QueryVectors(model).get("red mug", LONG)
    assert vector is not None
    np.testing.assert_array_equal(vector, model.embed(["red mug"])[0])


def test_words_have_one_vector_whatever_their_case_and_blanks() -> None:
    model = WordSums()
    vectors = QueryVectors(model)
    assert [vectors.get(words, LONG) is None for words in ("Red  Mug ", "red mug")] == [False, False]
    assert model.embedded == ["red mug"]


def test_a_vector_that_comes_late_is_there_for_the_next_search() -> None:
    model = Slow()
    vectors = QueryVectors(model)
    assert vectors.get("red mug", 0) is None
    assert vectors.get("red mug", 0) is None
    model.may_go_on.set()
    assert vectors.get("red mug", LONG) is not None
    assert model.embedded == ["red mug"], "made once, although three searches wanted it"


def test_the_words_used_last_are_kept() -> None:
    model = WordSums()
    vectors = QueryVectors(model, kept=2)
    for words in ("mug", "lamp", "mug", "chair", "mug", "lamp"):
        assert vectors.get(words, LONG) is not None
    assert model.embedded == ["mug", "lamp", "chair", "lamp"]


def test_only_so_many_searches_wait_as_can_be_served_in_that_time() -> None:
    model, one_by_one = Slow(), Noted(1)
    vectors = QueryVectors(model, thread=one_by_one)
    words = [f"mug {number}" for number in range(MOST_WAITING)]
    with ThreadPoolExecutor(MOST_WAITING) as threads:
        waiting = [threads.submit(vectors.get, one, LONG) for one in words]
        assert model.began.wait(LONG)
        assert all(one_by_one.submitted.acquire(timeout=LONG) for _ in words)
        assert vectors.get("lamp", LONG) is None
        model.may_go_on.set()
        assert all(one.result() is not None for one in waiting)
    assert "lamp" not in model.embedded
    assert vectors.get("lamp", LONG) is not None


def test_what_nobody_waits_for_any_more_is_not_made() -> None:
    model = Slow()
    vectors = QueryVectors(model)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(vectors.get, "begun", LONG)
        assert model.began.wait(LONG)
        for number in range(100):
            assert vectors.get(f"mug {number}", 0) is None
        model.may_go_on.set()
        assert vectors.get("lamp", LONG) is not None, "it found room, and no mug before it"
        assert waiting.result() is not None
    assert model.embedded == ["begun", "lamp"]


def test_who_is_patient_passes_all_that_wait() -> None:
    class OnlyShoppersAreSlow(Slow):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return WordSums.embed(self, texts) if list(texts) == ["lamp"] else super().embed(texts)

    model = OnlyShoppersAreSlow()
    vectors = QueryVectors(model)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(vectors.get, "mug", LONG)
        assert model.began.wait(LONG)
        assert vectors.make("lamp") is not None
        assert vectors.get("lamp", 0) is not None
        model.may_go_on.set()
        assert waiting.result() is not None


def test_what_a_search_does_not_read_is_not_embedded() -> None:
    model = WordSums()
    vectors = QueryVectors(model)
    for words in ("Crème mug", "creme mug" + "!" * 190, "creme, mug mug " + "?" * 80):
        assert vectors.get(words, LONG) is not None
    assert vectors.get(" ".join(f"w{number}" for number in range(60)), LONG) is not None
    assert model.embedded == ["creme mug", " ".join(f"w{number}" for number in range(MAX_WORDS))]


@pytest.mark.parametrize("fault", [MemoryError("no room"), RuntimeError("odd")])
def test_any_fault_of_the_model_leaves_the_words(fault: Exception, log_lines: list[EventDict]) -> None:
    class Faulty(WordSums):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise fault

    vectors = QueryVectors(Faulty())
    assert [vectors.get("mug", LONG), vectors.get("lamp", LONG), vectors.make("chair")] == [None] * 3
    assert [line["reason"] for line in log_lines] == [f"{type(fault).__name__}: {fault}"]


def test_without_a_usable_model_words_alone_answer_and_the_log_says_why_once(log_lines: list[EventDict]) -> None:
    vectors = QueryVectors(Broken())
    assert [vectors.get(words, LONG) for words in ("mug", "lamp", "mug")] == [None] * 3
    said = [(line["event"], line["reason"]) for line in log_lines]
    assert said == [("search_by_words_alone", "Its weights are damaged.")]


def test_a_model_is_not_asked_before_the_first_search() -> None:
    model = Slow()
    QueryVectors(model)
    assert not model.began.is_set()

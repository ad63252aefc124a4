"""A search waits for its vector only so long; the next one of the same words has it at once."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import numpy as np
from structlog.typing import EventDict

from app.domain.search.query_vectors import MOST_WAITING, QueryVectors
from app.domain.search.sentence_model import SentenceModelUnavailable, Vectors
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


def test_no_more_searches_wait_than_can_be_served_soon() -> None:
    model = Slow()
    vectors = QueryVectors(model)
    waiting = [f"mug {number}" for number in range(MOST_WAITING)]
    for words in (*waiting, "lamp"):
        assert vectors.get(words, 0) is None
    model.may_go_on.set()
    assert all(vectors.get(words, LONG) is not None for words in waiting)
    assert model.embedded == waiting
    assert vectors.get("lamp", LONG) is not None


def test_without_a_usable_model_words_alone_answer_and_the_log_says_why_once(log_lines: list[EventDict]) -> None:
    vectors = QueryVectors(Broken())
    assert [vectors.get(words, LONG) for words in ("mug", "lamp", "mug")] == [None] * 3
    said = [(line["event"], line["reason"]) for line in log_lines]
    assert said == [("search_by_words_alone", "Its weights are damaged.")]


def test_a_model_is_not_asked_before_the_first_search() -> None:
    model = Slow()
    QueryVectors(model)
    assert not model.began.is_set()

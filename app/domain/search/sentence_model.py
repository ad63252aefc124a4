"""The port to a sentence model, which makes vectors of texts that lie near one another where the texts mean alike, and
the cached vectors of searches, for which a search waits a bounded time."""

from __future__ import annotations

import threading
from collections.abc import MutableMapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import structlog
from cachetools import LRUCache
from numpy.typing import NDArray

from app.domain.search.engine import SearchRequest
from app.domain.search.text import MAX_CHARACTERS, MAX_WORDS, tokens
from app.domain.shared.problems import DomainError

Vectors = NDArray[np.float32]
KEPT = 4_096  # Searches whose vectors a process keeps: 6 MB.
WAIT = 0.05  # Seconds for which a shopper's search waits for the vector of its words.
# Fewer documents with vectors than this share would make some stand out for having one.
COVERED = 0.9
MOST_WAITING = 4  # Vectors that are being made or queued at once; further searches are answered by words alone.
log = structlog.get_logger(__name__)


class SentenceModelUnavailable(DomainError):
    """The model cannot be used. The message is for people and names no file of this machine by its path."""

    code = "sentence_model_unavailable"


@dataclass(frozen=True, slots=True)
class ModelState:
    """A sentence model as a page shows it: what it is called, or why it cannot be used."""

    label: str | None = None
    fault: str | None = None


class SentenceModel(Protocol):
    """Makes vectors of texts. Vectors of models with different names cannot be compared. The first use may take
    seconds, for loading."""

    @property
    def name(self) -> str:
        """The identity of the model, with which its vectors are stored. Raises SentenceModelUnavailable."""
        ...

    @property
    def label(self) -> str:
        """The name of the model for people, once its files were checked. Raises SentenceModelUnavailable."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row of length 1 for each text, in their order; shape (len(texts), dimensions). The cosine of two
        texts is the product of their rows. Raises SentenceModelUnavailable."""
        ...

    def embed_search(self, words: str) -> Vectors:
        """Return the vector of the words of one search, of length 1 and shape (dimensions,). Of many words only the
        first count, so that no search costs much more than another. Raises SentenceModelUnavailable."""
        ...


def state_of(model: SentenceModel | None) -> ModelState:
    """Return the name of the model for people, or why it cannot be used; neither without a model. May load it."""
    try:
        return ModelState(model.label if model else None)
    except SentenceModelUnavailable as error:
        return ModelState(fault=error.message)


@dataclass(slots=True)
class _Making:
    vector: Future[Vectors | None]
    waiting: int = 0


class QueryVectors:
    """The vectors of one model by the words of the search. One thread, begun when the first is wanted, makes them, so
    that a process that never searches by meaning never loads the model."""

    def __init__(self, model: SentenceModel, kept: int = KEPT, thread: Executor | None = None) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._made: MutableMapping[str, Vectors] = LRUCache(kept)
        self._making: dict[str, _Making] = {}
        self._thread = thread or ThreadPoolExecutor(1, "query-vectors")
        self._said = False

    def get(self, words: str, wait_seconds: float) -> Vectors | None:
        """Return the vector of a search, of length 1; None when it is not made within `wait_seconds` or the model
        cannot be used. A vector that comes late is kept for the next search of these words; one that is still queued
        when no search waits for it any more is cancelled."""
        key = read_words(words)
        with self._lock:
            if (made := self._made.get(key)) is not None:
                return made
            making = self._making.get(key) or self._begin(key)
            if making is None:
                return None
            making.waiting += 1
        try:
            return making.vector.result(wait_seconds)
        except (TimeoutError, CancelledError):
            return None
        finally:
            self._leave(key, making)

    def known(self, words: str) -> Vectors | None:
        """Return the cached vector of a search, None where there is none."""
        with self._lock:
            return self._made.get(read_words(words))

    def make(self, words: str) -> Vectors | None:
        """Return the vector of a search, however long that takes: computed in the caller's thread, past the queue.
        None when the model cannot be used."""
        key = read_words(words)
        with self._lock:
            made = self._made.get(key)
        return self._embed_search(key) if made is None else made

    def _begin(self, key: str) -> _Making | None:
        if len(self._making) >= MOST_WAITING:
            return None
        try:
            making = _Making(self._thread.submit(self._make, key))
        except RuntimeError:  # The process is ending.
            return None
        self._making[key] = making
        return making

    def _leave(self, key: str, making: _Making) -> None:
        with self._lock:
            making.waiting -= 1
            if not making.waiting and making.vector.cancel() and self._making.get(key) is making:
                del self._making[key]

    def _make(self, key: str) -> Vectors | None:
        try:
            return self._embed_search(key)
        finally:
            with self._lock:
                del self._making[key]

    def _embed_search(self, key: str) -> Vectors | None:
        """Compute and cache the vector of a search. Return None after any error of the model, so that the words alone
        are searched."""
        try:
            vector = self._model.embed_search(key)
        except SentenceModelUnavailable as error:
            self._say(error.message)
            return None
        except Exception as error:
            self._say(f"{type(error).__name__}: {error}")
            return None
        with self._lock:
            self._made[key] = vector
        return vector

    def _say(self, reason: str) -> None:
        if not self._said:
            self._said = True
            log.warning("search_by_words_alone", reason=reason)


class MeaningLateError(Exception):
    """The error that the vector of the words was not made in time."""


@dataclass(frozen=True, slots=True)
class Meanings:
    """The source of the vectors of searches. `wait` is in seconds."""

    model: SentenceModel
    queries: QueryVectors
    wait: float = WAIT

    def vector(self, text: str, request: SearchRequest) -> Vectors | None:
        """Return the vector of a text, waiting for it as the request says; None where there is none in time."""
        if request.known_meaning:
            return self.queries.known(text)
        return self.queries.make(text) if request.waits_for_meaning else self.queries.get(text, self.wait)


def read_words(text: str) -> str:
    """Return the normalised text of a search, of which its vector is made: at most 16 different words out of the first
    200 characters, without case, accents and marks."""
    return " ".join(tuple(dict.fromkeys(tokens(text[:MAX_CHARACTERS])))[:MAX_WORDS])

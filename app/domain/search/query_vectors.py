"""The vectors of what shoppers search for, made beside the searches, which wait for them only so long."""

from __future__ import annotations

import threading
from collections.abc import MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor

import structlog
from cachetools import LRUCache

from app.domain.search.sentence_model import SentenceModel, SentenceModelUnavailable, Vectors

KEPT = 4_096  # Searches whose vectors a process keeps: 6 MB.
MOST_WAITING = 64  # Beyond so many searches in the making, further ones are answered by words alone.
LONGEST = 200  # Characters of a search that count.

log = structlog.get_logger(__name__)


class QueryVectors:
    """The vectors of one model by the words of the search. One thread, begun when the first is wanted, makes them, so
    that a process that never searches by meaning never loads the model."""

    def __init__(self, model: SentenceModel, kept: int = KEPT) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._made: MutableMapping[str, Vectors] = LRUCache(kept)
        self._making: dict[str, Future[Vectors]] = {}
        self._thread = ThreadPoolExecutor(1, "query-vectors")
        self._said = False

    def get(self, words: str, wait_seconds: float) -> Vectors | None:
        """Return the vector of a search, of length 1; None when it is not there within the time or the model cannot be
        used. One that comes late is there for the next search of these words."""
        key = _key(words)
        with self._lock:
            if (made := self._made.get(key)) is not None:
                return made
            making = self._making.get(key) or self._begin(key)
        try:
            return making.result(wait_seconds) if making else None
        except TimeoutError:
            return None
        except SentenceModelUnavailable as error:
            self._say(error)
            return None

    def _begin(self, key: str) -> Future[Vectors] | None:
        if len(self._making) >= MOST_WAITING:
            return None
        try:
            making = self._thread.submit(self._make, key)
        except RuntimeError:  # The process is ending.
            return None
        self._making[key] = making
        return making

    def _make(self, key: str) -> Vectors:
        try:
            vector: Vectors = self._model.embed([key])[0]
            with self._lock:
                self._made[key] = vector
            return vector
        finally:
            with self._lock:
                del self._making[key]

    def _say(self, error: SentenceModelUnavailable) -> None:
        if not self._said:
            self._said = True
            log.warning("search_by_words_alone", reason=error.message)


def _key(words: str) -> str:
    """Case and blanks make no difference to the model."""
    return " ".join(words[:LONGEST].lower().split())

"""What searches need to know of an index, fetched in rounds: each round brings everything that the searches of a call
lack at that point in one trip.

A search is computed as if all answers were at hand. Where one is not, it is noted as wanted and the computation gives
up, or goes on with a guess; its result is dropped, and it is computed again once the answers are there. Answers are
remembered, so that many searches of one call share them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from app.adapters.opensearch.cluster import Cluster, Target
from app.adapters.opensearch.mapping import Body, as_json, field_of, forms_field
from app.domain.search.engine import EngineFault, SearchUnavailable
from app.domain.search.ranking.scoring import FIELDS, TEXT_FIELDS

Answer = Mapping[str, Any]
T = TypeVar("T")
# Of all rounds of a call; each trip has a time limit of its own, and on a slow cluster many would add up.
MOST_SECONDS = 4.0
TOO_SLOW = "Search does not answer in time: the cluster is too slow. Try again in a moment."
MOST_ROUNDS = 40  # Of one call; each brings something new, so that it ends by itself.
# The fields of words by their names here: those of the policy, and those of roots by the names that they have.
_NAMES = {field_of(name): name for name in FIELDS} | {forms_field(name): forms_field(name) for name in TEXT_FIELDS}
LONGEST_TOKEN = 255  # The cluster cuts longer ones; no word of an index is as long.


class LookupMissingError(Exception):
    """An answer is not there yet."""


@dataclass(frozen=True, slots=True)
class FieldStatistics:
    """How many documents there are, and the sum of the lengths of a field over all of them. What was deleted counts
    until the cluster merges its files."""

    documents: int
    length: int

    @property
    def average(self) -> float:
        return self.length / self.documents if self.documents else 1.0


class Lookups:
    """The answers of one index during one call."""

    def __init__(self, cluster: Cluster, target: Target, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._cluster, self._target, self._monotonic = cluster, target, monotonic
        self._answers: dict[str, Answer] = {}
        self._holders: dict[str, dict[str, int]] = {}
        self._fields: dict[str, FieldStatistics] = {}
        self._made: dict[Hashable, Any] = {}
        self._wanted: dict[str, None] = {}
        self._wanted_words: set[str] = set()
        self._lacks = False

    def search(self, body: Body | str) -> Answer:
        """Return the answer to the body of a search, as it is or as JSON. Raises LookupMissingError."""
        answer = self.peek(body)
        if answer is None:
            raise LookupMissingError
        return answer

    def peek(self, body: Body | str) -> Answer | None:
        """Return the answer to the body of a search, or None and want it; the caller goes on with a guess."""
        text = body if isinstance(body, str) else as_json(body)
        answer = self._answers.get(text)
        if answer is None:
            self._wanted[text] = None
            self._lacks = True
        return answer

    def count(self, query: Body, guess: int) -> int:
        """Return how many documents match a query, or a guess for now."""
        return self.counted(counting(query), guess)

    def counted(self, body: str, guess: int) -> int:
        """Return how many documents a search of `counting` finds, or a guess for now."""
        answer = self.peek(body)
        return guess if answer is None else total_of(answer)

    def holders(self, word: str) -> Mapping[str, int]:
        """Return in how many documents each field has a word, and each `forms_field` forms of the root of that name;
        fields of none are left out. Raises LookupMissingError."""
        if word not in self._holders:
            self.want_words([word])
            self._lacks = True
            raise LookupMissingError
        return self._holders[word]

    def want_words(self, words: Iterable[str]) -> None:
        self._wanted_words |= {word for word in words if word not in self._holders}

    def field(self, name: str) -> FieldStatistics:
        """Return the statistics of a field, which come with those of any word."""
        if not self._fields:
            self.want_words(["a"])
            self._lacks = True
            raise LookupMissingError
        return self._fields.get(name, FieldStatistics(0, 0))

    def ahead(self, compute: Callable[[], object]) -> None:
        """Compute what may be needed later, so that what it lacks comes in the next round."""
        lacked = self._lacks
        with suppress(LookupMissingError):
            compute()
        self._lacks = lacked

    def remembered(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made under a key in this call. It is made of no guess; LookupMissingError goes on."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def complete(self, computations: Sequence[Callable[[], T]]) -> list[T]:
        """Return the result of each computation, once all answers that it needs are there. Raises SearchUnavailable,
        and SupersededError where the target was not live at the first round of searches."""
        results: dict[int, T] = {}
        end = self._monotonic() + MOST_SECONDS
        for _ in range(MOST_ROUNDS):
            for place, compute in enumerate(computations):
                if place not in results:
                    self._try(place, compute, results)
            if len(results) == len(computations):
                return [results[place] for place in range(len(computations))]
            if self._monotonic() > end:
                raise SearchUnavailable(TOO_SLOW, EngineFault.SLOW)
            self._fetch()
        raise SearchUnavailable(TOO_SLOW, EngineFault.SLOW)

    def _try(self, place: int, compute: Callable[[], T], results: dict[int, T]) -> None:
        self._lacks = False
        try:
            result = compute()
        except LookupMissingError:
            return
        if not self._lacks:
            results[place] = result

    def _fetch(self) -> None:
        if self._wanted_words:
            self._fetch_words(sorted(self._wanted_words))
        if self._wanted:
            answers = self._cluster.search_many(self._target, list(self._wanted))
            self._target = replace(self._target, live=None)
            self._answers |= dict(zip(self._wanted, answers, strict=True))
        self._wanted, self._wanted_words = {}, set()

    def _fetch_words(self, words: Sequence[str]) -> None:
        known = [word for word in words if len(word) <= LONGEST_TOKEN]
        found = self._cluster.statistics(self._target, {field: known for field in _NAMES})
        self._holders |= {word: {} for word in words}
        for field, vector in ((_NAMES[path], vector) for path, vector in found.items()):
            numbers = vector["field_statistics"]
            documents = max(numbers["doc_count"], 0)
            # Each document has a marker in each field beside its words.
            self._fields[field] = FieldStatistics(documents, max(numbers["sum_ttf"] - documents, 0))
            for word, term in vector["terms"].items():
                if term.get("doc_freq"):
                    self._holders[word][field] = term["doc_freq"]


def counting(query: Body) -> str:
    """Return the search for how many documents match a query."""
    return as_json({"query": query, "size": 0, "track_total_hits": True})


def total_of(answer: Answer) -> int:
    total: int = answer["hits"]["total"]["value"]
    return total

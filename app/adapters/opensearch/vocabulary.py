"""The words of an index, as `ranking.analysis.Vocabulary` has them, from its aggregations, its suggester and its
statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from rapidfuzz.distance import OSA

from app.adapters.opensearch.lookups import Lookups, counting
from app.adapters.opensearch.mapping import Body
from app.adapters.opensearch.matches import with_forms
from app.adapters.opensearch.queries import all_of
from app.domain.search.ranking.analysis import COMMONNESS
from app.domain.search.ranking.language import is_word
from app.domain.search.ranking.query import COMPLETIONS, SHORTEST_CODE_BEGINNING, completions
from app.domain.search.ranking.spelling import NEAREST, SHORTEST_PART, one_edit_away

# Of the words that begin alike, those that most documents have. The commonest are among them unless most words that
# begin so are in many fields of few documents.
MOST_LONGER = 1_000
MOST_NEAR = 500


class IndexVocabulary:
    """The vocabulary of one index during one call. Where many lookups follow one another a first result may be a guess
    (see `lookups`)."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def frequency(self, word: str) -> int:
        holders = self._lookups.holders(word)
        return sum(worth * holders.get(field, 0) for field, worth in COMMONNESS.items())

    def known(self, words: Set[str]) -> set[str]:
        key = "known", frozenset(words)
        found = self._lookups.remembered(key, lambda: self._buckets(_known(words), "vocabulary"))
        return self._with_frequencies(found)

    def beginning_with(self, beginning: str) -> set[str]:
        return self._with_frequencies(self._buckets(_beginning(beginning), "vocabulary"))

    def codes_beginning_with(self, beginning: str, limit: int) -> Sequence[str]:
        return self._buckets(_codes_beginning(beginning, limit), "codes")

    def near(self, word: str, edits: int, limit: int) -> Iterable[str]:
        answer = self._lookups.search(_near(word, edits))
        options = answer["suggest"]["near"][0]["options"] if answer["suggest"]["near"] else []
        distances = {option["text"]: OSA.distance(word, option["text"]) for option in options}
        near = [other for other, distance in distances.items() if distance <= edits and other.isalpha()]
        nearest = sorted(near, key=lambda other: (distances[other], len(other), other))[:limit]
        self._lookups.want_words(nearest)
        return nearest

    def documents_with(self, words: Sequence[str]) -> int:
        """Return how many documents have all of the words or other forms of them. Until that is known they count as
        many: most searches have no mistake."""
        body = self._lookups.remembered(
            ("documents with", tuple(words)), lambda: counting(all_of([with_forms(word).condition() for word in words]))
        )
        return self._lookups.counted(body, 1)

    def look_ahead(self, word: str) -> None:
        """Have in one round what the correction of a word looks up in turn."""
        ahead = self._lookups.ahead
        ahead(lambda: self.known(one_edit_away(word)))
        if not is_word(word):
            ahead(lambda: self.near(word, 2, NEAREST))
        cuts = range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
        self._lookups.want_words(part for cut in cuts for part in (word[:cut], word[cut:]))

    def longer(self, beginning: str, *, is_typing: bool) -> list[str]:
        """Return the longer words that an unfinished one may become."""
        if len(beginning) >= SHORTEST_CODE_BEGINNING:
            self._lookups.ahead(lambda: self.codes_beginning_with(beginning, COMPLETIONS))
        return completions(beginning, self, is_typing=is_typing)

    def _buckets(self, body: Body, name: str) -> list[str]:
        return [bucket["key"] for bucket in self._lookups.search(body)["aggregations"][name]["buckets"]]

    def _with_frequencies(self, words: Sequence[str]) -> set[str]:
        self._lookups.want_words(words)
        return set(words)


def _known(words: Iterable[str]) -> Body:
    """Return the search for those of the words that some document has in a text."""
    known = sorted(words)
    return _words_among({"terms": {"vocabulary": known}}, "vocabulary", {"include": known, "size": max(len(known), 1)})


def _beginning(beginning: str) -> Body:
    begun = {"prefix": {"vocabulary": beginning}}
    return _words_among(begun, "vocabulary", {"include": _begun_by(beginning), "size": MOST_LONGER})


def _codes_beginning(beginning: str, limit: int) -> Body:
    in_order = {"include": _begun_by(beginning), "size": limit, "order": {"_key": "asc"}}
    return _words_among({"prefix": {"codes": beginning}}, "codes", in_order)


def _begun_by(beginning: str) -> str:
    """Return the pattern of the words that begin so. Without the brackets a node of 2.19 fails where none does, for a
    beginning that comes behind all words."""
    return f"{beginning}(.*)"


def _words_among(query: Body, field: str, which: Body) -> Body:
    return {"query": all_of([query]), "size": 0, "aggs": {field: {"terms": {"field": field, **which}}}}


def _near(word: str, edits: int) -> Body:
    """Return the search for words within so many edits, of which the cluster counts two neighbours swapped as one."""
    options = {"suggest_mode": "always", "prefix_length": 0, "min_word_length": 1, "accuracy": 0.0, "size": MOST_NEAR}
    term = {"field": "vocabulary", "max_edits": edits, **options}
    return {"size": 0, "query": {"match_none": {}}, "suggest": {"near": {"text": word, "term": term}}}

"""Better spellings for words that find nothing, and the order in which readings of a search are tried: all words as
typed, then a better spelling, then fewer words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from typing import Generic, Protocol, TypeVar

from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.analysis import Vocabulary
from app.domain.search.ranking.query import Query, completions
from app.domain.search.text import LINKING_WORDS, MAX_CHARACTERS, stem, tokens

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 3
SHORTEST_PART = 3  # Of a word that is two.
LONG_WORD = 7
SHARED_BEGINNING = 5
SHARED_SHARE = 0.6
CONSIDERED = 6
NEAREST = 20
NAMES_CONSULTED = 20
# How much commoner a neighbour must be before a word that the index knows counts as a slip.
RARER = 20
# People rarely miss the first letter: a candidate that keeps it counts as so much commoner.
SAME_FIRST_LETTER = 3

Spelling = tuple[str, ...]


def corrections(
    words: Sequence[str], vocabulary: Vocabulary, right: frozenset[str] = frozenset(), *, last_may_go_on: bool
) -> dict[str, Spelling]:
    """Return a better spelling, where there is one, for each word that no document has. The words in `right` are no
    mistakes, nor, with `last_may_go_on`, is a last word that begins a longer one."""
    better = {}
    for word in words:
        if word in right or vocabulary.documents_with([word]):
            continue
        if last_may_go_on and word == words[-1] and completions(word, vocabulary):
            continue
        spelling = _correct(word, [other for other in words if other != word], vocabulary)
        if spelling:
            better[word] = spelling
    return better


def slips(words: Sequence[str], vocabulary: Vocabulary, right: frozenset[str] = frozenset()) -> dict[str, Spelling]:
    """Return a better spelling of one word, for words that are all known but together in no document: a far commoner
    word, one edit away, that some document has together with the others. Empty where there is none."""
    for word in words:
        if word in right:
            continue
        others = [other for other in words if other != word]
        if others and not vocabulary.documents_with(others):
            continue  # Nothing has these, whatever stands beside them.
        near = _commonest(word, vocabulary.known(one_edit_away(word)), vocabulary)
        far_commoner = RARER * vocabulary.frequency(word)
        commoner = [other for other in near if vocabulary.frequency(other) > far_commoner]
        for spelling in _by_company(word, commoner, others, vocabulary):
            if vocabulary.documents_with([spelling, *others]):
                return {word: (spelling,)}
    return {}


def replaced(words: Sequence[str], better: Mapping[str, Spelling]) -> Spelling:
    return tuple(dict.fromkeys(part for word in words for part in better.get(word, (word,))))


def suggestion(typed: str, better: Mapping[str, Spelling], written: Callable[[str], str]) -> str | None:
    """The typed words with the better spellings in their places, as the catalogue writes them (`written`)."""
    if not better:
        return None
    spoken = {word: " ".join(map(written, spelling)) for word, spelling in better.items()}
    return " ".join(spoken.get(stem(token), token) for token in tokens(typed[:MAX_CHARACTERS]))


def written_form(word: str, names: Iterable[str]) -> str:
    """Return an indexed word, which may be a stem, as the names of the best NAMES_CONSULTED documents write it:
    `adidas` for `adida`."""
    written = Counter(token for name in names for token in tokens(name) if stem(token) == word)
    return max(written, key=lambda token: (written[token], token), default=word)


def _correct(word: str, others: Sequence[str], vocabulary: Vocabulary) -> Spelling | None:
    if len(word) < SHORTEST or not word.isalpha():
        return None
    for candidates in _candidates(word, vocabulary):
        for likely in _by_company(word, _commonest(word, candidates, vocabulary), others, vocabulary):
            if vocabulary.documents_with(likely.split()):
                return tuple(likely.split())
    return None


def _candidates(word: str, vocabulary: Vocabulary) -> Iterator[set[str]]:
    yield vocabulary.known(one_edit_away(word))
    cuts = [(word[:cut], word[cut:]) for cut in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)]
    known = [pair for pair in cuts if all(map(vocabulary.frequency, pair))]
    yield {" ".join(pair) for pair in known if vocabulary.documents_with(pair)}
    if len(word) >= LONG_WORD:
        yield set(vocabulary.near(word, 2, NEAREST))
    shared = max(SHARED_BEGINNING, round(SHARED_SHARE * len(word)))
    yield vocabulary.beginning_with(word[:shared]) if len(word) > shared else set()


def _commonest(word: str, candidates: set[str], vocabulary: Vocabulary) -> list[str]:
    """Return the candidates that are considered, the commonest first."""

    def common(candidate: str) -> int:
        return min(map(vocabulary.frequency, candidate.split())) * _weight(word, candidate)

    return nsmallest(CONSIDERED, candidates - LINKING_WORDS, key=lambda c: (-common(c), c))


def _by_company(word: str, likely: Sequence[str], others: Sequence[str], vocabulary: Vocabulary) -> Sequence[str]:
    """Return the candidates ordered by how many documents have them together with the other words."""
    if len(likely) < 2 or not others:
        return likely
    together = {c: vocabulary.documents_with([*c.split(), *others]) * _weight(word, c) for c in likely}
    return sorted(likely, key=lambda c: -together[c])


def _weight(word: str, candidate: str) -> int:
    return SAME_FIRST_LETTER if candidate[0] == word[0] else 1


@lru_cache(maxsize=256)
def one_edit_away(word: str) -> frozenset[str]:
    """Every string that one slip of the finger makes of a word: a letter less, more, other, or two swapped."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    less = {head + tail[1:] for head, tail in splits if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1}
    other = {head + letter + tail[1:] for head, tail in splits if tail for letter in _LETTERS}
    more = {head + letter + tail for head, tail in splits for letter in _LETTERS}
    return frozenset((less | swapped | other | more) - {word})


class FoundDocuments(Protocol):
    """The documents that a reading finds, as an engine holds them."""

    def __len__(self) -> int: ...

    @property
    def answered(self) -> frozenset[str]:
        """Words that an alternative answers for, so that they are no mistakes although no document has them."""
        ...


F = TypeVar("F", bound=FoundDocuments)
F_co = TypeVar("F_co", bound=FoundDocuments, covariant=True)


class Index(Protocol[F_co]):
    """The operations of an engine for the strategy, within the scope of one request."""

    def find(self, query: Query, *, prefix_last: bool) -> F_co:
        """Return the documents with all the words and, behind them where they are few, those that lack some; none
        where no document has all."""
        ...

    def find_fewer(self, query: Query) -> F_co:
        """Return the documents with the most of the words."""
        ...

    def corrections(self, query: Query, right: frozenset[str], *, last_may_go_on: bool) -> Mapping[str, Spelling]:
        """Return `spelling.corrections` over the engine's vocabulary."""
        ...

    def slips(self, query: Query, right: frozenset[str]) -> Mapping[str, Spelling]:
        """Return `spelling.slips` over the engine's vocabulary."""
        ...

    def written(self, word: str) -> str:
        """Return `spelling.written_form` by the names of the documents that have the word."""
        ...


@dataclass(frozen=True, slots=True)
class Answer(Generic[F]):
    """The documents that a search finds. `query` is the reading of the words by which they were found."""

    query: Query
    found: F
    suggestion: str | None = None
    corrected: bool = False


def answer(index: Index[F], request: SearchRequest, query: Query) -> Answer[F]:
    found = index.find(query, prefix_last=request.prefix_last)
    better = _better_spelling(index, request, query, found) if request.suggest else {}
    suggested = suggestion(request.words, better, index.written)
    if len(found):
        return Answer(query, found, suggested)
    if better and request.correct:
        corrected = query.respelled(replaced(query.words, better))
        found = index.find(corrected, prefix_last=False)
        found = found if len(found) else index.find_fewer(corrected)
        if len(found):
            return Answer(corrected, found, suggested, corrected=True)
    return Answer(query, index.find_fewer(query), suggested)


def _better_spelling(index: Index[F], request: SearchRequest, query: Query, found: F) -> Mapping[str, Spelling]:
    right = found.answered | request.optional
    better = index.corrections(query, right, last_may_go_on=request.prefix_last)
    if not len(found) and not better and len(query.words) > 1:
        better = index.slips(query, right)
    return better

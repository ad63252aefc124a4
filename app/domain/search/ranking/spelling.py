"""Better spellings for words that find nothing, and the order in which readings of a search are tried: all words as
typed, then a better spelling, then fewer words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import chain
from typing import Generic, Protocol, TypeVar

from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.analysis import Vocabulary
from app.domain.search.ranking.language import is_word
from app.domain.search.ranking.query import Query, completions
from app.domain.search.text import LINKING_WORDS, MAX_CHARACTERS, stem, tokens

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 3
LONGEST_WITH_FIRST_LETTER = 5
# The letters from which on what was meant is certain: a word of the language, any other, and with two edits.
SHORTEST_CERTAIN = 4
SHORTEST_CERTAIN_NAME = 5
SHORTEST_CERTAIN_NEAR = 9
# Of the documents with the rarer of two words written as one, how many have both where that is what was meant.
TOGETHER = 0.5
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
Judge = Callable[[str, Spelling, Sequence[str], Vocabulary], bool]


@dataclass(frozen=True, slots=True)
class Correction:
    """A better spelling of a word. One that is `certain` is searched instead of the word where the words as typed find
    nothing; any other is suggested alone."""

    spelling: Spelling
    certain: bool


Corrections = Mapping[str, Correction]


def corrections(
    words: Sequence[str], vocabulary: Vocabulary, right: frozenset[str] = frozenset(), *, last_may_go_on: bool
) -> dict[str, Correction]:
    """Return a better spelling, where there is one, for each word that no document has. The words in `right` are no
    mistakes, nor, with `last_may_go_on`, is a last word that begins a longer one."""
    unknown = [word for word in words if word not in right and not vocabulary.documents_with([word])]
    company = [word for word in words if word not in unknown and word not in LINKING_WORDS]
    better = {}
    for word in unknown:
        if last_may_go_on and word == words[-1] and completions(word, vocabulary):
            continue
        correction = _correct(word, company, vocabulary)
        if correction:
            better[word] = correction
    return better


def slips(words: Sequence[str], vocabulary: Vocabulary, right: frozenset[str] = frozenset()) -> dict[str, Correction]:
    """Return a better spelling of one word, for words that are all known but together in no document: a far commoner
    word, one edit away, that some document has together with the others. It is never certain, since the shop has the
    word. Empty where there is none."""
    for word in words:
        if word in right or not _may_be_misspelt(word):
            continue
        others = [other for other in words if other != word]
        if others and not vocabulary.documents_with(others):
            continue  # Nothing has these, whatever stands beside them.
        near = _commonest(word, _slips_of(word, vocabulary), vocabulary)
        # A word that the shop has in another form alone has no frequency: forms count.
        far_commoner = RARER * max(vocabulary.frequency(word), vocabulary.documents_with([word]))
        commoner = [other for other in near if vocabulary.frequency(other) > far_commoner]
        for spelling in _by_company(word, commoner, others, vocabulary):
            if vocabulary.documents_with([spelling, *others]):
                return {word: Correction((spelling,), certain=False)}
    return {}


def replaced(words: Sequence[str], better: Corrections) -> Spelling:
    spelled = (better[word].spelling if word in better else (word,) for word in words)
    return tuple(dict.fromkeys(chain.from_iterable(spelled)))


def suggestion(typed: str, better: Corrections, written: Callable[[str], str]) -> str | None:
    """The typed words with the better spellings in their places, as the catalogue writes them (`written`)."""
    if not better:
        return None
    spoken = {word: " ".join(map(written, correction.spelling)) for word, correction in better.items()}
    return " ".join(spoken.get(stem(token), token) for token in tokens(typed[:MAX_CHARACTERS]))


def written_form(word: str, names: Iterable[str]) -> str:
    """Return an indexed word, which may be a stem, as the names of the best NAMES_CONSULTED documents write it:
    `adidas` for `adida`."""
    written = Counter(token for name in names for token in tokens(name) if stem(token) == word)
    return max(written, key=lambda token: (written[token], token), default=word)


def _correct(word: str, company: Sequence[str], vocabulary: Vocabulary) -> Correction | None:
    """Return the likeliest spelling of a word. `company` are the other words of the search that the index knows."""
    if not _may_be_misspelt(word):
        return None
    for candidates, is_certain in _candidates(word, vocabulary):
        for likely in _by_company(word, _commonest(word, candidates, vocabulary), company, vocabulary):
            spelling = tuple(likely.split())
            if vocabulary.documents_with(spelling):
                return Correction(spelling, not is_word(word) and is_certain(word, spelling, company, vocabulary))
    return None


def _may_be_misspelt(word: str) -> bool:
    """Whether it is long enough, and no code nor number."""
    return len(word) >= SHORTEST and word.isalpha()


def _candidates(word: str, vocabulary: Vocabulary) -> Iterator[tuple[set[str], Judge]]:
    """Yield the better spellings of each kind, the likeliest kind first, and what says whether one is certain."""
    yield _slips_of(word, vocabulary), _is_plain_slip
    cuts = [(word[:cut], word[cut:]) for cut in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)]
    known = [pair for pair in cuts if all(map(vocabulary.frequency, pair))]
    yield {" ".join(pair) for pair in known if vocabulary.documents_with(pair)}, _go_together
    if is_word(word):
        return
    if len(word) >= LONG_WORD:
        yield set(vocabulary.near(word, 2, NEAREST)), _is_near
    shared = max(SHARED_BEGINNING, round(SHARED_SHARE * len(word)))
    yield vocabulary.beginning_with(word[:shared]) if len(word) > shared else set(), _is_never_certain


def _slips_of(word: str, vocabulary: Vocabulary) -> set[str]:
    """Return the known words one edit away. A short word, or one of the language, keeps its first letter; or its first
    two are swapped."""
    near = vocabulary.known(one_edit_away(word))
    if len(word) <= LONGEST_WITH_FIRST_LETTER or is_word(word):
        return {other for other in near if other[0] == word[0] or other[:2] == word[1::-1]}
    return near


def _is_plain_slip(word: str, spelling: Spelling, company: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether a word can hardly be another one, such as a name that the shop lacks: what was meant is long enough, or
    has the same letters (perhaps as a plural), or some document has it together with the rest of the search."""
    meant = spelling[0]
    long_enough = SHORTEST_CERTAIN if is_word(meant) and len(meant) >= len(word) else SHORTEST_CERTAIN_NAME
    if len(meant) >= long_enough or sorted(word) in (sorted(meant), sorted(f"{meant}s")):
        return True
    return bool(company) and vocabulary.documents_with([meant, *company]) > 0


def _go_together(word: str, parts: Spelling, company: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether the rarer of two words written as one rarely stands without the other."""
    return vocabulary.documents_with(parts) >= TOGETHER * min(vocabulary.documents_with([part]) for part in parts)


def _is_near(word: str, spelling: Spelling, company: Sequence[str], vocabulary: Vocabulary) -> bool:
    return len(word) >= SHORTEST_CERTAIN_NEAR and word[:2] == spelling[0][:2]


def _is_never_certain(word: str, spelling: Spelling, company: Sequence[str], vocabulary: Vocabulary) -> bool:
    return False


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
    """Every string that one slip of the finger makes of a word: a letter less, more, other, or two swapped; and the
    word with -ss, of which a typed -s was cut as the ending of a plural."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    less = {head + tail[1:] for head, tail in splits if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1}
    other = {head + letter + tail[1:] for head, tail in splits if tail for letter in _LETTERS}
    more = {head + letter + tail for head, tail in splits for letter in _LETTERS}
    return frozenset((less | swapped | other | more | {f"{word}ss"}) - {word})


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

    def corrections(self, query: Query, right: frozenset[str], *, last_may_go_on: bool) -> Corrections:
        """Return `spelling.corrections` over the engine's vocabulary."""
        ...

    def slips(self, query: Query, right: frozenset[str]) -> Corrections:
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
    certain = {word: correction for word, correction in better.items() if correction.certain}
    if certain and request.correct and not len(found):
        corrected = query.respelled(replaced(query.words, certain))
        found = index.find(corrected, prefix_last=False)
        found = found if len(found) else index.find_fewer(corrected)
        if len(found):
            searched = suggestion(request.words, certain, index.written)
            return Answer(corrected, found, searched, corrected=True)
    found = found if len(found) else index.find_fewer(query)
    return Answer(query, found, suggestion(request.words, better, index.written))


def _better_spelling(index: Index[F], request: SearchRequest, query: Query, found: F) -> Corrections:
    right = found.answered | request.optional
    better = index.corrections(query, right, last_may_go_on=request.prefix_last)
    if not len(found) and not better and len(query.words) > 1:
        better = index.slips(query, right)
    return better

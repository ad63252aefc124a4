"""Suggest synonyms for searches that found nothing, from the words of the catalogue alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract, extractOne

from app.domain.relevance.synonyms.candidate import Candidate
from app.domain.search.serving.synonyms import SynonymType
from app.domain.search.text import query_words, stem, tokens
from app.domain.shared.folding import fold

SHORTEST_TYPO = 4
LONG_WORD = 7
SHORTEST_PART = 3
SHORTEST_NAME = 5
ALIKE = 84.0  # Of 100: how alike a search and the name of a brand or a value must be.
MOST_WORDS = 5


@dataclass(frozen=True, slots=True)
class FoundNothing:
    """A word that shoppers searched with zero results, and how often."""

    word: str
    searches: int


@dataclass(frozen=True, slots=True)
class CatalogueWords:
    """The words of the catalogue. `frequencies` are of folded tokens in names; `pairs` are tokens that stand side by
    side in names; `brands` and `values` (of attributes) are as people write them."""

    frequencies: Mapping[str, int]
    pairs: frozenset[tuple[str, str]] = frozenset()
    brands: Sequence[str] = ()
    values: Sequence[str] = ()
    _stems: frozenset[str] = field(init=False, default=frozenset())
    _names: tuple[Mapping[str, str], Mapping[str, str]] = field(init=False, default=({}, {}))

    def __post_init__(self) -> None:
        object.__setattr__(self, "_stems", frozenset(map(stem, self.frequencies)))
        object.__setattr__(self, "_names", tuple({fold(n): n for n in names} for names in (self.brands, self.values)))

    def knows(self, token: str) -> bool:
        return stem(token) in self._stems

    @property
    def names(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The names of brands, then those of values, each by its folded form."""
        return self._names


def mine(nothing: Iterable[FoundNothing], vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield candidates for each search, the surest first. `evidence` has `reason`, `word` and `searches`; the caller
    adds how many products each would find."""
    for searched in nothing:
        seen: set[tuple[str | None, tuple[str, ...]]] = set()
        for reason, candidate in _thoughts(tokens(searched.word), vocabulary):
            key = candidate.root, candidate.words
            if key not in seen:
                seen.add(key)
                evidence = {"reason": reason, "word": searched.word, "searches": searched.searches}
                yield Candidate(candidate.type, candidate.root, candidate.words, evidence)


def _thoughts(searched: list[str], vocabulary: CatalogueWords) -> Iterator[tuple[str, Candidate]]:
    yield from (("joined", found) for found in _joined(searched, vocabulary))
    yield from (("plural", found) for token in searched for found in _singular(token, vocabulary))
    yield from _named(searched, vocabulary)
    unknown = [token for token in searched if not vocabulary.knows(token)]
    yield from (("joined", found) for token in unknown for found in _split(token, vocabulary))
    yield from (("spelling", found) for token in unknown for found in _spelled(token, vocabulary))


def _joined(searched: list[str], vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield candidates for words that are joined: shoppers write apart what the catalogue writes as one."""
    for first, second in pairwise(searched):
        if vocabulary.knows(first + second):
            yield _equivalent(f"{first} {second}", first + second)


def _split(token: str, vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield candidates for a word that is split: shoppers write as one what names write as two neighbouring words."""
    for cut in range(SHORTEST_PART, len(token) - SHORTEST_PART + 1):
        if (token[:cut], token[cut:]) in vocabulary.pairs:
            yield _equivalent(token, f"{token[:cut]} {token[cut:]}")


def _singular(token: str, vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield candidates for a plural and its singular where stemming does not make them one, as of “rooves”."""
    for other in _other_numbers(token):
        if vocabulary.knows(other) and stem(other) != stem(token) and not vocabulary.knows(token):
            yield _equivalent(token, other)


def _other_numbers(token: str) -> list[str]:
    if token.endswith("ves"):
        return [token[:-3] + "f", token[:-3] + "fe"]
    if token.endswith("fe"):
        return [token[:-2] + "ves"]
    return [token[:-1] + "ves"] if token.endswith("f") else []


def _named(searched: list[str], vocabulary: CatalogueWords) -> Iterator[tuple[str, Candidate]]:
    """Yield (reason, candidate) for a brand or value that the search nearly names, and for a brand whose initials it
    is, or which is its initials."""
    whole = " ".join(searched)
    if not 0 < len(searched) <= MOST_WORDS:
        return
    brands, _ = vocabulary.names
    if short := _spelled_out(whole, brands) if len(searched) == 1 else _abbreviated(searched, brands):
        yield "brand", _one_way(whole, short)
    for reason, names in zip(("brand", "attribute"), vocabulary.names, strict=True):
        if len(whole) >= SHORTEST_NAME and (found := _nearly(whole, names)):
            yield reason, _one_way(whole, found)


def _abbreviated(searched: list[str], brands: Mapping[str, str]) -> str | None:
    """Return the brand, written in capitals, that the initials of the searched words make; None for none."""
    brand = brands.get("".join(token[0] for token in searched))
    return brand if brand is not None and brand.isupper() else None


def _spelled_out(initials: str, names: Mapping[str, str]) -> str | None:
    """Return the name of several words that has these initials; None where no name, or more than one, has."""
    if len(initials) < 2:
        return None
    meant = [n for folded, n in names.items() if "".join(t[0] for t in tokens(folded)) == initials and " " in folded]
    return meant[0] if len(meant) == 1 else None


def _nearly(whole: str, names: Mapping[str, str]) -> str | None:
    best = extractOne(whole, names.keys(), scorer=fuzz.ratio, score_cutoff=ALIKE)
    if best is None or set(query_words(best[0])) == set(query_words(whole)):
        return None
    return names[best[0]]


def _spelled(token: str, vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield a candidate for the known word with the fewest typing errors (one, in a long word two), of several the
    commonest."""
    if len(token) < SHORTEST_TYPO or not token.isalpha():
        return
    slips = 2 if len(token) >= LONG_WORD else 1
    near = extract(token, vocabulary.frequencies.keys(), scorer=OSA.distance, score_cutoff=slips, limit=8)
    likely = [(distance, -vocabulary.frequencies[word], word) for word, distance, _ in near if word[0] == token[0]]
    if likely:
        yield _one_way(token, min(likely)[2])


def _equivalent(*words: str) -> Candidate:
    return Candidate(SynonymType.EQUIVALENT, None, words)


def _one_way(root: str, word: str) -> Candidate:
    return Candidate(SynonymType.ONE_WAY, root, (word,))

"""Synonyms mined from the shop's own data: the port of a source, candidates with their evidence, and the two miners.
Pure.

One miner compares the searches that found nothing with the words of the catalogue. The other reads rephrased searches:
visits that searched one word and opened nothing, then searched another and opened something. One shopper, or one
program, must not make a suggestion of these: it takes visits of several weeks, and more than one network makes in two
of them, since it counts once a day for a pair. Two things that one visit looks for are no pair: the second search must
follow the first far more often than shoppers search it anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract, extractOne

from app.domain.relevance.synonym_definition import MINED
from app.domain.search.ranking.language import is_word
from app.domain.search.serving.synonyms import SynonymType
from app.domain.search.text import query_words, stem, tokens
from app.domain.search.word_forms import root
from app.domain.search_statistics.counting.aggregation import Rephrased
from app.domain.shared.memory import WEEK
from app.domain.shared.problems import DomainError
from app.domain.shared.text import fold, numbered

REASONS = {
    "spelling": "It is spelled nearly like words of the catalogue.",
    "joined": "The same is written together here and apart there.",
    "plural": "It is another form of the same word.",
    "brand": "It is close to a brand of the catalogue.",
    "attribute": "It is close to a value in the catalogue.",
    "ai": "The language model thinks that they mean the same.",
}
SHORTEST_TYPO = 4
LONG_WORD = 7
SHORTEST_PART = 3
SHORTEST_NAME = 5
ALIKE = 84.0  # Of 100: how alike a search and the name of a brand or a value must be.
MOST_WORDS = 5
LEAST_VISITS = 2 * WEEK + 1
LEAST_WEEKS = 2
LEAST_SHARE = 0.1  # Of the searches of the first word.
ABOVE_CHANCE = 3.0  # Times as often as the next word is searched anyway,
ENOUGH_SHARE = 0.5  # save where every second search of the word goes on to the next.


@dataclass(frozen=True, slots=True)
class Candidate:
    """A synonym to suggest. `evidence` is JSON: `reason` (spelling, joined, plural, brand, attribute, visits or ai),
    `word` (what shoppers searched), `searches` of it in `days` days that found nothing, and `wouldFind`, how many
    products the group would make it find where it `finds` fewer. `visits` searched the word, opened nothing, then
    searched `nextWord` and opened something, in `visitWeeks` different weeks."""

    type: SynonymType
    root: str | None
    words: tuple[str, ...]
    evidence: Mapping[str, Any] = field(default_factory=dict)


def describe_evidence(evidence: Mapping[str, Any] | None) -> str:
    """Return sentences such as “Would find 12 products, searched 43 times in 30 days.” Empty where nothing is known."""
    if not evidence:
        return ""
    sentences = (_describe_visits(evidence), _describe_counts(evidence), REASONS.get(str(evidence.get("reason")), ""))
    return " ".join(sentence for sentence in sentences if sentence)


def evidence_strength(evidence: Mapping[str, Any] | None) -> tuple[int, int]:
    """Return the sort key of evidence: what is searched most and would find most is read first."""
    known = evidence or {}
    times = [_count_of(known.get(name)) or 0 for name in ("searches", "visits")]
    return max(times), _count_of(known.get("wouldFind")) or 0


def _describe_visits(evidence: Mapping[str, Any]) -> str:
    visits, weeks = (_count_of(evidence.get(name)) for name in ("visits", "visitWeeks"))
    words = evidence.get("word"), evidence.get("nextWord")
    if not visits or not all(isinstance(word, str) and word for word in words):
        return ""
    searched = f"searched “{words[0]}” and then opened something from “{words[1]}”"
    in_weeks = f" in {numbered(weeks, 'week')}" if weeks else ""
    return f"{numbered(visits, 'visit')}{in_weeks} {searched}."


def _describe_counts(evidence: Mapping[str, Any]) -> str:
    would_find, finds, searches, days = (_count_of(evidence.get(n)) for n in ("wouldFind", "finds", "searches", "days"))
    instead = f" instead of {finds:,}" if finds else ""
    found = f"would find {numbered(would_find, 'product')}{instead}" if would_find else ""
    period = f" in {numbered(days, 'day')}" if days else ""
    searched = f"searched {numbered(searches, 'time')}{period}" if searches else ""
    said = ", ".join(part for part in (found, searched) if part)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _count_of(value: Any) -> int | None:
    """Return the value as a count, None for what is none. Evidence comes from programs of several kinds; what is no
    count is left out."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


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
    _roots: frozenset[str | None] = field(init=False, default=frozenset())
    _names: tuple[Mapping[str, str], Mapping[str, str]] = field(init=False, default=({}, {}))

    def __post_init__(self) -> None:
        object.__setattr__(self, "_stems", frozenset(map(stem, self.frequencies)))
        object.__setattr__(self, "_roots", frozenset(map(root, self._stems)) - {None})
        object.__setattr__(self, "_names", tuple({fold(n): n for n in names} for names in (self.brands, self.values)))

    def knows(self, token: str) -> bool:
        """Whether a product has a word or another form of it."""
        return stem(token) in self._stems or root(stem(token)) in self._roots

    @property
    def names(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The names of brands, then those of values, each by its folded form."""
        return self._names


def mine_catalogue(nothing: Iterable[FoundNothing], vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield candidates for each search, the surest first. `evidence` has `reason`, `word` and `searches`; the caller
    adds how many products each would find."""
    for searched in nothing:
        seen: set[tuple[str | None, tuple[str, ...]]] = set()
        for reason, candidate in _candidates_with_reasons(tokens(searched.word), vocabulary):
            key = candidate.root, candidate.words
            if key not in seen:
                seen.add(key)
                evidence = {"reason": reason, "word": searched.word, "searches": searched.searches}
                yield Candidate(candidate.type, candidate.root, candidate.words, evidence)


def _candidates_with_reasons(searched: list[str], vocabulary: CatalogueWords) -> Iterator[tuple[str, Candidate]]:
    yield from (("joined", found) for found in _joined_words(searched, vocabulary))
    yield from (("plural", found) for token in searched for found in _other_number(token, vocabulary))
    yield from _named_brands_and_values(searched, vocabulary)
    unknown = [token for token in searched if not vocabulary.knows(token)]
    yield from (("joined", found) for token in unknown for found in _split_word(token, vocabulary))
    yield from (("spelling", found) for token in unknown for found in _corrected_spelling(token, vocabulary))


def _joined_words(searched: list[str], vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield candidates for words that are joined: shoppers write apart what the catalogue writes as one."""
    for first, second in pairwise(searched):
        if vocabulary.knows(first + second):
            yield _equivalent(f"{first} {second}", first + second)


def _split_word(token: str, vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield candidates for a word that is split: shoppers write as one what names write as two neighbouring words."""
    for cut in range(SHORTEST_PART, len(token) - SHORTEST_PART + 1):
        if (token[:cut], token[cut:]) in vocabulary.pairs:
            yield _equivalent(token, f"{token[:cut]} {token[cut:]}")


def _other_number(token: str, vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield candidates for a plural and its singular where stemming does not make them one, as of “rooves”."""
    for other in _other_number_forms(token):
        if vocabulary.knows(other) and stem(other) != stem(token) and not vocabulary.knows(token):
            yield _equivalent(token, other)


def _other_number_forms(token: str) -> list[str]:
    if token.endswith("ves"):
        return [token[:-3] + "f", token[:-3] + "fe"]
    if token.endswith("fe"):
        return [token[:-2] + "ves"]
    return [token[:-1] + "ves"] if token.endswith("f") else []


def _named_brands_and_values(searched: list[str], vocabulary: CatalogueWords) -> Iterator[tuple[str, Candidate]]:
    """Yield (reason, candidate) for a brand or value that the search nearly names, and for a brand whose initials it
    is, or which is its initials."""
    whole = " ".join(searched)
    if not 0 < len(searched) <= MOST_WORDS:
        return
    brands, _ = vocabulary.names
    if short := _name_with_initials(whole, brands) if len(searched) == 1 else _brand_of_initials(searched, brands):
        yield "brand", _one_way(whole, short)
    for reason, names in zip(("brand", "attribute"), vocabulary.names, strict=True):
        if len(whole) >= SHORTEST_NAME and (found := _similar_name(whole, names)):
            yield reason, _one_way(whole, found)


def _brand_of_initials(searched: list[str], brands: Mapping[str, str]) -> str | None:
    """Return the brand, written in capitals, that the initials of the searched words make; None for none."""
    brand = brands.get("".join(token[0] for token in searched))
    return brand if brand is not None and brand.isupper() else None


def _name_with_initials(initials: str, names: Mapping[str, str]) -> str | None:
    """Return the name of several words that has these initials; None where no name, or more than one, has."""
    if len(initials) < 2:
        return None
    meant = [n for folded, n in names.items() if "".join(t[0] for t in tokens(folded)) == initials and " " in folded]
    return meant[0] if len(meant) == 1 else None


def _similar_name(whole: str, names: Mapping[str, str]) -> str | None:
    best = extractOne(whole, names.keys(), scorer=fuzz.ratio, score_cutoff=ALIKE)
    if best is None or set(query_words(best[0])) == set(query_words(whole)):
        return None
    return names[best[0]]


def _corrected_spelling(token: str, vocabulary: CatalogueWords) -> Iterator[Candidate]:
    """Yield a candidate for the known word with the fewest typing errors (one, in a long word two), of several the
    commonest. A word of the language is no error."""
    if len(token) < SHORTEST_TYPO or not token.isalpha() or is_word(stem(token)):
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


def is_evidence(pair: Rephrased) -> bool:
    """Whether enough visits rephrased the one search as the other for a synonym to be suggested."""
    share = max(LEAST_SHARE, min(ENOUGH_SHARE, ABOVE_CHANCE * pair.popularity))
    is_spread = pair.visits >= LEAST_VISITS and pair.weeks >= LEAST_WEEKS
    return is_spread and 0 < share * pair.followed <= pair.visits


def mine_rephrasings(pairs: Iterable[Rephrased]) -> Iterator[Candidate]:
    """Yield the candidates of the pairs that are evidence, in their order. Words rephrased in both directions are
    equivalent."""
    known = {(pair.word, pair.next_word): pair for pair in pairs if is_evidence(pair)}
    for (word, next_word), pair in known.items():
        back = known.get((next_word, word))
        if back is None:
            yield Candidate(SynonymType.ONE_WAY, word, (next_word,), _rephrasing_evidence(pair))
        elif (pair.visits, word) >= (back.visits, next_word):
            yield Candidate(SynonymType.EQUIVALENT, None, (word, next_word), _rephrasing_evidence(pair))


def _rephrasing_evidence(pair: Rephrased) -> dict[str, object]:
    visits = {"visits": pair.visits, "visitWeeks": pair.weeks, "nextWord": pair.next_word}
    return {"reason": _rephrasing_reason(pair.word, pair.next_word), "word": pair.word} | visits


def _rephrasing_reason(word: str, next_word: str) -> str:
    """Return `spelling` for one slip, `joined` for a space more or less, `visits` for other words."""
    if tokens(word) != tokens(next_word) and "".join(tokens(word)) == "".join(tokens(next_word)):
        return "joined"
    return "spelling" if OSA.distance(fold(word), fold(next_word)) <= 1 else "visits"


@dataclass(frozen=True, slots=True)
class Question:
    """The input of a source: searches that found nothing, the most frequent first, the words of the catalogue, and the
    searches that shoppers rephrased."""

    nothing: Sequence[FoundNothing]
    vocabulary: CatalogueWords
    rephrased: Sequence[Rephrased] = ()


class SuggestionsFailed(DomainError):
    """The source gave no answer that can be used. The message is for people and names no secret."""

    code = "suggestions_failed"


class SuggestionSource(Protocol):
    """A source of suggestions; `name` is MINED or AI. Its answers are not trusted: they are checked like typed input
    and stored as suggestions only."""

    name: str

    def suggest(self, question: Question) -> list[Candidate]:
        """Return candidates for the question. Raises SuggestionsFailed."""
        ...


class MinedSuggestions:
    """The source that uses the shop's own data only."""

    name = MINED

    def suggest(self, question: Question) -> list[Candidate]:
        return [*mine_rephrasings(question.rephrased), *mine_catalogue(question.nothing, question.vocabulary)]

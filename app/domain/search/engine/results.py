"""What an engine answers: hits, counts and explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FieldMatch:
    field: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScorePart:
    """The part of a score that some words add through one field. `kind` names what was counted: `word`, `alternative`
    (in place of the words of the search), `beginning` (a longer word), `side_by_side`, `code`, `level` (the
    kind of product that most of the first results are), `level_name` (the kind of product that the words name),
    `sales`, `newness`, `stock`, `meaning` (its name means what the words mean), `learned` (shoppers open the product
    for this search) or `learned_level` (products of its level). `opens` is how often they did, where the caller of the
    engine knows."""

    kind: str
    field: str | None
    words: tuple[str, ...]
    worth: float
    opens: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation why a document is, or is not, among the results. `rank` is 1-based, None when it is not found.
    `parts`, largest first, sum up to the score. `placed` is `pinned`, `boosted`, `buried` or `sold_out` (last)
    where a request placed it."""

    tokens: tuple[str, ...]
    indexed: bool
    rank: int | None
    score: float | None
    matches: tuple[FieldMatch, ...]
    missing_words: tuple[str, ...]
    parts: tuple[ScorePart, ...] = ()
    placed: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit of a search. `explanation` comes with a request for it."""

    id: str
    score: float
    card: Mapping[str, object]
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class RangeCount:
    """The smallest and largest number among `count` documents that carry one; None when none does."""

    low: float | None
    high: float | None
    count: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a request. `suggestion` is a better spelling of the words, `corrected` says that it was searched
    instead because the words as typed find nothing, `relaxed` that some of the results lack some of the words.
    `full_matches` counts the results that have all the words; None without words. `similar`, on the first page of a
    search by meaning that finds fewer than `similar_below`, has the documents near in meaning that it did not find,
    the nearest first, within scope and filters. They are in no total and no count, and their score is the cosine.
    `lacks_meaning`: the meaning of the words was not known in time, so that the same search may have another order
    later."""

    total: int
    hits: tuple[Hit, ...] = ()
    facets: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    ranges: Mapping[str, RangeCount] = field(default_factory=dict)
    suggestion: str | None = None
    corrected: bool = False
    relaxed: bool = False
    full_matches: int | None = None
    similar: tuple[Hit, ...] = ()
    lacks_meaning: bool = False

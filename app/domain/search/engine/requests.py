"""A request of a search to an engine: words, filters, order, and how the words are expanded and ranked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.domain.search.ranking_settings import RankingSettings

RESULT_WINDOW = 10_000  # Hits that can be paged through; those behind them are counted, but on no page.
MOST_FACET_VALUES = 1_000  # The commonest values of a facet that are counted.


class Sort(StrEnum):
    """Orders of a listing. RELEVANCE without words is the order of FEATURED: the documents that the request
    names first, then those whose value `featured` is `true`, then the others, the newest of each before the older."""

    RELEVANCE = "relevance"
    FEATURED = "featured"
    PRICE_ASC = "price-asc"
    PRICE_DESC = "price-desc"
    NEWEST = "newest"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class ValueFilter:
    """Keeps documents that carry any of `values` under `name`. No values: nothing is kept."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RangeFilter:
    """Keeps documents whose number `name` lies in [low, high]; an open end is None."""

    name: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Alternatives to a run of the words of a search: `(gearbox OR shifter)`. `place` and `length` name the run among
    `query_words(words)`; each of `others` is the words of one alternative, as they are indexed. The run counts as one
    word, and a document that has it ranks above one that has only an alternative."""

    place: int
    length: int
    others: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Pin:
    """A document that stands at a position, from 1 on, of the order by relevance, whether it has the words or not."""

    id: str
    position: int


@dataclass(frozen=True, slots=True)
class LearnedFactors:
    """What clicks taught about one search: factors for the scores of documents by id, and of those that carry a level
    (the values `level`), of which the largest counts. None is below 1."""

    documents: tuple[tuple[str, float], ...] = ()
    levels: tuple[tuple[str, float], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.documents or self.levels)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A request for one page of results with everything that it shows, answered in one call.

    `scope` narrows the listing itself (a category, say) and never loosens. `filters` and `ranges` are what the shopper
    chose: OR within one, AND between them; the counts of a facet leave its own filter out, and name its
    MOST_FACET_VALUES commonest values. `first` names documents that lead the FEATURED order, in their order. `page` is
    1-based and ends at RESULT_WINDOW; `per_page` 0 requests total and counts alone.

    `alternatives` widen what matches the words; words among `optional` add to a score but need not match. `pins`,
    `boosts` and `buries` (document ids, boosts in their order) shape the order by relevance alone: pins that pass
    scope and filters stand at their positions, boosts follow, buries come last. A pinned document belongs to the
    results, and to their counts, although it lacks the words; boosts and buries add nothing.

    `correct` searches for a better spelling of words that find nothing; without `suggest` none is looked for, not even
    to be suggested.

    `prefix_last` lets the last word be the beginning of longer ones where it finds little; `is_typing` says that it is
    still being typed, so that it always may be.

    `by_meaning` lets the nearness of a document's meaning to that of the words count in the order by relevance; an
    engine that does not know, or not in time, what they mean answers by words alone. `patient` waits for the meaning,
    for reports of what shoppers find in general. `known_meaning` uses it only where it is cached and has nothing
    computed: for robots, whose searches would hold up those of people.
    `similar_below` fills `SearchResult.similar` where fewer documents are found. `learned` lifts the scores of what the
    words find; it adds nothing to the results.

    `ranking` is how sales, newness and stock lift the scores of the words, and where sold-out documents stand in the
    orders of RELEVANCE and FEATURED: behind the others, but for those that the request names. `day`, from 1970, is the
    one on which newness counts.

    `explain` requests the explanation of each hit as well. `fresh` requests a state that has every change applied
    before the call; otherwise an answer may come from the state before while the engine loads the latest.
    """

    words: str = ""
    scope: tuple[ValueFilter, ...] = ()
    filters: tuple[ValueFilter, ...] = ()
    ranges: tuple[RangeFilter, ...] = ()
    facets: tuple[str, ...] = ()
    range_facets: tuple[str, ...] = ()
    sort: Sort = Sort.RELEVANCE
    first: tuple[str, ...] = ()
    page: int = 1
    per_page: int = 24
    correct: bool = True
    suggest: bool = True
    prefix_last: bool = True
    is_typing: bool = False
    alternatives: tuple[Alternatives, ...] = ()
    optional: frozenset[str] = frozenset()
    pins: tuple[Pin, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()
    by_meaning: bool = False
    similar_below: int = 0
    patient: bool = False
    known_meaning: bool = False
    ranking: RankingSettings = RankingSettings.DEFAULT
    day: int = 0
    learned: LearnedFactors = LearnedFactors()
    explain: bool = False
    fresh: bool = False

    @property
    def waits_for_meaning(self) -> bool:
        """Whether the engine waits for the meaning as long as it takes; a later page continues a first that had it."""
        return not self.known_meaning and (self.patient or self.explain or self.page > 1)

    @property
    def window(self) -> tuple[int, int]:
        """The 0-based places of the first hit of the page and of the first after it, within RESULT_WINDOW."""
        start = max(0, (self.page - 1) * self.per_page)
        return min(start, RESULT_WINDOW), min(start + self.per_page, RESULT_WINDOW)

"""The port to a search engine: what a shop requires of one, in the shop's own words.

No type, path or query syntax of an engine crosses this port, so an engine that runs in this
process on files and one that runs on a cluster with aliases fit alike. Every call names the site:
sites never share an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.domain.search.ranking_settings import RankingSettings
from app.domain.shared.problems import DomainError

RESULT_WINDOW = 10_000  # Hits beyond the first so many of a search do not come back, whatever page is asked for.
MOST_FACET_VALUES = 1_000  # The commonest values of a facet that are counted.


class IndexName(StrEnum):
    """The two indexes of a site. Each has generations of its own, so a rebuild of one leaves the other."""

    PRODUCTS = "products"
    CONTENT = "content"


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
class IndexDocument:
    """One findable thing.

    `values` are what filters and facets see, each a tuple of one or more strings; `numbers` are what
    ranges and orders see (`price` in minor units, `createdAt` in seconds since 1970). `kind` is searched as text;
    `kind_names` are the names of the document's level and of those above it, own and others, by which a search may name
    a level as a whole. `card` comes back with a hit as it was given. `digest` changes whenever anything else here does.
    """

    id: str
    name: str
    terms: tuple[str, ...] = ()
    manufacturer: str = ""
    kind: str = ""
    kind_names: tuple[str, ...] = ()
    description: str = ""
    attributes: str = ""
    codes: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    card: Mapping[str, object] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Upsert:
    document: IndexDocument


@dataclass(frozen=True, slots=True)
class Delete:
    id: str


Change = Upsert | Delete


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
    """Everything one page of results needs, answered in one call.

    `scope` narrows the listing itself (a category, say) and never loosens. `filters` and `ranges` are what the shopper
    chose: OR within one, AND between them; the counts of a facet leave its own filter out, and name its
    MOST_FACET_VALUES commonest values. `first` names documents that lead the FEATURED order, in their order. `page` is
    1-based and ends at RESULT_WINDOW; `per_page` 0 requests total and counts alone.

    `alternatives` widen what matches the words; words among `optional` add to a score but need not match. `pins`,
    `boosts` and `buries` (document ids, boosts in their order) shape the order by relevance alone: pins that pass
    scope and filters stand at their positions, boosts follow, buries come last. A pinned document belongs to the
    results, and to their counts, although it lacks the words; boosts and buries add nothing.

    `prefix_last` lets the last word be the beginning of longer ones where it finds little; `is_typing` says that it is
    still being typed, so that it always may be.

    `by_meaning` lets the nearness of a document's meaning to that of the words count in the order by relevance; an
    engine that does not know, or not in time, what they mean answers by words alone. `patient` waits for it, for
    those who say what shoppers find in general. `similar_below` fills `SearchResult.similar` where fewer documents
    are found. `learned` lifts
    the scores of what the words find; it adds nothing to the results.

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
    ranking: RankingSettings = RankingSettings.DEFAULT
    day: int = 0
    learned: LearnedFactors = LearnedFactors()
    explain: bool = False
    fresh: bool = False

    @property
    def waits_for_meaning(self) -> bool:
        """A later page continues a first one that knew the meaning."""
        return self.patient or self.explain or self.page > 1

    @property
    def window(self) -> tuple[int, int]:
        """The 0-based places of the first hit of the page and of the first after it, within RESULT_WINDOW."""
        start = max(0, (self.page - 1) * self.per_page)
        return min(start, RESULT_WINDOW), min(start + self.per_page, RESULT_WINDOW)


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
    """`suggestion` is a better spelling of the words, `corrected` says that it was searched instead
    because the words as typed find nothing, `relaxed` that some of the results lack some of the words.
    `full_matches` counts the results that have all the words; None without words. `similar`, on the first page of a
    search by meaning whose words find fewer than was said: what lies near in meaning and was not found, the nearest
    first, within scope and filters. They are in no total and no count, and their score is the cosine.
    `lacks_meaning`: the meaning of the words was not there in time, so that the same search may have another order
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


class EngineState(StrEnum):
    HEALTHY = "HEALTHY"
    UNREACHABLE = "UNREACHABLE"
    NOT_SET_UP = "NOT_SET_UP"


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """`generation` changes with every swap and `version` with every change that a reader can see. Documents that are
    gone may count in how rare a word is until the engine merges its files: that moves scores, not what is found. An
    `outdated` index answers, but was made by another reading of words (`ranking.analysis.ANALYSIS`), so that some words
    miss what they should find until a rebuild. `lacks_vectors` names the engine's sentence model where it can be
    used and most documents were not embedded with it; a rebuild does it."""

    state: EngineState
    error: str | None = None
    documents: int | None = None
    generation: str | None = None
    version: str | None = None
    lacks_vectors: str | None = None
    outdated: bool = False


class SearchUnavailable(DomainError):
    """The engine does not answer. The message is for people: what is wrong and how to fix it."""

    code = "search_unavailable"


class TrialsUnsupported(DomainError):
    """The engine cannot try changes of documents before they are saved."""

    code = "trials_unsupported"

    def __init__(self) -> None:
        super().__init__("This search engine cannot preview search terms before they are saved.")


class Searching(Protocol):
    """The read side of an engine, which answers searches: the live index, or one index of one site as it is to
    become."""

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        """Raises SearchUnavailable when there is no index or it cannot be read."""
        ...

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        """The result of each request, in their order, in as few round trips as the engine can. Raises
        SearchUnavailable."""
        ...


class Generation(Protocol):
    """A complete index in the making, invisible until published."""

    def add(self, documents: Iterable[IndexDocument]) -> None: ...

    def seal(self) -> int:
        """Make it durable and verify that it opens and holds what was added; the document count."""
        ...

    def preview(self) -> Searching:
        """Answers searches as if this generation were live. Called after `seal`."""
        ...

    def replay(self, changes: Sequence[Change]) -> None:
        """Apply the changes saved meanwhile. Called after `seal`, within `SearchEngine.exclusive`. Raises
        SearchUnavailable once a later generation was begun."""
        ...

    def publish(self) -> None:
        """Make this generation the live one, atomically and durably. Called within `SearchEngine.exclusive`, right
        after the caller's fence was checked. Raises SearchUnavailable once a later generation was begun."""
        ...

    def discard(self) -> None:
        """Leave nothing behind. Safe to call at any time and twice; a published generation stays."""
        ...


class SearchEngine(Searching, Protocol):
    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        """Whether the index is there and as it was written: by cheap signs, so that it can be called each second. One
        that is damaged is UNREACHABLE for every process, although a process may go on with what it has open."""
        ...

    def size(self, site_id: int, index: IndexName) -> int | None:
        """Return the bytes of the live generation; None where there is none, or the engine does not know."""
        ...

    def verify(self, site_id: int, index: IndexName) -> None:
        """Read all that is stored and compare checksums, which may take seconds. Raises SearchUnavailable for an index
        that is damaged, which `status` says from then on, or not there."""
        ...

    @property
    def supports_trials(self) -> bool:
        """Whether `trial` works. An engine on a cluster may have no way to search what is not saved."""
        ...

    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> AbstractContextManager[Searching]:
        """The live index as it would be with the changes, which no other caller sees; it answers for `site_id` and
        `index` alone. Raises SearchUnavailable, and TrialsUnsupported."""
        ...

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation: ...

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[None]:
        """The publish lock: one process at a time applies changes or swaps a generation in."""
        ...

    def together(self, site_id: int, indexes: Sequence[IndexName]) -> AbstractContextManager[None]:
        """The block publishes a generation of each index: all of them or, where it raises, none, so that every index
        has again the generation that it had before. A process that dies within the block may leave some published,
        each of which is whole. Called within `exclusive` of each."""
        ...

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        """Make the changes findable and durable before returning. Idempotent; the last change of an id
        wins. Called within `exclusive`. Raises SearchUnavailable when there is no live generation."""
        ...

    def start_generation(self, site_id: int, index: IndexName) -> Generation:
        """Begin a generation. Every other one in the making is discarded, whose builder can neither seal nor publish
        it any more: who may build is decided by the lease of the rebuild run, not by the engine."""
        ...

    def digests(self, site_id: int, index: IndexName) -> Iterator[tuple[str, str]]:
        """Yield (id, digest) of every live document, for reconciliation. Raises SearchUnavailable, also while
        iterating."""
        ...

    def forget(self, site_id: int) -> None:
        """Remove everything kept for a site."""
        ...

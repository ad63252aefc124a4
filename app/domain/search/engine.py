"""The port to a search engine: what a shop requires of one, in the shop's own words.

No type, path or query syntax of an engine crosses this port, so an engine that runs in this process on files and one
that runs on a cluster with aliases fit alike. Every call names the site: sites never share an index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.domain.search.filters import PlacedGroup as PlacedGroup
from app.domain.search.filters import RangeFilter as RangeFilter
from app.domain.search.filters import ValueFilter as ValueFilter
from app.domain.search.ranking_settings import RankingSettings
from app.domain.shared.problems import DomainError
from app.domain.work.context import WorkContext

RESULT_WINDOW = 10_000  # Hits that can be paged through; those behind them are counted, but on no page.
MOST_FACET_VALUES = 1_000  # The commonest values of a facet that are counted.


class IndexName(StrEnum):
    """The two indexes of a site. Each has generations of its own, so a rebuild of one leaves the other."""

    PRODUCTS = "products"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """A document of an index: a product, a page or a collection.

    `values` are for filters and facets, each a tuple of one or more strings; `numbers` are for
    ranges and orders (`price` in minor units, `createdAt` in seconds since 1970). `kind` is searched as text;
    `kind_names` are the names of the document's level and of those above it, own and others, by which a search may name
    a level as a whole. `card` comes back with a hit as it was given. `digest` changes whenever another field does.
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


class Sort(StrEnum):
    """Orders of a listing. RELEVANCE without words is the order of FEATURED: the documents that the request
    names first, then those whose value `featured` is `true`, then the others, the newest of each before the older, and
    those that it names last behind all."""

    RELEVANCE = "relevance"
    FEATURED = "featured"
    PRICE_ASC = "price-asc"
    PRICE_DESC = "price-desc"
    NEWEST = "newest"
    NAME = "name"


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
    MOST_FACET_VALUES commonest values. `first` names documents that lead the FEATURED order, in their order, `last`
    those that end it, in the order that they would have without either; what both name is last. Neither adds to the
    results. `page` is 1-based and ends at RESULT_WINDOW; `per_page` 0 requests total and counts alone.

    Each word finds its other forms as well, for less; one in double quotes finds itself alone.

    `alternatives` widen what matches the words; words among `optional` add to a score but need not match. `pins`,
    `boosts` and `buries` (document ids, boosts in their order) shape the order by relevance alone: pins that pass
    scope and filters stand at their positions, boosts follow, buries come last. A pinned document belongs to the
    results, and to their counts, although it lacks the words; boosts and buries add nothing. `groups` shape that order
    too: a document belongs to the first that holds it; those of boosted groups follow `boosts`, group by group, those
    of buried ones stand before `buries`, and each is ordered as all are. What is found by its meaning alone is not
    boosted, by its id or by a group: it would stand before what has the words.

    `correct` searches for a better spelling of words that find nothing; without `suggest` none is looked for, not even
    to be suggested.

    `prefix_last` lets the last word be the beginning of longer ones where it finds little; `is_typing` says that it is
    still being typed, so that it always may be.

    `by_meaning` adds the documents whose meaning is nearest to that of the words, within the scope, to what the words
    find (but where they name a level or are a code), and lets nearness count in the order by relevance. An engine that
    does not know, or not in time, what they mean answers by words alone. `patient` waits for the meaning, for reports
    of what shoppers find in general. `known_meaning` uses it only where it is cached and has nothing computed: for
    robots, whose searches would hold up those of people.
    `similar_below` fills `SearchResult.similar` where fewer documents are found. `learned` lifts the scores of what the
    words find; it adds nothing to the results.

    `ranking` is how sales, newness and stock lift the scores of the words, and where sold-out documents stand in the
    orders of RELEVANCE and FEATURED: behind the others, but for those that the request names first or last.
    `day`, from 1970, is the one on which newness counts.

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
    last: tuple[str, ...] = ()
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
    groups: tuple[PlacedGroup, ...] = ()
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


@dataclass(frozen=True, slots=True)
class FieldMatch:
    field: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScorePart:
    """The part of a score that some words add through one field. `kind` names what was counted: `word`, `form`
    (other forms of a word, or these together with it), `alternative` (in place of the words of the search), `beginning`
    (a longer word), `side_by_side`, `code`, `level` (the kind of product that most of the first results are),
    `level_name` (the kind of product that the words name), `sales`, `newness`, `stock`, `meaning` (its name means what
    the words mean), `learned` (shoppers open the product for this search) or `learned_level` (products of its level).
    `words` are those of the document. `opens` is how often they did, where the caller of the engine knows."""

    kind: str
    field: str | None
    words: tuple[str, ...]
    worth: float
    opens: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation why a document is, or is not, among the results. `rank` is 1-based, None when it is not found.
    `parts`, largest first, sum up to the score. `placed` is `pinned`, `boosted`, `buried` or `sold_out` (last)
    where a request placed it. `by_meaning_alone`: the words do not find it. `is_far_down`: it is found, but behind
    RESULT_WINDOW others, so that an engine on a cluster has no rank of it."""

    tokens: tuple[str, ...]
    indexed: bool
    rank: int | None
    score: float | None
    matches: tuple[FieldMatch, ...]
    missing_words: tuple[str, ...]
    parts: tuple[ScorePart, ...] = ()
    placed: str | None = None
    is_far_down: bool = False
    by_meaning_alone: bool = False


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
    instead because the words as typed find nothing, `relaxed` that some of what the words find lacks some of them.
    `full_matches` counts the results that have all the words, None without words; `by_meaning_alone` those that the
    words do not find. `similar`, on the first page of a search by meaning that finds fewer than `similar_below`, has
    documents near in meaning that are no results, by their cosine, within scope and filters. `lacks_meaning`: the
    meaning was not known in time, so that the same search may find more later."""

    total: int
    hits: tuple[Hit, ...] = ()
    facets: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    ranges: Mapping[str, RangeCount] = field(default_factory=dict)
    suggestion: str | None = None
    corrected: bool = False
    relaxed: bool = False
    full_matches: int | None = None
    by_meaning_alone: int = 0
    similar: tuple[Hit, ...] = ()
    lacks_meaning: bool = False


class EngineState(StrEnum):
    HEALTHY = "HEALTHY"
    UNREACHABLE = "UNREACHABLE"
    NOT_SET_UP = "NOT_SET_UP"


class EngineFault(StrEnum):
    """What is wrong with an engine or with one of its indexes. Only INDEX is for a rebuild: the index is missing or
    damaged. CONTENT_INDEX is that of pages and collections while the other answers (`healing.engine_health`; no engine
    says it). MISSING_SHARD is an index whose part is on a machine that is away, and may come back with it; QUORUM is a
    cluster most of whose machines are away."""

    INDEX = "index"
    CONTENT_INDEX = "content_index"
    UNREACHABLE = "unreachable"
    QUORUM = "quorum"
    SLOW = "slow"
    CERTIFICATE = "certificate"
    ACCESS = "access"
    VERSION = "version"
    MISSING_SHARD = "missing_shard"
    DISK_FULL = "disk_full"
    MAPPING = "mapping"
    OVERLOADED = "overloaded"
    REFUSED = "refused"


FAULT_LABELS = {
    EngineFault.INDEX: "Unreachable",
    EngineFault.CONTENT_INDEX: "Pages missing",
    EngineFault.UNREACHABLE: "Unreachable",
    EngineFault.QUORUM: "Machines missing",
    EngineFault.SLOW: "Too slow",
    EngineFault.CERTIFICATE: "Certificate not trusted",
    EngineFault.ACCESS: "Access refused",
    EngineFault.VERSION: "Version too old",
    EngineFault.MISSING_SHARD: "Part missing",
    EngineFault.DISK_FULL: "Disk full",
    EngineFault.MAPPING: "Document refused",
    EngineFault.OVERLOADED: "Overloaded",
    EngineFault.REFUSED: "Request refused",
}


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The status of one index. One that is UNREACHABLE has an `error` and its `fault`; a HEALTHY one only where it
    answers, but takes no changes. `generation` changes with every swap and `version` with every change
    that a reader can see. Deleted documents may count in document frequencies until the engine merges its files: that
    moves scores, not what is found. An `outdated` index answers, but was made by another version of the analysis
    (`ranking.analysis.ANALYSIS`), so that some words miss what they should find until a rebuild. `vectors` counts the
    documents that were embedded with the engine's sentence model, None without one. `lacks_vectors` names that model
    where it can be used and most documents were not embedded with it; a rebuild embeds them. `meaning_fault` says why
    an engine with a sentence model cannot compare vectors."""

    state: EngineState
    error: str | None = None
    documents: int | None = None
    generation: str | None = None
    version: str | None = None
    lacks_vectors: str | None = None
    vectors: int | None = None
    meaning_fault: str | None = None
    outdated: bool = False
    fault: EngineFault | None = None

    @property
    def label(self) -> str:
        """The state, or what is wrong, in a word or two."""
        return FAULT_LABELS[self.fault] if self.fault else self.state.replace("_", " ").capitalize()


NOT_SET_UP = "Search is not set up. Set SEARCH_ENGINE=whoosh for the shop and restart it; Search settings say more."


class SearchUnavailable(DomainError):
    """The engine does not answer. The message is for people: what is wrong and how to fix it. `fault` is None where
    nothing is wrong but that another process has taken the work over."""

    code = "search_unavailable"

    def __init__(self, message: str, fault: EngineFault | None = EngineFault.INDEX) -> None:
        super().__init__(message)
        self.fault = fault


class SearchBeingPrepared(SearchUnavailable):
    """The index is still empty, and the products of the site are on their way into it."""

    def __init__(self) -> None:
        super().__init__("Search is being prepared. Try again in a moment.")


class TrialsUnsupported(DomainError):
    """The engine cannot try changes of documents before they are saved."""

    code = "trials_unsupported"

    def __init__(self) -> None:
        super().__init__(
            "This search engine cannot preview search terms. Save them and see what they do in Test a search; Activity "
            "undoes them."
        )


class Searching(Protocol):
    """The read side of an engine, which answers searches: the live index, or one index of one site as it is to
    become."""

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        """Return the result of a request. Raises SearchUnavailable when there is no index or it cannot be read, and
        while it is empty though products are on their way into it (SearchBeingPrepared)."""
        ...

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        """The result of each request, in their order, in as few round trips as the engine can. Raises
        SearchUnavailable."""
        ...


class Generation(Protocol):
    """A complete index in the making, invisible until published."""

    def add(self, documents: Iterable[IndexDocument]) -> None: ...

    def seal(self) -> int:
        """Make the generation durable, verify that it opens and holds what was added, and return its document count."""
        ...

    def preview(self) -> Searching:
        """Return a reader that answers searches as if this generation were live. Called after `seal`."""
        ...

    def prepare(self, changes: Iterable[Change]) -> None:
        """Do ahead what would take long in `replay`, as `SearchEngine.prepare` does. Called after `seal`."""
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
        """Remove the generation unless it is published. Safe to call at any time and twice."""
        ...


class SearchEngine(Searching, Protocol):
    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        """Return the status of an index, by checks so cheap that they can be made each second. A damaged index is
        UNREACHABLE for every process, although a process may go on answering from the files that it has open."""
        ...

    def size(self, site_id: int, index: IndexName) -> int | None:
        """Return the bytes of the live generation; None where there is none, or the engine does not know."""
        ...

    def verify(self, site_id: int, index: IndexName) -> None:
        """Read all that is stored and compare checksums, which may take seconds. Raises SearchUnavailable for an index
        that is missing or damaged; `status` reports the damage from then on."""
        ...

    @property
    def supports_trials(self) -> bool:
        """Whether `trial` works. An engine on a cluster may have no way to search what is not saved."""
        ...

    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> AbstractContextManager[Searching]:
        """Return a context that yields the live index as it would be with the changes, which no other caller sees; it
        answers for `site_id` and `index` alone. Raises SearchUnavailable, and TrialsUnsupported."""
        ...

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation: ...

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[None]:
        """The publish lock: one process at a time applies changes or swaps a generation in."""
        ...

    def together(self, site_id: int, indexes: Sequence[IndexName]) -> AbstractContextManager[None]:
        """Make the block's publications, one generation of each index, all or nothing: where the block raises, every
        index has again the generation that it had before. A process that dies within the block may leave some
        published, each of which is whole. Called within `exclusive` of each."""
        ...

    def prepare(self, site_id: int, index: IndexName, changes: Iterable[Change]) -> None:
        """Embed new texts ahead of `apply`, which never does so itself because it takes long. The changes are iterated
        only by an engine that has something to prepare. Called outside of `exclusive`."""
        ...

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        """Make the changes findable and durable before returning. Idempotent; the last change of an id
        wins. What was not prepared is found by its words alone. Called within `exclusive`. Raises SearchUnavailable
        when there is no live generation."""
        ...

    def start_generation(self, site_id: int, index: IndexName, *, by_meaning: bool = True) -> Generation:
        """Begin a generation and discard every other one in the making, whose builder can neither seal nor publish it
        any more: the lease of the rebuild run decides who may build, not the engine. Without `by_meaning` the
        generation is searched by words alone."""
        ...

    def digests(self, site_id: int, index: IndexName, ids: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """Yield (id, digest) of every live document, or of those of `ids` that there are, for reconciliation. Raises
        SearchUnavailable, also while iterating."""
        ...

    def forget(self, site_id: int) -> None:
        """Remove everything kept for a site."""
        ...


@dataclass(frozen=True, slots=True)
class SearchContext(WorkContext):
    """The context of work, with the search engine: given to indexing and to previews of searches."""

    engine: SearchEngine

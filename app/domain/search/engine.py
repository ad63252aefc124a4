"""The port to a search engine: what a shop asks of one, in the shop's own words.

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

from app.domain.shared.problems import DomainError


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
    ranges and orders see (`price` in minor units, `createdAt` in seconds since 1970). `card` comes back
    with a hit as it was given. `digest` changes whenever anything else here does.
    """

    id: str
    name: str
    terms: tuple[str, ...] = ()
    manufacturer: str = ""
    kind: str = ""
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
    """Other words that answer for a run of the words asked: `(gearbox OR shifter)`. `place` and `length` name the run
    among `query_words(words)`; each of `others` is the words of one answer, as they are indexed. The run counts as
    one word, and a document that has it ranks above one that has only an answer."""

    place: int
    length: int
    others: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Pin:
    """A document that stands at a position, from 1 on, of the order by relevance, whether it has the words or not."""

    id: str
    position: int


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Everything one page of results needs, answered in one call.

    `scope` narrows the listing itself (a category, say) and never loosens. `filters` and `ranges` are
    what the shopper chose: OR within one, AND between them; the counts of a facet leave its own filter
    out. `first` names documents that lead the FEATURED order, in their order. `page` is 1-based;
    `per_page` 0 asks for total and counts alone.

    `alternatives` widen what answers the words; words among `optional` add to a score but need not match. `pins`,
    `boosts` and `buries` (document ids, boosts in their order) shape the order by relevance alone: pins that pass
    scope and filters stand at their positions, boosts follow, buries come last. A pinned document belongs to the
    results, and to their counts, although it lacks the words; boosts and buries add nothing.
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
    alternatives: tuple[Alternatives, ...] = ()
    optional: frozenset[str] = frozenset()
    pins: tuple[Pin, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    score: float
    card: Mapping[str, object]


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
    `full_matches` counts the results that have all the words; None without words."""

    total: int
    hits: tuple[Hit, ...] = ()
    facets: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    ranges: Mapping[str, RangeCount] = field(default_factory=dict)
    suggestion: str | None = None
    corrected: bool = False
    relaxed: bool = False
    full_matches: int | None = None


@dataclass(frozen=True, slots=True)
class FieldMatch:
    field: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScorePart:
    """What some words add to a score through one field. `kind` says what was counted: `word`, `alternative` (an answer
    in place of the words asked), `beginning` (a longer word), `side_by_side`, `code` or `level` (the kind of product
    that the words name)."""

    kind: str
    field: str | None
    words: tuple[str, ...]
    worth: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a document is, or is not, among the results. `rank` is 1-based, None when it is not found. `parts`, largest
    first, sum up to the score. `placed` is `pinned`, `boosted` or `buried` where a request put it in its place."""

    tokens: tuple[str, ...]
    indexed: bool
    rank: int | None
    score: float | None
    matches: tuple[FieldMatch, ...]
    missing_words: tuple[str, ...]
    parts: tuple[ScorePart, ...] = ()
    placed: str | None = None


class EngineState(StrEnum):
    HEALTHY = "HEALTHY"
    UNREACHABLE = "UNREACHABLE"
    NOT_SET_UP = "NOT_SET_UP"


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """`generation` changes with every swap and `version` with every change that a reader can see."""

    state: EngineState
    error: str | None = None
    documents: int | None = None
    generation: str | None = None
    version: str | None = None


class SearchUnavailable(DomainError):
    """The engine does not answer. The message is for people: what is wrong and what mends it."""

    code = "search_unavailable"


class BuildInProgress(DomainError):
    """Another live process holds the build lock of this index."""

    code = "build_in_progress"


class Searching(Protocol):
    """What answers searches: the engine, or something that stands in for it."""

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        """Raises SearchUnavailable when there is no index or it cannot be read."""
        ...


class Generation(Protocol):
    """A complete index in the making, invisible until published."""

    def add(self, documents: Iterable[IndexDocument]) -> None: ...

    def seal(self) -> int:
        """Make it durable and verify that it opens and holds what was added; the document count."""
        ...

    def search(self, request: SearchRequest) -> SearchResult:
        """What a search would find once this generation is live. Called after `seal`."""
        ...

    def publish(self, changes: Sequence[Change]) -> None:
        """Apply the changes saved meanwhile and make this generation the live one, atomically and durably.
        Called within `SearchEngine.exclusive`."""
        ...

    def discard(self) -> None:
        """Leave nothing behind. Safe to call at any time and twice; a published generation stays."""
        ...


class SearchEngine(Searching, Protocol):
    def status(self, site_id: int, index: IndexName) -> EngineStatus: ...

    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> AbstractContextManager[Searching]:
        """The live index as it would be with the changes, which nobody else sees; it answers for `site_id` and
        `index` alone. Raises SearchUnavailable."""
        ...

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation: ...

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[None]:
        """The publish lock: one process at a time applies changes or swaps a generation in."""
        ...

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        """Make the changes findable and durable before returning. Idempotent; the last change of an id
        wins. Called within `exclusive`. Raises SearchUnavailable when there is no live generation."""
        ...

    def start_generation(self, site_id: int, index: IndexName) -> Generation:
        """Begin a generation and clear the debris of dead ones. Raises BuildInProgress."""
        ...

    def digests(self, site_id: int, index: IndexName) -> Iterator[tuple[str, str]]:
        """(id, digest) of every live document, for reconciliation."""
        ...

    def forget(self, site_id: int) -> None:
        """Remove everything kept for a site."""
        ...

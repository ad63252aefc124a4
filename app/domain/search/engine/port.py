"""The calls of the port to a search engine, the status of an index and the errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.domain.search.engine.documents import Change, IndexDocument, IndexName
from app.domain.search.engine.requests import SearchRequest
from app.domain.search.engine.results import Explanation, SearchResult
from app.domain.shared.problems import DomainError


class EngineState(StrEnum):
    HEALTHY = "HEALTHY"
    UNREACHABLE = "UNREACHABLE"
    NOT_SET_UP = "NOT_SET_UP"


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The status of one index of a site. `generation` changes with every swap and `version` with every change that a
    reader can see. Deleted documents may count in document frequencies until the engine merges its files: that moves
    scores, not what is found. An `outdated` index answers, but was made by another version of the analysis
    (`ranking.analysis.ANALYSIS`), so that some words miss what they should find until a rebuild. `vectors` counts the
    documents that were embedded with the engine's sentence model, None without one. `lacks_vectors` names that model
    where it can be used and most documents were not embedded with it; a rebuild embeds them."""

    state: EngineState
    error: str | None = None
    documents: int | None = None
    generation: str | None = None
    version: str | None = None
    lacks_vectors: str | None = None
    vectors: int | None = None
    outdated: bool = False


class SearchUnavailable(DomainError):
    """The engine does not answer. The message is for people: what is wrong and how to fix it."""

    code = "search_unavailable"


class SearchBeingPrepared(SearchUnavailable):
    """The index is still empty, and the products of the site are on their way into it."""

    def __init__(self) -> None:
        super().__init__("Search is being prepared. Try again in a moment.")


class TrialsUnsupported(DomainError):
    """The engine cannot try changes of documents before they are saved."""

    code = "trials_unsupported"

    def __init__(self) -> None:
        super().__init__("This search engine cannot preview search terms before they are saved.")


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

    def digests(self, site_id: int, index: IndexName) -> Iterator[tuple[str, str]]:
        """Yield (id, digest) of every live document, for reconciliation. Raises SearchUnavailable, also while
        iterating."""
        ...

    def forget(self, site_id: int) -> None:
        """Remove everything kept for a site."""
        ...

"""The order in which readings of a search are tried: all words as typed, then a better spelling, then fewer words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.query import Query
from app.domain.search.ranking.spelling import Spelling, replaced, suggestion


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

"""The port to a source of suggested synonyms: the shop's own words, or a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.relevance.synonyms.candidate import Candidate
from app.domain.relevance.synonyms.mining import CatalogueWords, FoundNothing, mine
from app.domain.relevance.synonyms.rephrasing_candidates import candidates_of
from app.domain.search_statistics.counting.aggregation import Rephrased
from app.domain.shared.problems import DomainError

MINED, AI = "MINED", "AI"


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
        return [*candidates_of(question.rephrased), *mine(question.nothing, question.vocabulary)]

"""The search for synonyms in the background: sources may take half a minute."""

from __future__ import annotations

from app.domain.relevance import synonym_suggestions
from app.domain.shared.author import Author
from app.operations.work_context import work_context
from app.ports import clock, suggestion_sources
from app.transaction import transaction

REQUESTED_BY = "the shop itself"


def suggest(site_id: int) -> None:
    synonym_suggestions.run_suggestions(work_context(), suggestion_sources(), site_id)


def suggest_nightly(site_id: int) -> None:
    with transaction():
        synonym_suggestions.request_run(Author(site_id, REQUESTED_BY, clock()))
    suggest(site_id)

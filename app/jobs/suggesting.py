"""The search for synonyms in the background: sources may take half a minute."""

from __future__ import annotations

from app.domain.relevance.synonyms import suggesting
from app.domain.shared.author import Author
from app.ports import clock, suggestion_sources
from app.transaction import transaction
from app.work_context import work_context

REQUESTED_BY = "the shop itself"


def suggest(site_id: int) -> None:
    suggesting.suggest(work_context(), suggestion_sources(), site_id)


def suggest_nightly(site_id: int) -> None:
    with transaction():
        suggesting.request(Author(site_id, REQUESTED_BY, clock()))
    suggest(site_id)

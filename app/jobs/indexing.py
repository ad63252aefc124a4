"""Jobs that keep the search indexes equal to the database. A job names rows; whose they are stands in the database."""

from __future__ import annotations

from app.domain.search import apply
from app.domain.search import rebuild as rebuilding
from app.domain.search.indexing import Indexing
from app.ports import clock, search_engine
from app.transaction import transaction


def means() -> Indexing:
    return Indexing(search_engine(), clock(), transaction)


def apply_outbox(site_id: int) -> None:
    apply.apply_waiting(means(), site_id)


def rebuild(run_id: str) -> bool:
    return rebuilding.rebuild(means(), run_id)

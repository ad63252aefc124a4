"""Jobs that keep the search indexes equal to the database. A job names rows; whose they are stands in the database."""

from __future__ import annotations

from functools import partial

from app.domain.search.index import apply
from app.domain.search.index import rebuild as rebuilding
from app.domain.search.index.indexing import Indexing
from app.domain.search.trying import golden_check
from app.ports import clock, search_engine
from app.transaction import transaction


def means() -> Indexing:
    return Indexing(search_engine(), clock(), transaction)


def apply_outbox(site_id: int) -> None:
    apply.apply_waiting(means(), site_id)


def rebuild(run_id: str) -> bool:
    """What golden searches say against a new index holds it back, where the site wants that."""
    indexing = means()
    return rebuilding.rebuild(indexing, run_id, examine=partial(golden_check.hold_back, indexing))

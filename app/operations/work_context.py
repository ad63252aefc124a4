"""The one context of work that outlasts a transaction, for jobs, commands and views."""

from __future__ import annotations

from app.domain.search.engine import SearchContext
from app.ports import clock, machine_id, search_engine, worker_locks
from app.transaction import transaction


def work_context() -> SearchContext:
    """Return the clock, transactions, the search engine, the locks of workers and the machine of this application."""
    return SearchContext(clock(), transaction, search_engine(), locks=worker_locks(), machine=machine_id())

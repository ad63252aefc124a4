"""The one context of work that outlasts a transaction, for jobs, commands and views."""

from __future__ import annotations

from flask import current_app

from app.domain.search.engine import SearchContext
from app.ports import clock, machine_id, search_engine, worker_locks
from app.transaction import transaction


def work_context() -> SearchContext:
    """Return the clock, transactions, the search engine, the locks of workers, the machine and its address
    in this application."""
    own = {"machine": machine_id(), "local_address": current_app.config["LOCAL_ADDRESS"]}
    return SearchContext(clock(), transaction, search_engine(), locks=worker_locks(), **own)

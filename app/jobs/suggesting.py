"""Looks for synonyms in the background: sources may take half a minute."""

from __future__ import annotations

from app.domain.search.synonyms import suggesting
from app.domain.search.synonyms.suggesting import Suggesting
from app.ports import clock, search_engine, suggestion_sources
from app.transaction import transaction

ASKED_BY = "the shop itself"


def means() -> Suggesting:
    return Suggesting(search_engine(), clock(), transaction, suggestion_sources())


def suggest(site_id: int) -> None:
    suggesting.work_off(means(), site_id)


def suggest_nightly(site_id: int) -> None:
    with transaction():
        suggesting.request(clock(), site_id, ASKED_BY)
    suggest(site_id)

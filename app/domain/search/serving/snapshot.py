"""The snapshot of synonyms, rules and the learned order that every process serves, and its written form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from app.domain.search.ranking_settings import ranking_of
from app.domain.search.serving.learned import Learned
from app.domain.search.serving.models import ServedConfiguration
from app.domain.search.serving.rules import Rule, RuleSet
from app.domain.search.serving.served import Served, stop_words_of
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet
from app.domain.sites.settings import settings_of
from app.extensions import db

STOP_WORDS = "search-stop-words"
BY_MEANING = "search-by-meaning"


def served(site_id: int) -> Served:
    """Return the serving configuration of a site as the database has it now, with the stop words, ranking and use of
    meaning that its settings name."""
    settings = settings_of(site_id)
    known = read_snapshot(site_id, stop_words_of(settings[STOP_WORDS]))
    return replace(known, ranking=ranking_of(settings), by_meaning=settings[BY_MEANING])


def read_snapshot(site_id: int, stop_words: frozenset[str] = frozenset()) -> Served:
    stored = ServedConfiguration
    columns = select(stored.live_version, stored.synonyms, stored.rules, stored.learned)
    row = db.session.execute(columns.where(stored.site_id == site_id)).one_or_none()
    if row is None:
        return Served(stop_words=stop_words)
    synonyms = SynonymSet.of(map(_group, row.synonyms))
    rules = RuleSet.of(Rule.of_json(rule, rule["id"]) for rule in row.rules)
    return Served(row.live_version, synonyms, rules, stop_words, learned=Learned.of_json(row.learned))


def _group(stored: Mapping[str, Any]) -> SynonymGroup:
    """Return a synonym group of a snapshot. Those published until November 2026 named the synonyms “words”."""
    return SynonymGroup.of_json({"synonyms": stored.get("words"), **stored}, stored["id"])

"""The list of a site's rules, searched by any of their texts and filtered by state. A site has at most MOST_RULES."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import select

from app.domain.relevance.rules.models import SearchRule
from app.domain.relevance.rules.summary import RuleState, effects, state_of
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving import configuration
from app.domain.shared.paging import Paged
from app.extensions import db

PAGE_SIZE = 50


class Narrowed(StrEnum):
    """The filter of rules by their state; UNSYNCED are those that are not served as they are saved."""

    ALL = ""
    LIVE = "live"
    PAUSED = "paused"
    SCHEDULED = "scheduled"
    ENDED = "ended"
    UNSYNCED = "unsynced"


class RuleOrder(StrEnum):
    TERM = "term"
    CHANGED = "changed"
    APPLIED = "applied"


@dataclass(frozen=True, slots=True)
class RuleQuery:
    """`words` are part of the term, the note, the redirect, the banner or a SKU."""

    words: str = ""
    narrowed: Narrowed = Narrowed.ALL
    order: RuleOrder = RuleOrder.TERM
    page: int = 1
    page_size: int = PAGE_SIZE


@dataclass(frozen=True, slots=True)
class ListedRule:
    """`applied` is how many searches it applied to; None where nothing is counted."""

    rule: SearchRule
    state: RuleState
    is_synced: bool
    applied: int | None

    @property
    def summary(self) -> str:
        """The effects of the rule, in one line."""
        text = ", ".join(effects(self.rule))
        return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class RuleList:
    """`is_behind`: something that was saved or deleted is not served to shoppers yet."""

    page: Paged[ListedRule]
    total: int
    is_behind: bool


def rules(site_id: int, query: RuleQuery, now: datetime, applied: Mapping[str, int] | None = None) -> RuleList:
    """Return a page of rules, in two statements. `applied` are searches by normalised term."""
    state = configuration.serving_state(site_id)
    stored = db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id)).all()
    listed = [_listed(rule, state, now, applied) for rule in stored if _says(rule, query.words)]
    found = sorted((row for row in listed if _is_in(row, query.narrowed)), key=lambda row: _order(row, query.order))
    return RuleList(Paged.cut(found, query.page, query.page_size), len(stored), configuration.is_behind(state))


def _listed(
    rule: SearchRule, state: ServedConfiguration | None, now: datetime, applied: Mapping[str, int] | None
) -> ListedRule:
    times = applied.get(rule.normalized_term, 0) if applied is not None else None
    return ListedRule(rule, state_of(rule, now), configuration.is_live(rule, state), times)


def _says(rule: SearchRule, words: str) -> bool:
    wanted = words.strip().casefold()
    return not wanted or any(wanted in text.casefold() for text in _texts(rule))


def _texts(rule: SearchRule) -> Sequence[str]:
    texts = (rule.term, rule.note, rule.redirect_url, rule.banner_text)
    return [text for text in (*texts, *rule.value.skus) if text]


def _is_in(row: ListedRule, narrowed: Narrowed) -> bool:
    if narrowed is Narrowed.UNSYNCED:
        return not row.is_synced
    return narrowed is Narrowed.ALL or row.state.value == narrowed.value


def _order(row: ListedRule, order: RuleOrder) -> tuple[Any, ...]:
    rule = row.rule
    if order is RuleOrder.CHANGED:
        return -rule.updated_at.timestamp(), rule.normalized_term
    if order is RuleOrder.APPLIED:
        return -(row.applied or 0), rule.normalized_term
    return (rule.normalized_term,)

"""A rule in words: its state, its effects, and what changes when it is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.domain.relevance.rules.models import SearchRule
    from app.domain.search.serving.rules import Rule


class RuleState(StrEnum):
    """The state of a rule by its switch and its dates, whether or not it is served as it is saved."""

    LIVE = "live"
    PAUSED = "paused"
    SCHEDULED = "scheduled"
    ENDED = "ended"


def state_of(rule: Rule | SearchRule, now: datetime) -> RuleState:
    if not rule.enabled:
        return RuleState.PAUSED
    if rule.ends_at is not None and rule.ends_at <= now:
        return RuleState.ENDED
    if rule.starts_at is not None and now < rule.starts_at:
        return RuleState.SCHEDULED
    return RuleState.LIVE


def effects(rule: Rule | SearchRule) -> list[str]:
    """Return the effects of the rule, such as "3 pinned" and "redirect to /c/sale", each as a text."""
    placed = (("pinned", rule.pins), ("boosted", rule.boosts), ("buried", rule.buries))
    parts = [f"{len(products)} {word}" for word, products in placed if products]
    if rule.redirect_url:
        parts.insert(0, f"redirect to {rule.redirect_url}")
    if rule.banner:
        parts.append("banner")
    return parts


def when_deleted(rule: Rule | SearchRule, now: datetime) -> list[str]:
    """Return what changes for shoppers when the rule is deleted, a sentence each."""
    state = state_of(rule, now)
    if state is not RuleState.LIVE:
        why = {RuleState.PAUSED: "is paused", RuleState.SCHEDULED: "has not begun", RuleState.ENDED: "has ended"}[state]
        return [f"The rule {why}, so shoppers see no difference."]
    return list(_differences(rule))


def _differences(rule: Rule | SearchRule) -> Iterator[str]:
    if rule.redirect_url:
        yield f"Shoppers see results again instead of {rule.redirect_url}."
    for word, products in (("pinned", rule.pins), ("boosted", rule.boosts), ("buried", rule.buries)):
        if products:
            plural = len(products) != 1
            moved = "" if word == "pinned" else f", where the search finds {'them' if plural else 'it'} at all"
            yield (
                f"{len(products)} {word} product{'s' if plural else ''} {'go' if plural else 'goes'} back to"
                f" {'their' if plural else 'its'} usual place{'s' if plural else ''}{moved}."
            )
    if rule.banner:
        yield "The banner above the results goes."

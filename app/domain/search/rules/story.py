"""How a rule is told to people: its state, what it does, and what changes when it goes. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


class RuleState(StrEnum):
    """Whether the rule applies now. Whether search has it already is another question."""

    LIVE = "live"
    PAUSED = "paused"
    SCHEDULED = "scheduled"
    ENDED = "ended"


class Told(Protocol):
    """What is told of a rule (app/domain/search/live/models.py), or of a draft of one."""

    @property
    def pins(self) -> Sequence[Any]: ...
    @property
    def boosts(self) -> Sequence[str]: ...
    @property
    def buries(self) -> Sequence[str]: ...
    @property
    def redirect_url(self) -> str | None: ...
    @property
    def banner_text(self) -> str | None: ...
    @property
    def enabled(self) -> bool: ...
    @property
    def starts_at(self) -> datetime | None: ...
    @property
    def ends_at(self) -> datetime | None: ...


def state_of(rule: Told, now: datetime) -> RuleState:
    if not rule.enabled:
        return RuleState.PAUSED
    if rule.ends_at is not None and rule.ends_at <= now:
        return RuleState.ENDED
    if rule.starts_at is not None and now < rule.starts_at:
        return RuleState.SCHEDULED
    return RuleState.LIVE


def does(rule: Told) -> list[str]:
    """What the rule does, in parts: "3 pinned", "redirect to /c/sale"."""
    placed = (("pinned", rule.pins), ("boosted", rule.boosts), ("buried", rule.buries))
    parts = [f"{len(products)} {word}" for word, products in placed if products]
    if rule.redirect_url:
        parts.insert(0, f"redirect to {rule.redirect_url}")
    if rule.banner_text:
        parts.append("banner")
    return parts


def when_deleted(rule: Told, now: datetime) -> list[str]:
    """What will be different once the rule is gone, a sentence each."""
    state = state_of(rule, now)
    if state is not RuleState.LIVE:
        why = {RuleState.PAUSED: "is paused", RuleState.SCHEDULED: "has not begun", RuleState.ENDED: "has ended"}[state]
        return [f"The rule {why}, so shoppers see no difference."]
    return list(_differences(rule))


def _differences(rule: Told) -> Iterator[str]:
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
    if rule.banner_text:
        yield "The banner above the results goes."

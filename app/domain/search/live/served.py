"""Synonyms and rules as search works with them: values without a database, so that any change can be tried unsaved."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType


def normalized_term(text: str) -> str:
    """Two searches are the same where this is: NFKC, case folded, trimmed, spaces collapsed
    (contracts: Rules). May be empty."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


class SynonymType(StrEnum):
    """EQUIVALENT: each word finds the others. ONE_WAY: the root also finds the words, not back."""

    EQUIVALENT = "EQUIVALENT"
    ONE_WAY = "ONE_WAY"


@dataclass(frozen=True, slots=True)
class SynonymGroup:
    """`root` only where the type is ONE_WAY. `id` is None for a group that is not saved yet."""

    type: SynonymType
    root: str | None
    words: tuple[str, ...]
    id: int | None = None


@dataclass(frozen=True, slots=True)
class PinnedSku:
    """`position` is 1-based."""

    sku: str
    position: int


@dataclass(frozen=True, slots=True)
class Banner:
    text: str
    link_url: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens when a shopper searches exactly `term`. `id` is None for one that is not saved yet."""

    term: str
    pins: tuple[PinnedSku, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()
    redirect_url: str | None = None
    banner: Banner | None = None
    enabled: bool = True
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    id: int | None = None

    @property
    def normalized_term(self) -> str:
        return normalized_term(self.term)

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)

    def applies_at(self, now: datetime) -> bool:
        """From `starts_at` on and until just before `ends_at`."""
        begun = self.starts_at is None or self.starts_at <= now
        return self.enabled and begun and (self.ends_at is None or now < self.ends_at)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a site by normalised term."""

    by_term: Mapping[str, Rule] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> RuleSet:
        return cls(MappingProxyType({rule.normalized_term: rule for rule in rules}))

    def find(self, words: str, now: datetime) -> Rule | None:
        """The rule that applies to a search at a time."""
        rule = self.by_term.get(normalized_term(words))
        return rule if rule is not None and rule.applies_at(now) else None

    def with_rule(self, rule: Rule) -> RuleSet:
        """As if the rule were saved, in the place of the one of its id or term."""
        others = (kept for kept in self.by_term.values() if rule.id is None or kept.id != rule.id)
        return RuleSet.of((*others, rule))

    def without(self, rule_id: int) -> RuleSet:
        return RuleSet.of(kept for kept in self.by_term.values() if kept.id != rule_id)

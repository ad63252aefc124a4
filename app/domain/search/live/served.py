"""Synonyms and rules as search works with them: values without a database, so that any change can be tried unsaved."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import chain
from types import MappingProxyType
from typing import ClassVar

from app.domain.search.engine import Alternatives
from app.domain.search.text import MAX_CHARACTERS, query_words, stem, tokens

MOST_TOKENS = 5  # Words that one expression of a group is read by (contracts: Synonyms).
MOST_ANSWERS = 120  # Of all the words of one search, so that none of 16 words in groups of 20 takes long.
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')

Run = tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class AppliedSynonym:
    """`typed` is what the shopper wrote, `others` what it finds besides, as the group writes it."""

    group: SynonymGroup
    typed: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expansion:
    """What synonyms make of a search: for the engine, and for people to read."""

    alternatives: tuple[Alternatives, ...] = ()
    applied: tuple[AppliedSynonym, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    """What one expression of a group answers with."""

    group: SynonymGroup
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SynonymSet:
    """The synonym groups of a site, by the words as they are indexed."""

    groups: tuple[SynonymGroup, ...] = ()
    _entries: Mapping[Run, tuple[_Entry, ...]] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    @classmethod
    def of(cls, groups: Iterable[SynonymGroup]) -> SynonymSet:
        groups = tuple(groups)
        entries: dict[Run, tuple[_Entry, ...]] = {}
        for group in groups:
            for run, entry in _entries_of(group):
                entries[run] = (*entries.get(run, ()), entry)
        return cls(groups, MappingProxyType(entries))

    def with_group(self, group: SynonymGroup) -> SynonymSet:
        """As if the group were saved, in the place of the one of its id."""
        others = (kept for kept in self.groups if group.id is None or kept.id != group.id)
        return SynonymSet.of((*others, group))

    def without(self, group_id: int) -> SynonymSet:
        return SynonymSet.of(kept for kept in self.groups if kept.id != group_id)

    def expand(self, words: str) -> Expansion:
        """The longest expressions first, then from left to right; no word is read twice, and none that stands in
        double quotes. What an expression finds is not expanded again."""
        if not self._entries:
            return Expansion()
        asked = query_words(words)
        free = _unquoted(words, asked)
        found = sorted(self._found(asked, free))
        each = MOST_ANSWERS // max(len(found), 1)
        written = {stem(token): token for token in reversed(tokens(words[:MAX_CHARACTERS]))}
        alternatives = []
        applied: list[AppliedSynonym] = []
        for place, run in found:
            entries = self._entries[run]
            answers = dict.fromkeys(map(query_words, chain.from_iterable(entry.others for entry in entries)))
            alternatives.append(Alternatives(place, len(run), tuple(answers)[:each]))
            typed = " ".join(written[word] for word in run)
            applied += (AppliedSynonym(entry.group, typed, entry.others) for entry in entries)
        return Expansion(tuple(alternatives), tuple(applied))

    def _found(self, asked: Run, free: list[bool]) -> Iterator[tuple[int, Run]]:
        """(place, expression) of what the words hold."""
        for length in range(min(MOST_TOKENS, len(asked)), 0, -1):
            for place in range(len(asked) - length + 1):
                run = asked[place : place + length]
                if run in self._entries and all(free[place : place + length]):
                    free[place : place + length] = [False] * length
                    yield place, run


def _entries_of(group: SynonymGroup) -> Iterator[tuple[Run, _Entry]]:
    if group.type is SynonymType.ONE_WAY:
        pairs = [(group.root or "", group.words)]
    else:
        pairs = [(word, tuple(other for other in group.words if other != word)) for word in group.words]
    for word, others in pairs:
        run = query_words(word)
        different = tuple(other for other in others if query_words(other) not in ((), run))
        if run and len(run) <= MOST_TOKENS and different:
            yield run, _Entry(group, different)


def _unquoted(words: str, asked: Run) -> list[bool]:
    """Which of the words never stand in quotes. A quote that is not closed quotes nothing."""
    quoted = {stem(token) for part in _QUOTED.findall(words[:MAX_CHARACTERS]) for token in tokens(part)}
    return [word not in quoted for word in asked]


@dataclass(frozen=True, slots=True)
class Served:
    """Everything merchandisers taught the search of one site. `version` counts its published states; `stop_words`
    are as they are indexed."""

    NOTHING: ClassVar[Served]

    version: int = 0
    synonyms: SynonymSet = field(default_factory=SynonymSet)
    rules: RuleSet = field(default_factory=RuleSet)
    stop_words: frozenset[str] = frozenset()


Served.NOTHING = Served()


def stop_words_of(texts: Iterable[str]) -> frozenset[str]:
    """Stop words as they are indexed, from how the settings have them."""
    return frozenset(word for text in texts for word in query_words(text))

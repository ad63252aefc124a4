"""The rules of a site as they are served: which of them apply to a search, in the order of their precedence. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import MappingProxyType

from app.domain.search.ranking.scoring import Phrase, phrase_of, phrases
from app.domain.search.serving.rules import Rule, normalized_term
from app.domain.search.serving.term_index import Match, Run, TermIndex, run_of


class RuleIndex:
    """The rules by the words of the searches to which they apply, whatever their dates and switches."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        kept = [rule for rule in rules if rule.match is not Match.ANY or rule.is_narrowed]
        entries = ((rule.match, term, rule) for rule in kept for term in rule.terms)
        self._terms = TermIndex(entries, normalized_term)
        self._phrases = {id(rule): frozenset(phrases(rule.names)) for rule in kept if rule.is_narrowed}
        self._by_phrase: dict[Phrase, list[Rule]] = defaultdict(list)
        for rule in kept:
            for phrase in self._phrases.get(id(rule), ()) if rule.match is Match.ANY else ():
                self._by_phrase[phrase].append(rule)
        self._kept = kept  # Their ids as objects are the keys above.

    def find(self, words: str) -> list[Rule]:
        """Return the rules for a search, each once, by precedence."""
        found = {
            id(each.matched): each.matched for each in self._terms.find(words) if self._names(each.matched, each.rest)
        }
        if self._by_phrase:
            found |= {id(rule): rule for rule in self._by_phrase.get(phrase_of(run_of(words)), ())}
        return sorted(found.values(), key=lambda rule: rule.precedence)

    def _names(self, rule: Rule, rest: Run) -> bool:
        """Whether the words besides the term name a level or a category of the rule, where it has any."""
        return not rule.is_narrowed or phrase_of(rest) in self._phrases[id(rule)]


@dataclass(frozen=True)
class RuleSet:
    """The rules of a site. `by_term` are those for exactly one search, by its normal form."""

    rules: tuple[Rule, ...] = ()

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> RuleSet:
        """Make a set of rules. Of two with the same key the later counts."""
        return cls(tuple({(rule.match, rule.normalized_term): rule for rule in rules}.values()))

    @cached_property
    def by_term(self) -> Mapping[str, Rule]:
        return MappingProxyType({rule.normalized_term: rule for rule in self.rules if rule.match is Match.EXACT})

    @cached_property
    def _index(self) -> RuleIndex:
        return RuleIndex(self.rules)

    def matching(self, words: str) -> list[Rule]:
        """Return the rules for a search by precedence, also those that do not apply now."""
        return self._index.find(words)

    def applying(self, words: str, now: datetime) -> tuple[Rule, ...]:
        """Return the rules that apply to a search at a time, by precedence."""
        return tuple(rule for rule in self.matching(words) if rule.applies_at(now))

    def find(self, words: str, now: datetime) -> Rule | None:
        """Return the first of the rules that apply to a search at a time."""
        return next(iter(self.applying(words, now)), None)

    def like(self, rule: Rule) -> Rule | None:
        """Return the rule of the same id or, for one without, of the same key."""
        if rule.id is not None:
            return next((one for one in self.rules if one.id == rule.id), None)
        key = rule.match, rule.normalized_term
        return next((one for one in self.rules if (one.match, one.normalized_term) == key), None)

    def with_rule(self, rule: Rule) -> RuleSet:
        """Return the rules as if the rule were saved, in the place of the one of its id or term."""
        others = (kept for kept in self.rules if rule.id is None or kept.id != rule.id)
        return RuleSet.of((*others, rule))

    def without(self, rule_id: int) -> RuleSet:
        return RuleSet.of(kept for kept in self.rules if kept.id != rule_id)

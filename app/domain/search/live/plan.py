"""What a search comes to before an engine is asked: which rule applies and which synonyms widen it. Pure, so that any
change of either can be tried before it is saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from app.domain.search.live.redirects import safe_redirect
from app.domain.search.live.served import Banner, Expansion, Rule, Served, SynonymSet


@dataclass(frozen=True, slots=True)
class Plan:
    """`redirect` is the path of this site where the search goes instead of to results. `synonyms` are those that
    `expansion` was made with: a corrected spelling is expanded anew."""

    words: str
    rule: Rule | None = None
    redirect: str | None = None
    banner: Banner | None = None
    expansion: Expansion = field(default_factory=Expansion)
    synonyms: SynonymSet = field(default_factory=SynonymSet)


def plan(words: str, served: Served, now: datetime, redirects: bool = True) -> Plan:
    """The order is that of the contract: a redirect, else pins, boosts and buries of the rule over what the words
    and their synonyms find. Without `redirects` a rule that sends away places and shows what else it has."""
    rule = served.rules.find(words, now)
    return Plan(
        words=words,
        rule=rule,
        redirect=safe_redirect(rule.redirect_url) if rule is not None and redirects else None,
        banner=rule.banner if rule is not None else None,
        expansion=served.synonyms.expand(words),
        synonyms=served.synonyms,
    )

"""The plan of a search before an engine answers: which rule applies and which synonyms widen it. Pure, so that any
change of either can be previewed before it is saved."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from app.domain.search.ranking.learning import LearnedSearch
from app.domain.search.ranking.signals import SECONDS_A_DAY
from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.redirects import safe_redirect, words_searched_at
from app.domain.search.serving.rules import Banner, Rule
from app.domain.search.serving.served import Served
from app.domain.search.serving.synonyms import Expansion, SynonymSet


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a search. `redirect` is the path of this site where the search goes instead of to results. `synonyms`
    are those that `expansion` was made with: a corrected spelling is expanded anew. `day`, from 1970, is the one on
    which `ranking` counts newness."""

    words: str
    rule: Rule | None = None
    redirect: str | None = None
    banner: Banner | None = None
    expansion: Expansion = field(default_factory=Expansion)
    synonyms: SynonymSet = field(default_factory=SynonymSet)
    by_meaning: bool = False
    ranking: RankingSettings = RankingSettings.DEFAULT
    day: int = 0
    learned: LearnedSearch = field(default_factory=LearnedSearch)


def plan(words: str, served: Served, now: datetime, redirects: bool = True) -> Plan:
    """Return the plan of a search, in the order of the contract: a redirect, else pins, boosts and buries of the rule
    over what the words and their synonyms find. Without `redirects` the redirect of a rule is ignored, and its other
    actions apply."""
    rule = served.rules.find(words, now)
    return Plan(
        words=words,
        rule=rule,
        redirect=_redirect(rule, served, now) if redirects else None,
        banner=_banner(rule),
        expansion=served.synonyms.expand(words),
        synonyms=served.synonyms,
        by_meaning=served.by_meaning,
        ranking=served.ranking,
        day=int(now.timestamp()) // SECONDS_A_DAY,
        learned=served.learned.served(words),
    )


def _redirect(rule: Rule | None, served: Served, now: datetime) -> str | None:
    """Return the path of a rule's redirect; None where it is unsafe, which is checked at every use, or leads to a
    search that is itself redirected, so that it might never end."""
    path = safe_redirect(rule.redirect_url) if rule is not None else None
    return None if path is None or _is_sent_on(path, served, now) else path


def _is_sent_on(path: str, served: Served, now: datetime) -> bool:
    words = words_searched_at(path)
    there = served.rules.find(words, now) if words is not None else None
    return there is not None and safe_redirect(there.redirect_url) is not None


def _banner(rule: Rule | None) -> Banner | None:
    """Return the banner of a rule. Its link leads to a page of this site or nowhere."""
    if rule is None or rule.banner is None:
        return None
    return Banner(rule.banner.text, safe_redirect(rule.banner.link_url))

"""The serving configuration of a site, and by it the plan of a search before an engine answers: which rule applies,
which synonyms widen it, and what clicks taught about it. Pure, so that any change can be previewed before it is
saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar

from app.domain.search.document_ids import product_document_id
from app.domain.search.engine import LearnedFactors
from app.domain.search.ranking.learning import LearnedLevel, LearnedProduct, LearnedSearch
from app.domain.search.ranking.scoring import SECONDS_A_DAY
from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.applied_rules import AppliedRules, combine
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Banner, Rule, normalized_term, safe_redirect, words_searched_at
from app.domain.search.serving.synonyms import Expansion, SynonymSet
from app.domain.search.text import query_words
from app.domain.search.understanding.parts import UnderstandingMode

NOTHING_LEARNED = LearnedSearch()


class LearningMode(StrEnum):
    """SHADOW: learned, and shown to merchandisers alone; ON: shoppers' results are ordered by it, too."""

    OFF = "off"
    SHADOW = "shadow"
    ON = "on"


@dataclass(frozen=True, slots=True)
class Learned:
    """What a site learned from clicks. `searches` are by their words in the normal form of a rule's term, in which they
    are counted too."""

    NOTHING: ClassVar[Learned]

    mode: LearningMode = LearningMode.OFF
    searches: Mapping[str, LearnedSearch] = field(default_factory=dict)

    def of(self, words: str) -> LearnedSearch:
        """Return what was learned for a search, whether or not it is served."""
        return self.searches.get(normalized_term(words), NOTHING_LEARNED) if self.searches else NOTHING_LEARNED

    def served(self, words: str) -> LearnedSearch:
        return self.of(words) if self.mode is LearningMode.ON else NOTHING_LEARNED

    def switched(self, on: bool) -> Learned:
        return replace(self, mode=LearningMode.ON if on else LearningMode.OFF)

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Learned:
        searches = {word: search_of_json(one) for word, one in stored.get("searches", {}).items()}
        return cls(LearningMode(stored.get("mode", LearningMode.OFF)), searches)

    def as_json(self) -> dict[str, Any]:
        searches = {word: search_as_json(one) for word, one in self.searches.items()}
        return {"mode": self.mode.value, "searches": searches}


Learned.NOTHING = Learned()


def search_of_json(stored: Mapping[str, Iterable[Any]]) -> LearnedSearch:
    """Read what `search_as_json` wrote."""
    products = tuple(LearnedProduct(*one) for one in stored.get("products", ()))
    return LearnedSearch(products, tuple(LearnedLevel(*one) for one in stored.get("levels", ())))


def search_as_json(learned: LearnedSearch) -> dict[str, Any]:
    """Return rows in place of objects, since each process reads hundreds of them at every change."""
    return {
        "products": [[one.product_id, one.factor, one.opens, one.bought] for one in learned.products],
        "levels": [[one.level_id, one.factor, one.opens] for one in learned.levels],
    }


def factors_of(learned: LearnedSearch) -> LearnedFactors:
    """Return the factors for an engine, those of products by the ids of their documents."""
    products = tuple((product_document_id(one.product_id), one.factor) for one in learned.products)
    return LearnedFactors(products, tuple((one.level_id, one.factor) for one in learned.levels))


@dataclass(frozen=True, slots=True)
class Served:
    """The synonyms, rules, stop words, ranking settings and learned order of one site. `version` counts its published
    states; `stop_words` are as they are indexed; `by_meaning` lets the meaning of words rank as well; `understanding`
    says what becomes of prices, sizes, values and brands among the words."""

    NOTHING: ClassVar[Served]

    version: int = 0
    synonyms: SynonymSet = field(default_factory=SynonymSet)
    rules: RuleSet = field(default_factory=RuleSet)
    stop_words: frozenset[str] = frozenset()
    by_meaning: bool = False
    ranking: RankingSettings = RankingSettings.DEFAULT
    learned: Learned = Learned.NOTHING
    understanding: UnderstandingMode = UnderstandingMode.OFF


Served.NOTHING = Served()


def stop_words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the stop words of a site's settings as they are indexed."""
    return frozenset(word for text in texts for word in query_words(text))


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a search. `rules` apply to it, by their precedence. `redirect` is the path of this site where the
    search goes instead of to results. `synonyms` are those that `expansion` was made with: a corrected spelling is
    expanded anew. `day`, from 1970, is the one on which `ranking` and groups of new products count."""

    words: str
    rules: tuple[Rule, ...] = ()
    redirect: str | None = None
    banner: Banner | None = None
    expansion: Expansion = field(default_factory=Expansion)
    synonyms: SynonymSet = field(default_factory=SynonymSet)
    by_meaning: bool = False
    ranking: RankingSettings = RankingSettings.DEFAULT
    day: int = 0
    learned: LearnedSearch = field(default_factory=LearnedSearch)

    @property
    def rule(self) -> Rule | None:
        """The first of the rules."""
        return self.rules[0] if self.rules else None

    @property
    def applied(self) -> AppliedRules:
        return combine(self.rules)

    @property
    def today(self) -> datetime:
        return datetime.fromtimestamp(self.day * SECONDS_A_DAY, UTC)


def plan(words: str, served: Served, now: datetime, redirects: bool = True) -> Plan:
    """Return the plan of a search, in the order of the contract: a redirect, else pins, boosts and buries of the
    rules over what the words and their synonyms find. Without `redirects` that of a rule is ignored, and all else
    applies."""
    rules = served.rules.applying(words, now)
    applied = combine(rules)
    return Plan(
        words=words,
        rules=rules,
        redirect=_redirect(applied.redirect, served, now) if redirects else None,
        banner=_banner(applied.banner),
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
    words = words_searched_at(path) if path is not None else None
    next_rule = combine(served.rules.applying(words, now)).redirect if words is not None else None
    is_redirected_again = next_rule is not None and safe_redirect(next_rule.redirect_url) is not None
    return None if is_redirected_again else path


def _banner(rule: Rule | None) -> Banner | None:
    """Return the banner of a rule. Its link leads to a page of this site or nowhere."""
    if rule is None or rule.banner is None:
        return None
    return Banner(rule.banner.text, safe_redirect(rule.banner.link_url))

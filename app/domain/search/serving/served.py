"""The configuration that the search of one site serves: synonyms, rules, stop words, ranking settings and what it
learned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.learned import Learned
from app.domain.search.serving.rules import RuleSet
from app.domain.search.serving.synonyms import SynonymSet
from app.domain.search.text import query_words


@dataclass(frozen=True, slots=True)
class Served:
    """The synonyms, rules, stop words, ranking settings and learned order of one site. `version` counts its published
    states; `stop_words` are as they are indexed; `by_meaning` lets the meaning of words rank as well."""

    NOTHING: ClassVar[Served]

    version: int = 0
    synonyms: SynonymSet = field(default_factory=SynonymSet)
    rules: RuleSet = field(default_factory=RuleSet)
    stop_words: frozenset[str] = frozenset()
    by_meaning: bool = False
    ranking: RankingSettings = RankingSettings.DEFAULT
    learned: Learned = Learned.NOTHING


Served.NOTHING = Served()


def stop_words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the stop words of a site's settings as they are indexed."""
    return frozenset(word for text in texts for word in query_words(text))

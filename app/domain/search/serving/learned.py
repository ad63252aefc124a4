"""What a site's search learned from clicks, by search, and whether shoppers are served it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar

from app.domain.search.engine import LearnedFactors
from app.domain.search.ranking.learning import LearnedLevel, LearnedProduct, LearnedSearch
from app.domain.search.serving.rules import normalized_term

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
    products = tuple((f"p{one.product_id}", one.factor) for one in learned.products)
    return LearnedFactors(products, tuple((one.level_id, one.factor) for one in learned.levels))

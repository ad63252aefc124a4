"""The scores of the tiers of what a search finds, and by how much each is brought down below those above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.adapters.opensearch import queries
from app.adapters.opensearch.mapping import Body
from app.adapters.opensearch.queries import Ends
from app.domain.search.ranking.scoring import demotion


@dataclass(frozen=True, slots=True)
class TierEnds:
    """The least and the highest score in each tier, of the documents `full`, which have all the words, and of
    others."""

    tiers: Sequence[queries.Tier]
    of_full: Sequence[Ends | None]
    of_others: Sequence[Ends | None]
    full: Sequence[str]

    @classmethod
    def of(cls, tiers: Sequence[queries.Tier], aggregations: Mapping[str, Any], full: Sequence[str]) -> TierEnds:
        """Return what `queries.extremes` found."""
        parts = [aggregations[str(place)]["alone"]["parts"]["buckets"] for place in range(len(tiers))]
        return cls(tiers, [_ends(part["full"]) for part in parts], [_ends(part["others"]) for part in parts], full)

    def factors(self) -> list[tuple[Body, float]]:
        """Return the condition and the factor of each tier: documents with alternatives alone stand below those of as
        many words that have the words themselves, and all that lack some of the words below the `full` ones."""
        factors, down = self._own_factors(), self._demotion_of_others()
        others = [(tier.condition, factor * down) for tier, factor in zip(self.tiers, factors, strict=True)]
        if down == 1.0:
            return others
        of_full = [
            (queries.all_of([tier.condition, queries.one_of(self.full)]), factor)
            for tier, factor in zip(self.tiers, factors, strict=True)
        ]
        return of_full + others

    def lows(self) -> list[float]:
        """Return the least score of each tier but the last, as `factors` leaves them."""
        ends = [_whole(pair) for pair in zip(self.of_full, self.of_others, strict=True)]
        return [end[0] * factor for end, factor in zip(ends, self._own_factors(), strict=True) if end][:-1]

    def lows_of_full(self) -> list[float]:
        """Return the least score of the documents that have all the words, where others lack some."""
        pairs = zip(self.of_full, self._own_factors(), strict=True)
        low = min((end[0] * factor for end, factor in pairs if end), default=None)
        return [low] if low is not None and any(self.of_others) else []

    def _own_factors(self) -> list[float]:
        ends = [_whole(pair) for pair in zip(self.of_full, self.of_others, strict=True)]
        factors: list[float] = []
        for count in dict.fromkeys(tier.count for tier in self.tiers):
            own = [end for tier, end in zip(self.tiers, ends, strict=True) if tier.count == count]
            factors += queries.demotions(own)
        return factors

    def _demotion_of_others(self) -> float:
        factors = self._own_factors()
        above = [end[0] * factor for end, factor in zip(self.of_full, factors, strict=True) if end]
        below = [end[1] * factor for end, factor in zip(self.of_others, factors, strict=True) if end]
        return demotion(max(below), min(above)) if above and below else 1.0


def _ends(part: Mapping[str, Any]) -> Ends | None:
    return (part["low"]["value"], part["high"]["value"]) if part["doc_count"] else None


def _whole(pair: tuple[Ends | None, Ends | None]) -> Ends | None:
    both = [ends for ends in pair if ends]
    return (min(low for low, _ in both), max(high for _, high in both)) if both else None

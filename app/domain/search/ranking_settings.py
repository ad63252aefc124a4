"""The ranking settings of a site: how much sales, newness and stock count in searches, and where sold-out products
stand. As stored settings, as JSON and in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar

from app.domain.shared.schema import Choice, Record

SOLD_OUT = "search-sold-out"
SALES = "search-weight-sales"
NEWNESS = "search-weight-newness"
STOCK = "search-weight-stock"
TITLES = {
    SOLD_OUT: "sold-out products",
    SALES: "the weight of sales",
    NEWNESS: "the weight of newness",
    STOCK: "the weight of stock",
}


class Weight(StrEnum):
    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class SoldOut(StrEnum):
    """The place of sold-out products in search results: by their score, behind all others, or none."""

    AS_IS = "as-is"
    LAST = "last"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """The ranking settings of a site. The defaults have no effect on any order."""

    DEFAULT: ClassVar[RankingSettings]

    sold_out: SoldOut = SoldOut.AS_IS
    sales: Weight = Weight.NONE
    newness: Weight = Weight.NONE
    stock: Weight = Weight.NONE

    @property
    def sold_out_last(self) -> bool:
        """Whether sold-out products stand last where they are listed at all."""
        return self.sold_out is not SoldOut.AS_IS

    @property
    def hides_sold_out(self) -> bool:
        return self.sold_out is SoldOut.HIDDEN

    @property
    def weights(self) -> Mapping[str, Weight]:
        """The weights of the signals, by the kind of score part that explains each."""
        return {"sales": self.sales, "newness": self.newness, "stock": self.stock}

    def without_hiding(self) -> RankingSettings:
        """Return the settings with sold-out products last where they would be hidden."""
        return replace(self, sold_out=SoldOut.LAST) if self.hides_sold_out else self

    def __str__(self) -> str:
        """Return the settings in a few words, such as "sold-out products last; sales high"."""
        weighed = [f"{signal} {weight.value}" for signal, weight in self.weights.items() if weight is not Weight.NONE]
        return "; ".join((IN_WORDS[self.sold_out], ", ".join(weighed) or "no weights"))

    def as_json(self) -> dict[str, str]:
        return {"soldOut": self.sold_out.value} | {name: weight.value for name, weight in self.weights.items()}


RankingSettings.DEFAULT = RankingSettings()
IN_WORDS = {
    SoldOut.AS_IS: "sold-out products as they are",
    SoldOut.LAST: "sold-out products last",
    SoldOut.HIDDEN: "sold-out products hidden",
}
_WEIGHT = tuple(weight.value for weight in Weight)
RANKING = Record(
    soldOut=Choice(tuple(way.value for way in SoldOut), label="Sold-out products in searches", required=True),
    sales=Choice(_WEIGHT, label="Sales", required=True),
    newness=Choice(_WEIGHT, label="Newness", required=True),
    stock=Choice(_WEIGHT, label="Stock", required=True),
)


def of_json(fields: Mapping[str, Any]) -> RankingSettings:
    """Return the settings of fields that RANKING has read."""
    weights = (Weight(fields[name]) for name in ("sales", "newness", "stock"))
    return RankingSettings(SoldOut(fields["soldOut"]), *weights)


def ranking_of(settings: Mapping[str, Any]) -> RankingSettings:
    """Return the ranking that a site's settings describe."""
    weights = (Weight(settings[key]) for key in (SALES, NEWNESS, STOCK))
    return RankingSettings(SoldOut(settings[SOLD_OUT]), *weights)


def stored_form(ranking: RankingSettings) -> dict[str, object]:
    """Return the ranking settings as they are stored, by the key of each."""
    return {
        SOLD_OUT: ranking.sold_out.value,
        SALES: ranking.sales.value,
        NEWNESS: ranking.newness.value,
        STOCK: ranking.stock.value,
    }

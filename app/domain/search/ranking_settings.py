"""The ranking settings of a site: how much sales, newness and stock count in searches, and where sold-out products
stand. As stored settings, as JSON and in words. Pure.

A setting is declared in SETTINGS (app/domain/sites/setting_keys.py) and has a field here; a signal also has a sentence
in SIGNALS and its shares in the engine (app/adapters/whoosh/scoring.py). Form, JSON and the tool of agents follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar

from app.domain.shared.schema import Choice, Record, camel_case
from app.domain.sites import setting_keys

SOLD_OUT = "search-sold-out"
# The signals that weights lift, and why one lifted a product.
SIGNALS: Mapping[str, str] = {
    "sales": "sold well in the last 90 days",
    "newness": "new in the shop",
    "stock": "in stock",
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
        return {signal: getattr(self, signal) for signal in SIGNALS}

    def without_hiding(self) -> RankingSettings:
        """Return the settings with sold-out products last where they would be hidden."""
        return replace(self, sold_out=SoldOut.LAST) if self.hides_sold_out else self

    def __str__(self) -> str:
        """Return the settings in a few words, such as "sold-out products last; sales high"."""
        weighed = [f"{signal} {weight.value}" for signal, weight in self.weights.items() if weight is not Weight.NONE]
        return "; ".join((IN_WORDS[self.sold_out], ", ".join(weighed) or "no weights"))

    def as_json(self) -> dict[str, str]:
        return {camel_case(each.name): getattr(self, each.name).value for each in PAGE.settings}


RankingSettings.DEFAULT = RankingSettings()
PAGE = setting_keys.SettingsPage(setting_keys.RANKING, RankingSettings)
TITLES = PAGE.titles
IN_WORDS = {
    SoldOut.AS_IS: "sold-out products as they are",
    SoldOut.LAST: "sold-out products last",
    SoldOut.HIDDEN: "sold-out products hidden",
}
RANKING = Record(
    **{
        camel_case(each.name): Choice(each.choices, label=each.label, for_agents=each.for_agents, required=True)
        for each in PAGE.settings
    }
)


def of_json(fields: Mapping[str, Any]) -> RankingSettings:
    """Return the settings of fields that RANKING has read."""
    return ranking_of({each.key: fields[camel_case(each.name)] for each in PAGE.settings})


def ranking_of(settings: Mapping[str, Any]) -> RankingSettings:
    """Return the ranking that a site's settings describe."""
    return PAGE.read(settings)


def stored_form(ranking: RankingSettings) -> dict[str, object]:
    """Return the ranking settings as they are stored, by the key of each."""
    return PAGE.stored_form(ranking)

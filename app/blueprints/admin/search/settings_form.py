"""The form of the search settings, and its buttons that change the list of filters."""

from __future__ import annotations

from dataclasses import dataclass, replace

from werkzeug.datastructures import MultiDict

from app.domain.catalogue.search_terms import split_terms
from app.domain.search.serving.learned import LearningMode
from app.domain.search.settings import MOST_FILTERS, SearchSettings, cleaned_words


@dataclass(frozen=True, slots=True)
class SearchSettingsForm:
    settings: SearchSettings
    chosen: str = ""

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> SearchSettingsForm:
        settings = SearchSettings(
            content_search="contentSearch" in sent,
            tracking="tracking" in sent,
            click_tracking="clickTracking" in sent,
            filters=tuple(dict.fromkeys(sent.getlist("filter")))[: MOST_FILTERS * 2],
            stop_words=cleaned_words(split_terms(sent.get("stopWords", ""))),
            hold_golden="holdGolden" in sent,
            suggestions=sent.getlist("suggestions") != ["off"],
            blocked_words=cleaned_words(split_terms(sent.get("blockedWords", ""))),
            by_meaning=sent.getlist("byMeaning") != ["off"],
            learning=_mode(sent.get("learning", "")),
        )
        return cls(settings, sent.get("addFilter", ""))

    def after(self, intent: str) -> SearchSettingsForm:
        """Return the form after a button of the filters: `add`, `remove:2`, `up:2` or `down:2`."""
        action, _, number = intent.partition(":")
        filters = list(self.settings.filters)
        place = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else -1
        if action == "add" and self.chosen and self.chosen not in filters:
            filters.append(self.chosen)
        elif 0 <= place < len(filters):
            _move(filters, action, place)
        return SearchSettingsForm(replace(self.settings, filters=tuple(filters)))


def _mode(sent: str) -> LearningMode:
    """Return the mode of learning; off for what is none, which no form of ours sends."""
    return LearningMode(sent) if sent in set(LearningMode) else LearningMode.OFF


def _move(filters: list[str], action: str, place: int) -> None:
    name = filters.pop(place)
    if action == "up":
        filters.insert(max(0, place - 1), name)
    elif action == "down":
        filters.insert(place + 1, name)
    elif action != "remove":
        filters.insert(place, name)

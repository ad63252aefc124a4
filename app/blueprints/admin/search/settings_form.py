"""The form of the search settings, and its buttons that change the list of filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import changes_since, shown_settings
from app.domain.catalogue.product_rules import split_terms
from app.domain.search.serving.plan import LearningMode
from app.domain.search.settings import MOST_FILTERS, SearchSettings, cleaned_words, stored_form


@dataclass(frozen=True, slots=True)
class SearchSettingsForm:
    """The form of the search settings. `shown` are those with which it was opened, as JSON."""

    settings: SearchSettings
    chosen: str = ""
    shown: str = ""

    @classmethod
    def of(cls, stored: SearchSettings) -> SearchSettingsForm:
        return cls(stored, shown=shown_settings(stored_form(stored)))

    @classmethod
    def typed(cls, sent: MultiDict[str, str], stored: SearchSettings) -> SearchSettingsForm:
        """Return what was typed. A browser leaves out unchecked boxes and an empty list of filters; any other field
        that was not sent, such as by a program or a form of an earlier version, keeps its stored value."""
        settings = SearchSettings(
            content_search="contentSearch" in sent,
            tracking="tracking" in sent,
            click_tracking="clickTracking" in sent,
            filters=tuple(dict.fromkeys(sent.getlist("filter")))[: MOST_FILTERS * 2],
            stop_words=_words(sent.get("stopWords"), stored.stop_words),
            hold_golden="holdGolden" in sent,
            suggestions=_is_on(sent.getlist("suggestions"), stored.suggestions),
            blocked_words=_words(sent.get("blockedWords"), stored.blocked_words),
            by_meaning=_is_on(sent.getlist("byMeaning"), stored.by_meaning),
            learning=_mode(sent.get("learning"), stored.learning),
        )
        return cls(settings, sent.get("addFilter", ""), sent.get("shown", ""))

    def changes(self) -> dict[str, object]:
        """Return the settings that were changed in the form, in their stored form."""
        return changes_since(self.shown, stored_form(self.settings))

    def after(self, intent: str) -> SearchSettingsForm:
        """Return the form after a button of the filters: `add`, `remove:2`, `up:2` or `down:2`."""
        action, _, number = intent.partition(":")
        filters = list(self.settings.filters)
        place = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else -1
        if action == "add" and self.chosen and self.chosen not in filters:
            filters.append(self.chosen)
        elif 0 <= place < len(filters):
            _move(filters, action, place)
        return SearchSettingsForm(replace(self.settings, filters=tuple(filters)), shown=self.shown)


def _words(sent: str | None, stored: tuple[str, ...]) -> tuple[str, ...]:
    return stored if sent is None else cleaned_words(split_terms(sent))


def _is_on(sent: Sequence[str], stored: bool) -> bool:
    """Whether a box is checked; the form sends `off` beside it, so that a form without the box keeps what is stored."""
    return list(sent) != ["off"] if sent else stored


def _mode(sent: str | None, stored: LearningMode) -> LearningMode:
    """Return the mode of learning; the stored one where the sent one is unknown, which no form of the shop sends."""
    return LearningMode(sent) if sent in set(LearningMode) else stored


def _move(filters: list[str], action: str, place: int) -> None:
    name = filters.pop(place)
    if action == "up":
        filters.insert(max(0, place - 1), name)
    elif action == "down":
        filters.insert(place + 1, name)
    elif action != "remove":
        filters.insert(place, name)

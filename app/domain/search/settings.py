"""The settings of search: what is searched and counted, the filters beside results, and ranking."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from app.domain.merchandising.facets import LABELS
from app.domain.search import ranking_settings
from app.domain.search.events import LearningChanged
from app.domain.search.serving import configuration
from app.domain.search.serving.plan import LearningMode
from app.domain.search.text import tokens
from app.domain.search.understanding.parts import UnderstandingMode
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem
from app.domain.sites import activity
from app.domain.sites.setting_keys import SEARCH, SettingsPage
from app.domain.sites.settings import change_settings, settings_of
from app.domain.taxonomy.choices import distinct_names
from app.domain.taxonomy.taxonomies import active_tree
from app.events import publish

CONTENT = "search-content-enabled"
TRACKING = "search-term-tracking-enabled"
CLICKS = "search-click-tracking-enabled"
FILTERS = "search-default-filters"
STOP_WORDS = "search-stop-words"
HOLD = "search-golden-hold"
BY_MEANING = "search-by-meaning"
SUGGESTIONS = "search-suggestions-enabled"
BLOCKED = "search-suggestions-blocked"
LEARNING = "search-learning"
UNDERSTANDING = "search-understanding"
MOST_FILTERS = 20
MOST_STOP_WORDS = 100
LONGEST_STOP_WORD = 50
MOST_BLOCKED = 500
LONGEST_BLOCKED = 50
# The settings on which the results of a search depend.
SERVED = {STOP_WORDS, BY_MEANING, LEARNING, UNDERSTANDING, *ranking_settings.TITLES}


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A filter that a site can show beside results. `id` is a built-in name or an attribute id; `source` says which."""

    id: str
    label: str
    source: str


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The search settings of a site, but for ranking. `filters` are in the order in which shoppers see them. Counting
    clicks needs counting searches. Results may lack the `stop_words`; `hold_golden` blocks a rebuild that breaks a
    golden search. `suggestions` are made as shoppers type; no search with one of the `blocked_words` is among them.
    `by_meaning` lets search rank by meaning too, where there is a sentence model. `learning` needs counted clicks.
    `understanding` makes filters of prices, sizes, values and brands among the words."""

    content_search: bool
    tracking: bool
    click_tracking: bool
    filters: tuple[str, ...]
    stop_words: tuple[str, ...] = ()
    hold_golden: bool = False
    suggestions: bool = True
    by_meaning: bool = True
    blocked_words: tuple[str, ...] = ()
    learning: LearningMode = LearningMode.OFF
    understanding: UnderstandingMode = UnderstandingMode.SUGGESTED


PAGE = SettingsPage(SEARCH, SearchSettings)
TITLES = PAGE.titles | ranking_settings.TITLES


@dataclass(frozen=True, slots=True)
class SavedSettings:
    """The outcome of saving settings. `changed` has the titles of those that got another value."""

    changed: tuple[str, ...]
    content_search_came_on: bool


def stored_settings(site_id: int) -> SearchSettings:
    return PAGE.read(settings_of(site_id))


def filter_choices(site_id: int) -> dict[str, FilterChoice]:
    """Return everything that can be a filter, by id: what every product has, then the attributes of the active
    taxonomy."""
    taxonomy = active_tree(site_id)
    labels = {id: definitions[0].label for id, definitions in taxonomy.attributes_by_id().items()}
    named = distinct_names(taxonomy, labels | LABELS)
    attributes = {id: FilterChoice(id, named[id], "taxonomy") for id in labels if id not in LABELS}
    built_in = {name: FilterChoice(name, label, "every product") for name, label in LABELS.items()}
    return built_in | dict(sorted(attributes.items(), key=lambda item: item[1].label.casefold()))


def change_ranking(author: Author, values: Mapping[str, object]) -> SavedSettings:
    """Save some of the ranking settings, in their stored form."""
    return _store(author, values)


def _check(site_id: int, wanted: SearchSettings) -> None:
    known = filter_choices(site_id).keys() | set(stored_settings(site_id).filters)
    problems = [
        *filter_problems(wanted.filters, known),
        *stop_word_problems(wanted.stop_words),
        *blocked_word_problems(wanted.blocked_words),
    ]
    if problems:
        raise Invalid(problems)


def _store(author: Author, values: Mapping[str, object]) -> SavedSettings:
    changed = change_settings(author.site_id, values)
    if changed:
        activity.record(
            author,
            "settings.search",
            ("settings", "search"),
            f"Changed {' and '.join(TITLES[key] for key in changed)}",
            {key: old for key, (old, _) in changed.items()},
            {key: new for key, (_, new) in changed.items()},
        )
    follow(author.site_id, changed)
    came_on = CONTENT in changed and changed[CONTENT][1] is True
    return SavedSettings(tuple(TITLES[key] for key in changed), came_on)


def follow(site_id: int, changed: Collection[str]) -> None:
    """Have search follow settings that were changed, by their keys, in the transaction that stored them."""
    if not SERVED.isdisjoint(changed):
        configuration.raise_version(site_id)
    if LEARNING in changed:
        publish(LearningChanged(site_id))


def change(author: Author, values: Mapping[str, object]) -> SavedSettings:
    """Save some of the settings, in their stored form. A filter whose attribute the taxonomy has lost may stay, but
    cannot be added. Raises Invalid with every problem."""
    _check(author.site_id, PAGE.read(settings_of(author.site_id) | dict(values)))
    return _store(author, values)


def cleaned_words(texts: Sequence[str]) -> tuple[str, ...]:
    """Return words trimmed, without empty ones and without those that differ only in case or accents from an earlier
    one."""
    kept: dict[str, str] = {}
    for text in filter(None, map(str.strip, texts)):
        kept.setdefault(" ".join(tokens(text)) or text, text)
    return tuple(kept.values())


def stop_word_problems(words: Sequence[str]) -> list[Problem]:
    problems = [
        Problem("stop_word_not_one", f"“{word[:60]}” is not one word of letters or digits.", "#/stopWords")
        for word in words
        if len(tokens(word)) != 1 or len(word) > LONGEST_STOP_WORD
    ]
    if len(words) > MOST_STOP_WORDS:
        message = f"At most {MOST_STOP_WORDS} words may be missing; these are {len(words)}."
        problems.append(Problem("too_many_stop_words", message, "#/stopWords"))
    return problems


def blocked_word_problems(words: Sequence[str]) -> list[Problem]:
    problems = [
        Problem(
            "blocked_word_invalid",
            f"“{word[:60]}” must have a letter or digit and at most {LONGEST_BLOCKED} characters.",
            "#/blockedWords",
        )
        for word in words
        if not tokens(word) or len(word) > LONGEST_BLOCKED
    ]
    if len(words) > MOST_BLOCKED:
        message = f"At most {MOST_BLOCKED} words may be blocked; these are {len(words)}."
        problems.append(Problem("too_many_blocked_words", message, "#/blockedWords"))
    return problems


def filter_problems(filters: Sequence[str], known: set[str]) -> list[Problem]:
    problems = [
        Problem("unknown_filter", f"There is no filter “{name[:60]}”.", "#/filter")
        for name in dict.fromkeys(filters)
        if name not in known
    ]
    if len(set(filters)) < len(filters):
        problems.append(Problem("duplicate_filter", "A filter is chosen twice.", "#/filter"))
    if len(filters) > MOST_FILTERS:
        problems.append(Problem("too_many_filters", f"At most {MOST_FILTERS} filters can be shown.", "#/filter"))
    return problems

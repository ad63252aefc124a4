"""Adds up events: what a batch of them changes about the daily counts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import date

from app.domain.search.counting.events import Event, Kind
from app.domain.search.counting.windows import SUMMED, WordChange

# Different words that are kept of a site's day. Nobody reads more, and bots invent them without end.
MOST_WORDS = 5_000
REST = ""  # Stands for all words that came after the day was full.
FOLLOWING = ("clicked", "added_to_basket", "ordered")

DayWord = tuple[date, str]


def tally(events: Iterable[Event]) -> list[WordChange]:
    """One change for each word and day, in the order in which they came up."""
    changes: dict[DayWord, WordChange] = {}
    for event in events:
        key = (event.day, event.word)
        changes[key] = joined(changes[key], _change(event)) if key in changes else _change(event)
    return list(changes.values())


def within_bounds(
    changes: Iterable[WordChange], words: Mapping[date, int], stored: Collection[DayWord]
) -> tuple[list[WordChange], Counter[date]]:
    """The changes with those words that no longer fit made REST, and how many words came new to each day. `words` is
    how many a day has, `stored` which of these words are among them."""
    kept: dict[DayWord, WordChange] = {}
    new: Counter[date] = Counter()
    for change in changes:
        if change.word != REST and (change.day, change.word) not in stored:
            if words.get(change.day, 0) + new[change.day] < MOST_WORDS:
                new[change.day] += 1
            else:
                change = replace(change, word=REST)
        key = (change.day, change.word)
        kept[key] = joined(kept[key], change) if key in kept else change
    return list(kept.values()), new


def believable(change: WordChange, before: WordChange | None) -> WordChange:
    """Without clicks, baskets and orders that are more than the word has searches to follow on its day, which `before`
    gives as it is stored: a shopper's browser that sends an old trail again and again makes nothing of it. A search is
    noted before it is answered, and so before what follows from it; only of another machine's it may come later."""
    followed = change.followed + (before.followed if before else 0)
    return replace(
        change,
        **{
            name: max(0, min(getattr(change, name), followed - (getattr(before, name) if before else 0)))
            for name in FOLLOWING
        },
    )


def joined(first: WordChange, second: WordChange) -> WordChange:
    """Two changes of one word and day as one; what was found last is what the later search found."""
    both = first.searches and second.searches
    later = second if (second.last_at >= first.last_at if both else second.searches) else first
    sums = {name: getattr(first, name) + getattr(second, name) for name in SUMMED}
    return replace(later, **sums)


def _change(event: Event) -> WordChange:
    if event.kind is Kind.SEARCHED:
        return WordChange(
            event.day,
            event.word,
            event.at,
            event.found,
            searches=1,
            found_nothing=int(event.found == 0),
            followed=int(event.followed),
            ruled=int(event.ruled),
        )
    return WordChange(
        event.day,
        event.word,
        event.at,
        clicked=int(event.kind is Kind.CLICKED),
        added_to_basket=int(event.kind is Kind.ADDED),
        ordered=int(event.kind is Kind.ORDERED),
        revenue=event.revenue,
    )

"""What of a search may be stored. Queries are normalised, and those that must not be stored are dropped; what a shopper
does counts once, and what too few visits share is not stored. Pure.

A network counts once a day for a search and what it leads to. A click that decides between two rankings loses its words
and is gathered in memory into a group of FEWEST_VISITS of its comparison and day, whose wins pass together. How often a
product was opened or bought from a search, and how often one search was rephrased as another, is gathered in memory for
a week: only when FEWEST_VISITS different visits share it does an event pass that stands for all of them, and from then
on each further one passes. What is gathered below that is forgotten with its week. The memory is never written to a
disk (contracts: what is stored about searches).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from urllib.parse import unquote

from app.domain.search import text
from app.domain.search.serving.rules import normalized_term
from app.domain.search.text import SINGULARS
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.verdicts import Wins
from app.domain.shared.card_numbers import LONGEST_CARD, UNSEEN, hides_card, plain_digits
from app.domain.shared.memory import WEEK, RunningCount, SharedMemory, Span, week_of
from app.domain.shared.text import UNPRINTABLE, fold

LONGEST_WORD = 100
# What looks like an email address is dropped, also where it is only part of the words.
_EMAIL = re.compile(r"\S@\S|\w\s*@\s*\w|@\s*[\w-]+\s*\.\s*\w")
# Digits are one number whatever stands between them, as long as it is neither a letter nor a digit.
_DIGITS = re.compile(r"\+?[0-9]+")
_NUMBER = re.compile(r"\+?[0-9](?:[\W_]*[0-9]){6,}")
_MOST_ENCODED = 3  # Times that words are percent-decoded, as in a link that was quoted within another.
_SHORTEST_WRITTEN, _SHORTEST_CODED, _SHORTEST_BARE, _LONGEST_BARE, _LONGEST_PHONE = 8, 9, 10, 12, 15
FEWEST_VISITS = 5
WORDS_A_DAY = 100  # Of one network, that count for popular searches, and
# so that it does not take up what a shop counts.
MOST_A_DAY = {EventKind.OPENED: 200, EventKind.BOUGHT: 200, EventKind.REPHRASED: 50, EventKind.COMPARED: 20}


def countable(words: str) -> str | None:
    """Return the query as it is counted: NFKC, case folded, trimmed, spaces collapsed, the form of a rule's term. None
    for what is not stored: without letter or digit, over 100 characters, with control characters, and what looks like
    an email address, a phone or a card number, also percent-encoded (`user%40example.com`) (contracts: Analytics
    counting)."""
    if UNPRINTABLE.search(words.strip()):
        return None
    word = normalized_term(words)
    has_letters_or_digits = any(map(str.isalnum, UNSEEN.sub("", word)))
    if not has_letters_or_digits or len(word) > LONGEST_WORD or UNPRINTABLE.search(word):
        return None
    return None if any(map(_is_personal, _readings(word))) else word


def _readings(word: str) -> Iterator[str]:
    """Yield the words as they are, and percent-decoded."""
    yield UNSEEN.sub("", word)
    for _ in range(_MOST_ENCODED):
        decoded = normalized_term(unquote(word))
        if decoded == word:
            return
        word = decoded
        yield UNSEEN.sub("", word)


def _is_personal(word: str) -> bool:
    if _EMAIL.search(word):
        return True
    found = [run.group() for run in _NUMBER.finditer(plain_digits(word))]
    return any(map(_hides_card, found)) or any(map(_is_phone, _numbers(found)))


def _hides_card(run: str) -> bool:
    """Whether the run hides a card number, in any place of the run, whatever stands before or behind: another card, or
    an expiry date. A row of digits longer than a card's counts as hiding one, since it may be several numbers."""
    return hides_card("".join(filter(str.isdigit, run))) or max(map(len, _DIGITS.findall(run))) > LONGEST_CARD


def _numbers(runs: Iterable[str]) -> Iterator[str]:
    """Yield every sequence of adjacent groups of digits, so that nothing before or behind a number hides it."""
    for run in runs:
        groups = list(_DIGITS.finditer(run))
        for first, start in enumerate(groups):
            for last in groups[first:]:
                yield run[start.start() : last.end()]


def _is_phone(number: str) -> bool:
    """Whether a number is that of a phone. Numbers of phones begin with + or 0, are written in groups or have 10 to 12
    digits. That some codes of products look the same costs a count; a kept phone number would cost more."""
    digits = "".join(filter(str.isdigit, number))
    if len(digits) > _LONGEST_PHONE:
        return False
    if number.startswith("+"):
        return len(digits) >= _SHORTEST_WRITTEN
    if number.startswith("0"):
        return len(digits) >= _SHORTEST_CODED
    bare = number == digits
    return len(digits) >= _SHORTEST_BARE and (not bare or len(digits) <= _LONGEST_BARE)


class PhraseMatcher:
    """Predicate over counted words: contains the words of any of `phrases` side by side, in singular or plural."""

    def __init__(self, phrases: Iterable[str]) -> None:
        stems = {tuple(text.words(phrase)) for phrase in phrases} - {()}
        self._runs = tuple(sorted(f" {' '.join(run)} " for run in stems))
        self._hints = tuple(sorted({hint for run in stems for hint in _hints(run[0])}))

    def __call__(self, word: str) -> bool:
        folded = fold(word)
        if not any(hint in folded for hint in self._hints):  # Most words end here, before they are cut up.
            return False
        line = f" {' '.join(text.words(word))} "
        return any(run in line for run in self._runs)


def _hints(stem: str) -> Iterator[str]:
    """Yield texts of which every form of a word has one: what its regular forms begin with, and its other plurals."""
    yield stem.removesuffix("y")
    yield from (plural for plural, singular in SINGULARS.items() if singular == stem and not plural.startswith(stem))


def gather(memory: SharedMemory, now: datetime, event: Event, network: str | None) -> Event | None:
    """Return the event as it may be stored, or None. `network` is None where every request is a shopper of its own,
    as behind a proxy that hides their addresses."""
    if event.kind is EventKind.SEARCHED:
        is_new = _is_first_of_network(memory, now, event, network, WORDS_A_DAY)
        return replace(event, of_new_network=is_new)
    if event.kind.is_of_word:
        return event
    if not _is_first_of_network(memory, now, event, network, MOST_A_DAY[event.kind]):
        return None
    if event.kind is EventKind.COMPARED:
        return _whole_group(memory, now, event, network)
    return _count_for_week(memory, now, event)


def _is_first_of_network(memory: SharedMemory, now: datetime, event: Event, network: str | None, most: int) -> bool:
    """Whether the network does this for the first time on the event's day, and within its `most` of a day. The latter
    is checked first, so that nothing is remembered beyond it."""
    if network is None:
        return True
    span, of_day = Span(event.day), f"{event.kind}\0{event.site_id}\0{network}"
    all_ = memory.add(span, of_day, now)
    if all_ is None or all_.count > most:
        return False
    same = memory.add(span, f"{of_day}\0{_subject(event)}", now)
    return same is not None and same.count == 1


def _count_for_week(memory: SharedMemory, now: datetime, event: Event) -> Event | None:
    week = week_of(event.day)
    counted = memory.add(Span(week, WEEK), f"{event.kind}\0{event.site_id}\0{_subject(event)}", now, event.weight)
    if counted is None or counted.count < FEWEST_VISITS:
        return None
    if counted.count == FEWEST_VISITS:
        event = replace(event, visits=counted.count, weight=counted.weight)
    return replace(event, day=week, all_visits=counted.count, all_weight=counted.weight)


def _whole_group(memory: SharedMemory, now: datetime, event: Event, network: str | None) -> Event | None:
    """Put a click of a comparison into a group of its day, and return the group before, once that is whole, with the
    first click of the next one: so no group passes beside a click of its own. A network is in a group once, since its
    first clicks of a day are in other groups than its second ones. What is left of a day is dropped, whoever won."""
    span, of_day = Span(event.day), f"groups\0{event.site_id}\0{event.comparison_id}"
    turn = RunningCount(1) if network is None else memory.add(span, f"{of_day}\0{network}", now)
    place = memory.add(span, f"{of_day}\0\0{turn.count}", now) if turn is not None else None
    if turn is None or place is None:
        return None
    group, members = divmod(place.count - 1, FEWEST_VISITS)
    groups = f"{of_day}\0\0{turn.count}"
    memory.add(span, f"{groups}\0{group}", now, Wins.of(event.side).as_number)
    if members or not group:
        return None
    before = memory.add(span, f"{groups}\0{group - 1}", now)
    if before is None or before.count != FEWEST_VISITS + 1:  # The reading counts as well. A click is missing.
        return None
    return replace(event, word="", side=None, visits=FEWEST_VISITS, weight=before.weight)


def _subject(event: Event) -> str:
    return f"{event.word}\0{event.next_word}\0{event.product_id}"

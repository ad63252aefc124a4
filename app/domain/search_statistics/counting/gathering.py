"""Which events may be stored: what a shopper does counts once, and what too few visits share is not stored.

A network counts once a day for a search and what it leads to. How often a product was opened or bought from a search,
and how often one search was rephrased as another, is gathered in memory for a week: only when FEWEST_VISITS different
visits share it does an event pass that stands for all of them, and from then on each further one passes. What is
gathered below that is forgotten with its week. The memory is never written to a disk (contracts: what is stored about
searches).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.shared.counting_memory import WEEK, CountingMemory, Span, week_of

FEWEST_VISITS = 5
WORDS_A_DAY = 100  # Of one network, that count for popular searches, and
# so that it does not take up what a shop counts.
MOST_A_DAY = {EventKind.OPENED: 200, EventKind.BOUGHT: 200, EventKind.REPHRASED: 50}


def gather(memory: CountingMemory, now: datetime, event: Event, network: str | None) -> Event | None:
    """Return the event as it may be stored, or None. `network` is None where every request is a shopper of its own,
    as behind a proxy that hides their addresses."""
    if event.kind is EventKind.SEARCHED:
        is_new = _is_first_of_network(memory, now, event, network, WORDS_A_DAY)
        return replace(event, of_new_network=is_new)
    if not event.kind.is_shared:
        return event
    if not _is_first_of_network(memory, now, event, network, MOST_A_DAY[event.kind]):
        return None
    return _shared(memory, now, event)


def _is_first_of_network(memory: CountingMemory, now: datetime, event: Event, network: str | None, most: int) -> bool:
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


def _shared(memory: CountingMemory, now: datetime, event: Event) -> Event | None:
    week = week_of(event.day)
    counted = memory.add(Span(week, WEEK), f"{event.kind}\0{event.site_id}\0{_subject(event)}", now, event.weight)
    if counted is None or counted.count < FEWEST_VISITS:
        return None
    if counted.count == FEWEST_VISITS:
        event = replace(event, visits=counted.count, weight=counted.weight)
    return replace(event, day=week, all_visits=counted.count, all_weight=counted.weight)


def _subject(event: Event) -> str:
    return f"{event.word}\0{event.next_word}\0{event.product_id}"

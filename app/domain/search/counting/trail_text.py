"""A trail as a short text, for a cookie."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

from app.domain.search.counting.trail import Search, Trail

LONGEST = 2_100  # Bytes; signed and written in base 64 that stays below 3 kB.


def to_text(trail: Trail) -> bytes:
    """At most LONGEST bytes: what older searches showed goes first, then the oldest searches themselves."""
    searches = [_row(search) for search in trail.searches]
    for place in [*range(len(searches) - 1), None]:
        text = _text(trail, searches)
        if len(text) <= LONGEST:
            return text
        if place is not None:
            searches[place][4] = []
    while searches and len(text := _text(trail, searches)) > LONGEST:
        searches.pop(0)
    return _text(trail, searches)


def from_text(text: bytes) -> Trail:
    """An empty trail where the text is none of ours."""
    try:
        begun, seen, rows = json.loads(text)
        return Trail(tuple(_search(row) for row in rows), _moment(begun), _moment(seen))
    except (TypeError, ValueError, OverflowError, OSError, RecursionError):
        return Trail()


def _row(search: Search) -> list[Any]:
    flags = search.followed + 2 * search.clicked + 4 * search.added
    when = [_number(search.at), search.day.toordinal()]
    return [search.word, *when, flags, list(search.shown), list(search.opened), list(search.basket)]


def _search(row: Any) -> Search:
    word, at, day, flags, shown, opened, basket = row
    return Search(
        word=str(word),
        at=datetime.fromtimestamp(at, UTC),
        day=date.fromordinal(day),
        followed=bool(flags & 1),
        clicked=bool(flags & 2),
        added=bool(flags & 4),
        shown=tuple(map(int, shown)),
        opened=tuple(map(int, opened)),
        basket=tuple(map(int, basket)),
    )


def _text(trail: Trail, rows: list[list[Any]]) -> bytes:
    whole = [_number(trail.begun), _number(trail.seen), rows]
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def _number(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())


def _moment(number: int | None) -> datetime | None:
    return None if number is None else datetime.fromtimestamp(number, UTC)

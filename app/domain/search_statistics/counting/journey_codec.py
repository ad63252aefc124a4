"""Encode a journey compactly, for a cookie. Pure.

Numbers are LEB128 varints; the sorted ids that a page showed are delta encoded, so that six pages of 100 products fit,
and the first of them in their order are places among the sorted ones, a byte each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import accumulate

from app.domain.search_statistics.counting.attribution import (
    HASH_BYTES,
    MOST_COUNTED,
    MOST_SEARCHES,
    MOST_SHOWN,
    Journey,
    Search,
)

LONGEST = 2_100  # Bytes; signed and written in base 64 that stays below 3 kB.
VERSION = 3  # Version of the encoding, its first byte.
BEFORE_PLACES = 2  # The version before places were encoded; browsers keep such journeys for a day.
UNPLACED = 16  # The flag of a search whose `leading` is None.
MOST_BITS = 63


def to_text(journey: Journey) -> bytes:
    """Encode a journey in at most LONGEST bytes. Drops what older searches showed, then the oldest searches
    themselves."""
    head, searches = _head(journey), list(journey.searches)
    rows = [_row(search) for search in searches]
    room = LONGEST - len(head)
    for place in range(len(rows) - 1):
        if sum(map(len, rows)) <= room:
            break
        rows[place] = _row(replace(searches[place], shown=(), leading=()))
    while rows and sum(map(len, rows)) > room:
        rows.pop(0)
    return b"".join((head, *rows))


def from_text(text: bytes) -> Journey:
    """Decode a journey; return an empty one for invalid bytes."""
    try:
        return _journey(_JourneyReader(text))
    except (ValueError, OverflowError, OSError):
        return Journey()


class _JourneyReader:
    """Reads an encoded journey from its beginning. Raises ValueError where the bytes end too early or are invalid."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def is_done(self) -> bool:
        return self._place >= len(self._data)

    def take(self, size: int) -> bytes:
        part = self._data[self._place : self._place + size]
        if len(part) < size:
            raise ValueError("the text is cut off")
        self._place += size
        return part

    def number(self) -> int:
        value = 0
        for shift in range(0, MOST_BITS, 7):
            (byte,) = self.take(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("the number is too large")

    def numbers(self) -> tuple[int, ...]:
        many = self.number()
        if many > MOST_SHOWN:
            raise ValueError("there are too many numbers")
        return tuple(self.number() for _ in range(many))


def _journey(reader: _JourneyReader) -> Journey:
    version = reader.number()
    if version not in (BEFORE_PLACES, VERSION):
        raise ValueError("another version")
    begun, seen, many = _moment(reader.number()), _moment(reader.number()), reader.number()
    counted = tuple(reader.take(HASH_BYTES) for _ in range(min(many, MOST_COUNTED)))
    searches = tuple(_searches(reader, has_places=version == VERSION))
    return Journey(searches[-MOST_SEARCHES:], counted, begun, seen)


def _searches(reader: _JourneyReader, has_places: bool) -> Iterator[Search]:
    while not reader.is_done():
        word = reader.take(reader.number()).decode()
        at, day, flags = reader.number(), reader.number(), reader.number()
        shown, opened, basket = tuple(accumulate(reader.numbers())), reader.numbers(), reader.numbers()
        places = reader.numbers() if has_places else ()
        is_placed = has_places and not flags & UNPLACED
        if any(place >= len(shown) for place in places):
            raise ValueError("a place names nothing")
        yield Search(
            word=word,
            at=datetime.fromtimestamp(at, UTC),
            day=date.fromordinal(day),
            followed=bool(flags & 1),
            clicked=bool(flags & 2),
            added=bool(flags & 4),
            answered=bool(flags & 8),
            shown=shown,
            opened=opened,
            basket=basket,
            leading=tuple(shown[place] for place in places) if is_placed else None,
        )


def _head(journey: Journey) -> bytes:
    # 0, which is no time of a visit, stands for None.
    times = (0 if moment is None else int(moment.timestamp()) for moment in (journey.begun, journey.seen))
    return b"".join((_varint(VERSION), *map(_varint, times), _varint(len(journey.counted)), *journey.counted))


def _row(search: Search) -> bytes:
    word = search.word.encode()
    flags = search.followed + 2 * search.clicked + 4 * search.added + 8 * search.answered
    flags += UNPLACED * (search.leading is None)
    when = [int(search.at.timestamp()), search.day.toordinal(), flags]
    steps = [later - earlier for earlier, later in zip((0, *search.shown), search.shown, strict=False)]
    among = {product_id: place for place, product_id in enumerate(search.shown)}
    lists = (steps, search.opened, search.basket, [among[product_id] for product_id in search.leading or ()])
    return b"".join((_varint(len(word)), word, *map(_varint, when), *map(_list, lists)))


def _list(numbers: Sequence[int]) -> bytes:
    return _varint(len(numbers)) + b"".join(map(_varint, numbers))


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _moment(number: int) -> datetime | None:
    return None if number == 0 else datetime.fromtimestamp(number, UTC)

"""A trail as few bytes, for a cookie.

Numbers are written as LEB128 does, seven bits to a byte; of what a page showed, which is in the order of numbers, each
by how much it is more than the one before, so that six pages of 100 products have room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import accumulate

from app.domain.search.counting.trail import HASH_BYTES, MOST_COUNTED, MOST_SEARCHES, MOST_SHOWN, Search, Trail

LONGEST = 2_100  # Bytes; signed and written in base 64 that stays below 3 kB.
FORM = 2  # The first byte; what older versions wrote begins with another.
MOST_BITS = 63


def to_text(trail: Trail) -> bytes:
    """At most LONGEST bytes: what older searches showed goes first, then the oldest searches themselves."""
    head, searches = _head(trail), list(trail.searches)
    rows = [_row(search) for search in searches]
    for place in range(len(rows) - 1):
        if _size(head, rows) <= LONGEST:
            break
        rows[place] = _row(replace(searches[place], shown=()))
    while rows and _size(head, rows) > LONGEST:
        rows.pop(0)
    return b"".join((head, *rows))


def from_text(text: bytes) -> Trail:
    """An empty trail where the text is none of ours."""
    try:
        return _trail(_Reader(text))
    except (ValueError, OverflowError, OSError):
        return Trail()


class _Reader:
    """Raises ValueError where the bytes end too early or say what cannot be."""

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


def _trail(reader: _Reader) -> Trail:
    if reader.number() != FORM:
        raise ValueError("this is of another version")
    begun, seen, many = _moment(reader.number()), _moment(reader.number()), reader.number()
    counted = tuple(reader.take(HASH_BYTES) for _ in range(min(many, MOST_COUNTED)))
    searches = tuple(_searches(reader))
    return Trail(searches[-MOST_SEARCHES:], counted, begun, seen)


def _searches(reader: _Reader) -> Iterator[Search]:
    while not reader.is_done():
        word = reader.take(reader.number()).decode()
        at, day, flags = reader.number(), reader.number(), reader.number()
        yield Search(
            word=word,
            at=datetime.fromtimestamp(at, UTC),
            day=date.fromordinal(day),
            followed=bool(flags & 1),
            clicked=bool(flags & 2),
            added=bool(flags & 4),
            shown=tuple(accumulate(reader.numbers())),
            opened=reader.numbers(),
            basket=reader.numbers(),
        )


def _head(trail: Trail) -> bytes:
    when = (_number(moment) for moment in (trail.begun, trail.seen))
    return b"".join((_bytes(FORM), *map(_bytes, when), _bytes(len(trail.counted)), *trail.counted))


def _row(search: Search) -> bytes:
    word = search.word.encode()
    flags = search.followed + 2 * search.clicked + 4 * search.added
    when = [int(search.at.timestamp()), search.day.toordinal(), flags]
    steps = [later - earlier for earlier, later in zip((0, *search.shown), search.shown, strict=False)]
    return b"".join((_bytes(len(word)), word, *map(_bytes, when), *map(_list, (steps, search.opened, search.basket))))


def _list(numbers: Sequence[int]) -> bytes:
    return _bytes(len(numbers)) + b"".join(map(_bytes, numbers))


def _bytes(number: int) -> bytes:
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _size(head: bytes, rows: Iterable[bytes]) -> int:
    return len(head) + sum(map(len, rows))


def _number(moment: datetime | None) -> int:
    """0 stands for none: no shop was open in 1970."""
    return 0 if moment is None else int(moment.timestamp())


def _moment(number: int) -> datetime | None:
    return None if number == 0 else datetime.fromtimestamp(number, UTC)

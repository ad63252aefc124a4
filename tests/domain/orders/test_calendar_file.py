"""A calendar file reads back as what was written, whatever the words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from app.domain.orders.calendar_file import LONGEST_LINE, CollectionEntry, calendar_file

ENTRY = CollectionEntry(
    uid="order-7@fern.test",
    revision=3,
    stamp=datetime(2026, 11, 28, 21, 4, 5, tzinfo=UTC),
    day=date(2026, 12, 31),
    summary="Collect order 7",
    description="Monday: 9 to 5\nYour order: https://fern.test/order/a",
    place="Fern & Co, 1 High Street",
    url="https://fern.test/order/a",
)


def read(file: str) -> dict[str, str]:
    """The properties of a file, unfolded and without escapes."""
    lines = file.replace("\r\n ", "").split("\r\n")
    pairs = [line.partition(":") for line in lines if line]
    return {name: _plain(value) for name, _, value in pairs}


def _plain(value: str) -> str:
    marks = {"\\\\": "\0", "\\n": "\n", "\\,": ",", "\\;": ";"}
    for escaped, plain in marks.items():
        value = value.replace(escaped, plain)
    return value.replace("\0", "\\")


def test_the_entry_is_of_a_whole_day_that_stays_free() -> None:
    fields = read(calendar_file(ENTRY))
    assert fields["DTSTART;VALUE=DATE"] == "20261231" and fields["DTEND;VALUE=DATE"] == "20270101"
    assert fields["DTSTAMP"] == "20261128T210405Z" and fields["TRANSP"] == "TRANSPARENT"
    assert (fields["UID"], fields["SEQUENCE"]) == ("order-7@fern.test", "3")
    assert fields["DESCRIPTION"] == ENTRY.description and fields["LOCATION"] == ENTRY.place


@pytest.mark.parametrize("words", ["a, b; c", "back\\slash\\n", "é" * 200, "🏕" * 90, "x" * 74, "END:VEVENT\r\nX:1"])
def test_no_words_break_a_line(words: str) -> None:
    file = calendar_file(replace(ENTRY, summary=words))
    assert all(len(line.encode()) <= LONGEST_LINE for line in file.split("\r\n"))
    assert "\n" not in file.replace("\r\n", "") and file.count("END:VEVENT\r\n") == 1
    assert read(file)["SUMMARY"] == "\n".join(words.splitlines())

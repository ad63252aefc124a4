"""A calendar file (RFC 5545) with the collection of an order. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

LONGEST_LINE = 75  # Octets, without the line break.


@dataclass(frozen=True, slots=True)
class CollectionEntry:
    """The collection of an order as a calendar shows it: a whole day, which `revision` of the order may move. `uid`
    stays the same, so that a newer file replaces the entry of an older one. `stamp` is in UTC; `url` is
    empty where no page may be named."""

    uid: str
    revision: int
    stamp: datetime
    day: date
    summary: str
    description: str
    place: str
    url: str


def calendar_file(entry: CollectionEntry) -> str:
    """Return the file as text, with the line breaks that the standard demands."""
    following = entry.day + timedelta(days=1)
    lines = (
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Shop//Orders//EN",
        "METHOD:PUBLISH",
        "BEGIN:VEVENT",
        f"UID:{_escape(entry.uid)}",
        f"SEQUENCE:{entry.revision}",
        f"DTSTAMP:{entry.stamp:%Y%m%dT%H%M%SZ}",
        f"DTSTART;VALUE=DATE:{entry.day:%Y%m%d}",
        f"DTEND;VALUE=DATE:{following:%Y%m%d}",
        f"SUMMARY:{_escape(entry.summary)}",
        f"DESCRIPTION:{_escape(entry.description)}",
        f"LOCATION:{_escape(entry.place)}",
        *([f"URL:{entry.url}"] if entry.url else []),
        "TRANSP:TRANSPARENT",  # The day stays free for other things.
        "END:VEVENT",
        "END:VCALENDAR",
    )
    return "".join(f"{part}\r\n" for line in lines for part in _fold(line))


def _escape(text: str) -> str:
    for sign in "\\;,":
        text = text.replace(sign, f"\\{sign}")
    return "\\n".join(text.splitlines())


def _fold(line: str) -> Iterator[str]:
    """Yield a line in parts of at most 75 octets; those that go on begin with a space. No character is split."""
    part, size = "", 0
    for sign in line:
        octets = len(sign.encode())
        if size + octets > LONGEST_LINE:
            yield part
            part, size = " ", 1
        part, size = part + sign, size + octets
    yield part

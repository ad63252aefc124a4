"""Numbers that people typed into forms. Problems are gathered, so that a form reports all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from werkzeug.datastructures import MultiDict

from app.domain.shared.money import LARGEST, parse_money
from app.domain.shared.problems import Invalid, Problem

Number = TypeVar("Number", int, float)
MOST_DIGITS = 9  # No id has more, and every database takes such numbers.


def sent_number(text: str) -> int | None:
    """Return the whole number of at most MOST_DIGITS digits in a text, such as an id; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


def sent_ids(sent: MultiDict[str, str], name: str) -> list[int]:
    """Return the ids of that name; texts that can be no id are left out."""
    found = (sent_number(text) for text in sent.getlist(name))
    return [number for number in found if number is not None]


def sent_revision(sent: MultiDict[str, str]) -> int:
    """Return the sent revision; 0 where none was sent."""
    return sent_number(sent.get("revision", "")) or 0


def read_money(
    problems: list[Problem], text: str, currency: str, pointer: str, required: bool = False, largest: int = LARGEST
) -> int | None:
    if not text.strip() and not required:
        return None
    try:
        return parse_money(text, currency, pointer, largest)
    except Invalid as invalid:
        problems.extend(invalid.problems)
        return None


def read_number(problems: list[Problem], kind: Callable[[str], Number], text: str, pointer: str) -> Number | None:
    """Return the number in a text, None without one. Anything but ASCII digits, with one point where `kind` is float,
    is added to `problems`."""
    typed = text.strip()
    plain = typed.replace(".", "", 1) if kind is float else typed
    if not typed:
        return None
    if plain.isascii() and plain.isdigit() and len(typed) <= 12:
        return kind(typed)
    noun = "number" if kind is float else "whole number"
    problems.append(Problem("invalid_number", f"“{typed[:40]}” is not a {noun}.", pointer))
    return None

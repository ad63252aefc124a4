"""What the forms of the admin share: errors by field, typed numbers, the differences from what is stored by now, and
what a form of settings was opened with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from werkzeug.datastructures import MultiDict

from app.domain.shared import strict_json
from app.domain.shared.money import LARGEST, parse_money
from app.domain.shared.problems import Conflict, DomainError, Invalid, Problem, StaleRevision


class FieldErrors:
    """The messages of a DomainError as templates show them; empty and false without one."""

    def __init__(self, error: DomainError | None = None) -> None:
        self.problems: tuple[Problem, ...] = error.problems if isinstance(error, Invalid) else ()
        self.conflict = error.message if isinstance(error, Conflict) else None
        self.is_stale = isinstance(error, StaleRevision)
        self._messages: dict[str, list[str]] = {}
        for problem in self.problems:
            self._messages.setdefault(problem.pointer, []).append(problem.message)

    def __bool__(self) -> bool:
        return bool(self.problems or self.conflict)

    def at(self, name: str) -> str | None:
        """Return the message of a field, given by its name or its path, such as `variants/0/sku`."""
        return " ".join(self._messages.get(f"#/{name}", ())) or None

    def within(self, name: str) -> list[str]:
        """Return the messages of a field and of everything below it."""
        starts = (f"#/{name}", f"#/{name}/")
        return [p.message for p in self.problems if p.pointer == starts[0] or p.pointer.startswith(starts[1])]

    @property
    def status(self) -> int:
        return 409 if self.conflict else 400


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


@dataclass(frozen=True, slots=True)
class Difference:
    label: str
    stored: str
    typed: str


MOST_MARKS = 5_000


def shown_settings(stored: Mapping[str, object]) -> str:
    """Return the value of the hidden field for settings in their stored form, by the key of each."""
    return json.dumps(dict(stored))


def changes_since(shown: str, wanted: Mapping[str, object]) -> dict[str, object]:
    """Return those of the wanted settings, in their stored form, that differ from what was `shown`; all of them where
    that is missing or no JSON object."""
    before = _read_shown(shown)
    return {key: value for key, value in wanted.items() if key not in before or before[key] != value}


def _read_shown(shown: str) -> Mapping[str, object]:
    try:
        found = strict_json.loads(shown, MOST_MARKS)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

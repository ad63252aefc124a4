"""Ids and days that an address, a form or a program names: read strictly, since anybody can send anything. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from re import fullmatch

from app.domain.shared.problems import Problem

LARGEST_ID = 2_147_483_647  # PostgreSQL refuses to compare a column of ids with more.


def id_in(text: str | None) -> int | None:
    """Return the id in a text, a whole number from 1 to LARGEST_ID; None for any other text."""
    number = int(text) if text and text.isascii() and text.isdigit() and len(text) < 11 else 0
    return number if 0 < number <= LARGEST_ID else None


def lookup_id(text: str | None) -> int:
    """Return the id in a text; 0, which no record has, for any other text."""
    return id_in(text) or 0


def day_in(text: str | None) -> date | None:
    """Return a day written as 2026-11-23; None for anything else, as 20261123 or 2026-W48-1."""
    if not text or not fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def reversed_days(first: date | None, last: date | None) -> Iterator[Problem]:
    """Yield the problem of a filter whose first day is after its last."""
    if first is not None and last is not None and first > last:
        yield Problem("invalid_filter", f"From {first} is after to {last}, so no day is between them.", "#/from")

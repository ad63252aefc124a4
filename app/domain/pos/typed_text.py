"""What people type about payments: never the number of a card, which the shop must not hold. Pure."""

from __future__ import annotations

from app.domain.shared.card_numbers import names_card
from app.domain.shared.problems import Problem
from app.domain.shared.text import line_problems


def note_problems(text: str, label: str, longest: int, pointer: str, required: bool = True) -> list[Problem]:
    """What is wrong with a note of one line; the problem does not repeat it."""
    problems = line_problems(text, label, longest, pointer, required)
    return problems or card_problems(text, pointer)


def card_problems(text: str, pointer: str) -> list[Problem]:
    if not names_card(text):
        return []
    return [Problem("card_number", "Leave card numbers out: they must not be stored.", pointer)]

"""Text that people type about payments: never the number of a card, which the shop must not hold. Pure."""

from __future__ import annotations

import re

from app.domain.shared.card_numbers import names_card
from app.domain.shared.problems import Problem
from app.domain.shared.text import line_problems

RANDOM_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)  # A UUID.
LONGEST_PROGRAM = 200


def note_problems(text: str, label: str, longest: int, pointer: str, required: bool = True) -> list[Problem]:
    """Return the problems of a note of one line; no problem repeats the note."""
    problems = line_problems(text, label, longest, pointer, required)
    return problems or card_problems(text, pointer)


def device_problems(device_id: str | None, device_name: str | None) -> list[Problem]:
    """Return the problems of the id and the name that a device gives itself. A random id (a UUID) is no card number,
    whatever its digits are."""
    is_random = device_id is None or RANDOM_ID.fullmatch(device_id)
    about_id = [] if is_random else card_problems(device_id or "", "#/deviceId")
    return about_id + card_problems(device_name or "", "#/deviceName")


def program_name(user_agent: str) -> str:
    """Return the user agent of a program as it is stored: cut to LONGEST_PROGRAM, and empty where it holds the number
    of a card."""
    return "" if names_card(user_agent) else user_agent[:LONGEST_PROGRAM]


def card_problems(text: str, pointer: str) -> list[Problem]:
    if not names_card(text):
        return []
    return [Problem("card_number", "Leave card numbers out: they must not be stored.", pointer)]

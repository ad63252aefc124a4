"""The contact who collects an order, as typed: pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.domain.shared.card_numbers import names_card
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import block_problems, is_unseen, line_problems, one_line

LONGEST_NAME = 100
LONGEST_EMAIL = 254
LONGEST_PHONE = 40
LONGEST_NOTE = 500
# Only what is plainly no address is refused; whether one exists shows only when a letter reaches it.
EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>.]+")
PHONE = re.compile(r"\+?[0-9 ()/.\-]*")
FEWEST_DIGITS, MOST_DIGITS = 6, 15  # ITU-T E.164 allows fifteen.


@dataclass(frozen=True, slots=True)
class Contact:
    """A customer's contact. The shop needs `email` or `phone` to say that an order is ready."""

    name: str = ""
    email: str = ""
    phone: str = ""
    note: str = ""


def clean_contact(contact: Contact) -> Contact:
    """Return the contact, trimmed. Raises Invalid with every problem."""
    tidy = Contact(
        one_line(contact.name), contact.email.strip(), one_line(contact.phone), contact.note.replace("\r", "").strip()
    )
    if problems := _problems(tidy):
        raise Invalid(problems)
    return tidy


def _problems(contact: Contact) -> list[Problem]:
    problems = [
        *line_problems(contact.name, "Your name", LONGEST_NAME, "#/name", required=True),
        *line_problems(contact.email, "The email address", LONGEST_EMAIL, "#/email"),
        *line_problems(contact.phone, "The phone number", LONGEST_PHONE, "#/phone"),
        *block_problems(contact.note, "The note", LONGEST_NOTE, "#/note"),
    ]
    if not contact.email and not contact.phone:
        problems.append(
            Problem("required", "Please give an email address or a phone number, so that we can reach you.", "#/email")
        )
    if not problems and is_unseen(contact.name):
        problems.append(Problem("required", "Your name is missing.", "#/name"))
    return problems or [
        *_email_problems(contact.email),
        *_phone_problems(contact.phone),
        *_card_problems(contact.name, "#/name"),
        *_card_problems(contact.note, "#/note"),
    ]


def _card_problems(text: str, pointer: str) -> list[Problem]:
    """Return the problem of a card number in a text. Payment is not made here, so none may be stored."""
    if not names_card(text):
        return []
    return [Problem("card_number", "Please leave card numbers out: you pay when you collect your order.", pointer)]


def _email_problems(email: str) -> list[Problem]:
    if not email or EMAIL.fullmatch(email):
        return []
    return [
        Problem("invalid_email", "This email address looks incomplete; it should be like name@example.com.", "#/email")
    ]


def _phone_problems(phone: str) -> list[Problem]:
    digits = sum(sign.isdigit() for sign in phone)
    if not phone or (PHONE.fullmatch(phone) and FEWEST_DIGITS <= digits <= MOST_DIGITS):
        return []
    return [Problem("invalid_phone", "This phone number looks incomplete; it should be like 020 7946 0000.", "#/phone")]

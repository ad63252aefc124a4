"""A basket as the shopper sees it, and the contact who ordered it: pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.domain.delivery.declaration import Delivery
from app.domain.delivery.rates import Parcel, weight_of
from app.domain.shared.card_numbers import names_card
from app.domain.shared.money import LARGEST
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import block_problems, is_unseen, line_problems, one_line

MOST_OF_ONE = 99
MOST_LINES = 50


class Availability(StrEnum):
    """Whether a line can be bought as it stands: FEWER are left than its quantity, none are (SOLD_OUT), or the shop
    does not sell it any more (GONE)."""

    GOOD = "good"
    FEWER = "fewer"
    SOLD_OUT = "sold_out"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class BasketLine:
    """A line of a basket. Prices in minor units: `price` is today's, `price_before` the one that the shopper saw last,
    where it differs. `left` is the number in stock, None where stock is not counted. `seo_name` leads to the product's
    page; where the product is gone, it is empty and `product_id` None. `attributes` are the product's, by their ids."""

    id: int
    sku: str
    name: str
    options: Mapping[str, str]
    quantity: int
    price: int
    price_before: int | None = None
    left: int | None = None
    availability: Availability = Availability.GOOD
    product_id: int | None = None
    seo_name: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def can_be_had(self) -> bool:
        return self.availability in (Availability.GOOD, Availability.FEWER)

    @property
    def total(self) -> int:
        return self.price * self.quantity if self.can_be_had else 0

    @property
    def most(self) -> int:
        """The largest quantity of the line that a shopper can order."""
        return MOST_OF_ONE if self.left is None else min(MOST_OF_ONE, self.left)

    @property
    def described(self) -> str:
        """The line's options in words, such as "Colour: Fern, Size: Large"."""
        return ", ".join(f"{name}: {value}" for name, value in self.options.items())

    @property
    def trouble(self) -> str:
        """The reason why the line cannot be bought, in words for the shopper; empty where it can."""
        if self.availability is Availability.FEWER:
            return f"Only {self.left} left: please take fewer."
        if self.availability is Availability.SOLD_OUT:
            return "Sold out since you chose it. Please remove it."
        return "This is no longer sold. Please remove it." if self.availability is Availability.GONE else ""


@dataclass(frozen=True, slots=True)
class Basket:
    """A basket. `total`, in minor units, counts only the lines that can be bought."""

    lines: tuple[BasketLine, ...] = ()

    @property
    def items(self) -> int:
        return sum(line.quantity for line in self.lines)

    @property
    def items_to_be_had(self) -> int:
        return sum(line.quantity for line in self.lines if line.can_be_had)

    @property
    def total(self) -> int:
        return sum(line.total for line in self.lines)

    @property
    def can_be_ordered(self) -> bool:
        return bool(self.lines) and all(line.availability is Availability.GOOD for line in self.lines)

    def parcel(self, delivery: Delivery) -> Parcel:
        """Return what would be delivered of the basket; its weight is LARGEST at most, which an order can hold."""
        weights = [weight_of(delivery, line.attributes) * line.quantity for line in self.lines if line.can_be_had]
        return Parcel(min(sum(weights), LARGEST), self.total)

    @property
    def seen(self) -> str:
        """A digest of the lines with their quantities and prices. The shopper's order carries it, so that a basket that
        another tab or a new price has changed meanwhile is not ordered."""
        shown = repr([(line.id, line.sku, line.quantity, line.price) for line in self.lines])
        return hashlib.sha256(shown.encode()).hexdigest()[:24]


def availability(stock: int | None, quantity: int) -> Availability:
    """Return the availability of a quantity of an offer; stock None is not counted."""
    if stock is None or stock >= quantity:
        return Availability.GOOD
    return Availability.FEWER if stock > 0 else Availability.SOLD_OUT


LONGEST_NAME = 100
LONGEST_EMAIL = 254
LONGEST_PHONE = 40
LONGEST_NOTE = 500
# Only what is plainly no address is refused; whether one exists shows only when a letter reaches it.
CONTACT_EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>.]+")
CONTACT_PHONE = re.compile(r"\+?[0-9 ()/.\-]*")
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
    tidy = tidy_contact(contact)
    if problems := contact_problems(tidy):
        raise Invalid(problems)
    return tidy


def tidy_contact(contact: Contact) -> Contact:
    return Contact(
        one_line(contact.name), contact.email.strip(), one_line(contact.phone), contact.note.replace("\r", "").strip()
    )


def contact_problems(contact: Contact) -> list[Problem]:
    """Return the problems of a contact that is tidied."""
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
    return [Problem("card_number", "Please leave card numbers out: no card is charged here.", pointer)]


def _email_problems(email: str) -> list[Problem]:
    if not email or CONTACT_EMAIL.fullmatch(email):
        return []
    return [
        Problem("invalid_email", "This email address looks incomplete; it should be like name@example.com.", "#/email")
    ]


def _phone_problems(phone: str) -> list[Problem]:
    digits = sum(sign.isdigit() for sign in phone)
    if not phone or (CONTACT_PHONE.fullmatch(phone) and FEWEST_DIGITS <= digits <= MOST_DIGITS):
        return []
    return [Problem("invalid_phone", "This phone number looks incomplete; it should be like 020 7946 0000.", "#/phone")]

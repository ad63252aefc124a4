"""Validation of a location: pure. The fields of the address are those of the processor's."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace

from app.domain.pos.processor import Address
from app.domain.pos.typed_text import note_problems
from app.domain.shared.problems import Problem
from app.domain.shared.text import one_line

COUNTRY = re.compile("[A-Z]{2}", re.ASCII)
PROCESSOR_ID = re.compile("[A-Za-z0-9_.-]{1,255}", re.ASCII)
# By field: the label, the longest text and the name in JSON.
PARTS = {
    "line1": ("The first line of the address", 200, "line1"),
    "line2": ("The second line of the address", 200, "line2"),
    "city": ("The town", 100, "city"),
    "state": ("The county or state", 100, "state"),
    "postal_code": ("The postcode", 20, "postalCode"),
}


@dataclass(frozen=True, slots=True)
class LocationFields:
    """The fields of a location that an admin sets. `processor_account_id` None is the site's own account."""

    display_name: str
    address: Address
    processor_account_id: str | None = None


def cleaned(location: LocationFields) -> LocationFields:
    address = location.address
    parts = {part.name: one_line(getattr(address, part.name)) for part in fields(address)}
    parts["country"] = parts["country"].upper()
    account = (location.processor_account_id or "").strip() or None
    return replace(
        location, display_name=one_line(location.display_name), address=Address(**parts), processor_account_id=account
    )


def location_problems(location: LocationFields) -> list[Problem]:
    problems = note_problems(location.display_name, "The name", 100, "#/displayName")
    for part, (label, longest, name) in PARTS.items():
        text, pointer = getattr(location.address, part), f"#/address/{name}"
        problems += note_problems(text, label, longest, pointer, required=False)
    if not COUNTRY.fullmatch(location.address.country):
        message = "The country is two letters, such as GB (ISO 3166-1)."
        problems.append(Problem("invalid_country", message, "#/address/country"))
    account = location.processor_account_id
    return problems if account is None else problems + id_problems(account, "The account", "#/processorAccountId")


def id_problems(processor_id: str, label: str, pointer: str) -> list[Problem]:
    """Return the problems of an id of the processor's, which becomes part of URLs."""
    if PROCESSOR_ID.fullmatch(processor_id):
        return []
    return [Problem("invalid_id", f"{label} has letters, digits, “_”, “-” and “.” alone, at most 255.", pointer)]

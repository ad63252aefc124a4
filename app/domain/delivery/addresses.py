"""The address to which an order is delivered: pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from app.domain.delivery.countries import in_sentence, name_of
from app.domain.shared.card_numbers import names_card
from app.domain.shared.problems import Problem
from app.domain.shared.text import is_unseen, line_problems, one_line

LONGEST_RECIPIENT = 100
LONGEST_LINE = 100
LONGEST_CITY = 80
LONGEST_POSTCODE = 12
# Postcodes by country, with one as an example. Elsewhere letters, digits, spaces and hyphens will do, or none.
POSTCODES: Mapping[str, tuple[str, str]] = {
    "GB": (r"GIR 0AA|[A-Z]{1,2}[0-9][A-Z0-9]? [0-9][A-Z]{2}", "SW1A 1AA"),
    "US": (r"[0-9]{5}(?:-[0-9]{4})?", "94105"),
    "CA": (r"[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]", "K1A 0B1"),
    "IE": (r"[A-Z][0-9][0-9W] ?[A-Z0-9]{4}", "D02 AF30"),
    "NL": (r"[0-9]{4} ?[A-Z]{2}", "1012 AB"),
    "PT": (r"[0-9]{4}-[0-9]{3}", "1000-205"),
    "PL": (r"[0-9]{2}-[0-9]{3}", "00-950"),
    "SE": (r"[0-9]{3} ?[0-9]{2}", "111 20"),
    "CZ": (r"[0-9]{3} ?[0-9]{2}", "110 00"),
    "SK": (r"[0-9]{3} ?[0-9]{2}", "811 01"),
    "GR": (r"[0-9]{3} ?[0-9]{2}", "104 31"),
    "JP": (r"[0-9]{3}-?[0-9]{4}", "100-0001"),
    "BR": (r"[0-9]{5}-?[0-9]{3}", "01310-100"),
    **{code: (r"[0-9]{5}", "10115") for code in ("DE", "FR", "ES", "IT", "FI", "EE", "HR", "MX", "TR", "UA", "KR")},
    **{
        code: (r"[0-9]{4}", "1010") for code in ("AT", "BE", "CH", "DK", "HU", "LU", "NO", "SI", "AU", "NZ", "ZA", "BG")
    },
}
ANY_POSTCODE = re.compile(r"[A-Z0-9](?:[A-Z0-9 -]*[A-Z0-9])?")
UNSPACED_BRITISH = re.compile(r"([A-Z0-9]{2,4})([0-9][A-Z]{2})")


@dataclass(frozen=True, slots=True)
class Address:
    """An address; `country` is its code. Everything is empty for an order that is collected."""

    recipient: str = ""
    line1: str = ""
    line2: str = ""
    city: str = ""
    postcode: str = ""
    country: str = ""

    @property
    def lines(self) -> list[str]:
        """The address as it stands on a parcel, a line each."""
        last = name_of(self.country) if self.country else ""
        return [line for line in (self.recipient, self.line1, self.line2, self.city, self.postcode, last) if line]


NO_ADDRESS = Address()


def tidy_address(address: Address) -> Address:
    """Return the address, trimmed, its postcode as the post of its country writes it."""
    country = address.country.strip().upper()
    return Address(
        one_line(address.recipient),
        one_line(address.line1),
        one_line(address.line2),
        one_line(address.city),
        _tidy_postcode(one_line(address.postcode).upper(), country),
        country,
    )


def _tidy_postcode(postcode: str, country: str) -> str:
    if country == "GB" and (found := UNSPACED_BRITISH.fullmatch(postcode.replace(" ", ""))):
        return f"{found[1]} {found[2]}"
    return postcode


def address_problems(address: Address, method: str, countries: Collection[str]) -> list[Problem]:
    """Return the problems of a tidied address, to which a method of this name delivers in these countries."""
    problems = [
        *line_problems(address.recipient, "The recipient’s name", LONGEST_RECIPIENT, "#/recipient"),
        *line_problems(address.line1, "Address line 1", LONGEST_LINE, "#/line1", required=True),
        *line_problems(address.line2, "Address line 2", LONGEST_LINE, "#/line2"),
        *line_problems(address.city, "The town or city", LONGEST_CITY, "#/city", required=True),
        *country_problems(address.country, method, countries),
        *_postcode_problems(address.postcode, address.country),
    ]
    named = (("recipient", address.recipient), ("line1", address.line1), ("line2", address.line2))
    for name, text in (*named, ("city", address.city)):
        if names_card(text):
            problems.append(Problem("card_number", "Please leave card numbers out of the address.", f"#/{name}"))
    for name, text in (("line1", address.line1), ("city", address.city)):
        if text and is_unseen(text):
            problems.append(Problem("required", "Here is nothing that can be read.", f"#/{name}"))
    return problems


def country_problems(country: str, method: str, countries: Collection[str]) -> list[Problem]:
    """Return the problem of a country to which a method of this name does not deliver, or of none."""
    if not country:
        return [Problem("required", "Choose the country.", "#/country")]
    if country in countries:
        return []
    message = (
        f"“{method}” does not deliver to {in_sentence(country)[:60]}. Choose another country, or another delivery."
    )
    return [Problem("country_not_served", message, "#/country")]


def _postcode_problems(postcode: str, country: str) -> list[Problem]:
    pattern, example = POSTCODES.get(country, ("", ""))
    if not postcode:
        return [Problem("required", "The postcode is missing.", "#/postcode")] if pattern else []
    if len(postcode) > LONGEST_POSTCODE or not ANY_POSTCODE.fullmatch(postcode):
        return [Problem("invalid_postcode", "A postcode has up to 12 letters and digits.", "#/postcode")]
    if not pattern or re.fullmatch(pattern, postcode, re.ASCII):
        return []
    message = f"This is no postcode of {in_sentence(country)}, which would be like {example}."
    return [Problem("invalid_postcode", message, "#/postcode")]

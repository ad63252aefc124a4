"""The address of an order as it stands on its parcel: pure."""

from __future__ import annotations

from dataclasses import replace

from app.domain.delivery.addresses import Address

# Where the postcode stands before the town, on its line. Elsewhere, as in Britain, it has a line of its own below.
POSTCODE_FIRST = (
    "AD AL AT AX BA BE BG CH CY CZ DE DK EE ES FI FO FR GL GR HR IS IT LI LT LU MC ME MK NL NO PL PT RO RS SE SI SK SM "
    "TR VA"
)


def parcel_lines(address: Address) -> list[str]:
    """Return the lines of an address, in the order in which the post of its country reads them."""
    if address.country not in POSTCODE_FIRST.split():
        return address.lines
    town = f"{address.postcode} {address.city}".strip()
    return replace(address, city=town, postcode="").lines

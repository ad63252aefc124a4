"""The addresses to which the links of a listing lead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.search.listings.listing import ListingRequest

OwnAddress = Callable[[ListingRequest], str | None]


def no_own_address(_request: ListingRequest) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class ListingLinks:
    """`own_address` returns the address of the page that a request has for itself, None for most. `path` is that of the
    page on which the links stand."""

    path: str
    own_address: OwnAddress = no_own_address

    def to(self, request: ListingRequest) -> str:
        return self.own_address(request) or request.url()

    def own_page_of_value(self, request: ListingRequest, facet_id: str, value: str) -> str | None:
        """Return the address of the page that a request has for itself with a value toggled, None for most. Asked for
        each value of each filter, most of which stand on pages without such addresses."""
        if self.own_address is no_own_address:
            return None
        return self.own_address(request.toggled(facet_id, value))

    def stays(self, address: str) -> bool:
        """Whether an address is of the page itself, so that its listing can be exchanged in place."""
        return address.partition("?")[0] == self.path

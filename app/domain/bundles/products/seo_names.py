"""The SEO names of a site's products while many are added at once."""

from __future__ import annotations

from collections.abc import Iterable


class SeoNames:
    """The SEO names of a site during an import. `taken` are the names in use, `requested` those in rows of the bundle,
    which no generated name may take."""

    def __init__(self, taken: Iterable[str], requested: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._requested = set(requested)
        self._next: dict[str, int] = {}

    def claim(self, name: str, instead_of: str | None = None) -> bool:
        """Take a name for a record that had `instead_of`; False when another has it."""
        if name == instead_of:
            return True
        if name in self._taken:
            return False
        self._taken.discard(instead_of or "")
        self._taken.add(name)
        return True

    def make(self, wanted: str) -> str:
        """Return `wanted`, or the first free one with a number behind it."""
        name = wanted
        number = self._next.get(wanted, 2)
        while name in self._taken or name in self._requested:
            name = f"{wanted}-{number}"
            number += 1
            self._next[wanted] = number
        self._taken.add(name)
        return name

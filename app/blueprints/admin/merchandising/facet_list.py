"""A list of filters as a form holds it: of a category, or of a whole tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import sent_number
from app.domain.merchandising.facets import MOST_FACETS
from app.domain.merchandising.tree import Display, Facet


@dataclass(frozen=True, slots=True)
class FacetRow:
    """A filter as it was typed. `swatches` is a line for each colour: the value, then `#rrggbb`."""

    facet_id: str
    display: str = ""
    label: str = ""
    swatches: str = ""

    @classmethod
    def of(cls, facet: Facet) -> Self:
        lines = (f"{value} {colour}" for value, colour in facet.swatches.items())
        return cls(facet.facet_id, str(facet.display), facet.label or "", "\n".join(lines))

    @property
    def colours(self) -> dict[str, str]:
        """The colours by value; a line without a colour has an empty one, which the rules refuse."""
        found = {}
        for line in filter(None, map(str.strip, self.swatches.splitlines())):
            value, _, colour = line.rpartition(" ")
            is_colour = bool(value) and colour.startswith("#")
            found[value.strip() if is_colour else line] = colour if is_colour else ""
        return found

    def draft(self) -> dict[str, Any]:
        """Return the filter in the form of a bundle."""
        row: dict[str, Any] = {"facetId": self.facet_id, "display": self.display or str(Display.LIST)}
        return row | {"label": self.label or None, "swatches": self.colours or None}


@dataclass(frozen=True, slots=True)
class FacetList:
    """The list of filters in a form. `own` False inherits; the rows are then what is inherited, so that an own list
    begins with them. `chosen` is the facet in the field that adds one."""

    own: bool
    rows: tuple[FacetRow, ...] = ()
    chosen: str = ""

    @classmethod
    def of(cls, stored: Sequence[Mapping[str, Any]] | None) -> Self:
        return cls(stored is not None, tuple(FacetRow.of(Facet.read(facet)) for facet in stored or ()))

    @classmethod
    def sent(cls, sent: MultiDict[str, str]) -> Self:
        ids = list(dict.fromkeys(sent.getlist("facet")))[: MOST_FACETS + 1]
        rows = (
            FacetRow(id, *(sent.get(f"{name}-{id}", "") for name in ("display", "label", "swatches"))) for id in ids
        )
        return cls(sent.get("ownFacets") == "1", tuple(rows), sent.get("newFacet", ""))

    def after(self, action: str, name: str) -> Self:
        """Return the list after a button: `own`, `inherit`, `add`, `remove:colour`, `up:colour`, `down:colour` or
        `place:2:colour`."""
        if action in ("own", "inherit"):
            return replace(self, own=action == "own")
        if action == "add":
            is_new = self.chosen and all(row.facet_id != self.chosen for row in self.rows)
            return replace(self, rows=(*self.rows, FacetRow(self.chosen)) if is_new else self.rows, chosen="")
        place, _, facet_id = name.rpartition(":")
        rows = list(self.rows)
        index = next((index for index, row in enumerate(rows) if row.facet_id == facet_id), None)
        if index is None:
            return self
        row = rows.pop(index)
        if action != "remove":
            steps = {"up": index - 1, "down": index + 1, "place": sent_number(place)}
            target = steps.get(action)
            rows.insert(index if target is None else max(0, target), row)
        return replace(self, rows=tuple(rows))

    def draft(self) -> tuple[dict[str, Any], ...] | None:
        return tuple(row.draft() for row in self.rows) if self.own else None

    @property
    def summary(self) -> str:
        if not self.own:
            return "Inherited"
        return ", ".join(row.label or row.facet_id for row in self.rows) or "None"

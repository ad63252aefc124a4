"""The filters of a tree, those of every category that has none of its own; and a list of filters as the forms of trees
and categories hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from flask import make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.admin.merchandising.trees import TREE
from app.blueprints.admin.shell import flash_saved
from app.blueprints.callers import current_author
from app.domain.merchandising import trees
from app.domain.merchandising.facets import MOST_FACETS, KnownFacet, colour_of, known_facets
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.merchandising.tree import Display, Facet
from app.domain.search.listings.facet_values import CarriedValue, carried_values
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

MOST_PICKED = 60  # Values of a filter that have a picker; further ones have a colour in the text.


@dataclass(frozen=True, slots=True)
class ValueColour:
    """The colour of a value: its `own` as it was typed, and `by_name` what shoppers see without one, each empty where
    there is none. `products` carry the value."""

    value: str
    own: str
    by_name: str
    products: int = 0

    @property
    def shown(self) -> str:
        """The colour as a picker takes it, empty for none."""
        return colour_of(self.value, {self.value: self.own}) or ""


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

    def palette(self, carried: Sequence[CarriedValue]) -> list[ValueColour]:
        """Return the colours of the values that have their own, then of the commonest others."""
        own, products = self.colours, {one.value: one.products for one in carried}
        values = list(dict.fromkeys((*own, *products)))[: max(MOST_PICKED, len(own))]
        return [
            ValueColour(value, own.get(value, ""), colour_of(value) or "", products.get(value, 0)) for value in values
        ]

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


def filter_choices(shop: Shop, facets: FacetList) -> dict[str, Any]:
    """Return what the form of filters offers: the `known` facets, and the `carried` values of those that are shown as
    swatches."""
    known = known_facets(shop.attributes, shop.taxonomy)
    swatches = [row.facet_id for row in facets.rows if _is_swatch(row, known.get(row.facet_id))] if facets.own else []
    return {"known": known, "carried": carried_values(ports.search_engine(), shop.site_id, swatches)}


def _is_swatch(row: FacetRow, known: KnownFacet | None) -> bool:
    return known is not None and (row.display or known.displays[0]) == Display.SWATCH


NO_ERRORS = FieldErrors()
Answer = str | AnyResponse


@bp.get(f"{TREE}/filters")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_filters(tree_id: int) -> Answer:
    return _page(tree_id, FacetList.of(trees.tree_of(current_user.site_id, tree_id).facets))


@bp.post(f"{TREE}/filters")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_filters_save(tree_id: int) -> Answer:
    """Save the filters. A button within the list (`intent`) changes only the form."""
    facets = replace(FacetList.sent(request.form), own=True)
    version = request.form.get("version", "")
    action, _, name = request.form.get("intent", "").partition(":")
    if action:
        return _page(tree_id, facets.after(action.removeprefix("facet-"), name), version, changed=True)
    try:
        with transaction():
            changed = trees.change_facets(current_author(), tree_id, facets.draft() or (), version)
    except (Invalid, Conflict) as error:
        return _page(tree_id, facets, version, FieldErrors(error))
    address = url_for("admin.tree_page", tree_id=tree_id)
    flash_saved(changed, "Saved. Live within a few seconds.", "tree_filters", tree_id, address)
    return redirect(address)


def _page(
    tree_id: int, facets: FacetList, version: str = "", errors: FieldErrors = NO_ERRORS, changed: bool = False
) -> Answer:
    """Show the form. After a conflict, saving it again replaces the filters that are stored now."""
    tree = trees.tree_of(current_user.site_id, tree_id)
    current = trees.facets_version(tree)
    context: dict[str, Any] = {
        "tree": tree,
        "facets": facets,
        "version": current if errors.conflict else version or current,
        "errors": errors,
        "changed": changed,
    } | filter_choices(read_shop(current_user.site_id), facets)
    if wants_fragment():
        return render_template("admin/merchandising/tree_filters/_filters.html", **context)
    page = render_template("admin/merchandising/tree_filters/page.html", **context)
    return make_response(page, errors.status if errors else 200)

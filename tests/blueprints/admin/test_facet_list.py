"""A list of filters in a form: what its buttons make of it, and the colours that are typed."""

from __future__ import annotations

import pytest
from werkzeug.datastructures import MultiDict

from app.blueprints.admin.merchandising.tree_filters import MOST_PICKED, FacetList, FacetRow
from app.domain.search.listings.facet_values import CarriedValue

LIST = FacetList(True, (FacetRow("manufacturer"), FacetRow("colour"), FacetRow("price")), chosen="rating")


@pytest.mark.parametrize(
    ("action", "name", "ids"),
    [
        ("up", "colour", "colour manufacturer price"),
        ("up", "manufacturer", "manufacturer colour price"),
        ("down", "colour", "manufacturer price colour"),
        ("down", "price", "manufacturer colour price"),
        ("place", "0:price", "price manufacturer colour"),
        ("place", "9:manufacturer", "colour price manufacturer"),
        ("place", "x:price", "manufacturer colour price"),
        ("remove", "colour", "manufacturer price"),
        ("remove", "size", "manufacturer colour price"),
        ("add", "", "manufacturer colour price rating"),
        ("nonsense", "colour", "manufacturer colour price"),
    ],
)
def test_a_button_changes_the_list(action: str, name: str, ids: str) -> None:
    assert " ".join(row.facet_id for row in LIST.after(action, name).rows) == ids


def test_a_filter_is_added_once() -> None:
    assert LIST.after("add", "").after("add", "") == LIST.after("add", "")


def test_colours_are_lines_of_a_value_and_its_colour() -> None:
    row = FacetRow("colour", swatches="Navy blue #1b2a4e\n\n  Oat #ded3bd \nNo colour here\n#ffffff")
    assert row.colours == {"Navy blue": "#1b2a4e", "Oat": "#ded3bd", "No colour here": "", "#ffffff": ""}


def test_what_is_stored_comes_back_from_its_form() -> None:
    stored = [{"facetId": "colour", "display": "swatch", "label": "Shade", "swatches": {"Oat": "#ded3bd"}}]
    listed = FacetList.of(stored)
    row = listed.rows[0]
    sent = {"ownFacets": "1", "facet": "colour", "display-colour": row.display, "label-colour": row.label}
    assert FacetList.sent(MultiDict(sent | {"swatches-colour": row.swatches})) == listed
    assert listed.draft() == (stored[0],)
    assert FacetList.of(None).draft() is None


def test_every_value_has_a_colour_to_pick_and_says_where_its_colour_is_from() -> None:
    row = FacetRow("colour", display="swatch", swatches="Oat #ded3bd\nFog nonsense")
    carried = [CarriedValue("Navy", 9), CarriedValue("Oat", 4), CarriedValue("Heirloom", 1)]
    palette = {one.value: (one.own, one.by_name, one.shown, one.products) for one in row.palette(carried)}
    assert palette == {
        "Oat": ("#ded3bd", "#e2d8c4", "#ded3bd", 4),
        "Fog nonsense": ("", "", "", 0),
        "Navy": ("", "#000080", "#000080", 9),
        "Heirloom": ("", "", "", 1),
    }


def test_a_long_list_of_values_is_cut_but_for_those_that_have_a_colour() -> None:
    carried = [CarriedValue(f"Shade {number}", 1) for number in range(500)]
    assert len(FacetRow("colour").palette(carried)) == MOST_PICKED
    own = "\n".join(f"Own {number} #123456" for number in range(MOST_PICKED + 5))
    assert len(FacetRow("colour", swatches=own).palette(carried)) == MOST_PICKED + 5

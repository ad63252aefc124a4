"""A list of filters in a form: what its buttons make of it, and the colours that are typed."""

from __future__ import annotations

import pytest
from werkzeug.datastructures import MultiDict

from app.blueprints.admin.merchandising.tree_filters import FacetList, FacetRow

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

"""Stored trees for tests, one by hand and any by chance, and edits of them."""

from __future__ import annotations

import string

from hypothesis import strategies as st

from app.domain.taxonomy.editor.attribute_edits import (
    AddAttribute,
    ChangeAttribute,
    DeleteAttribute,
    MoveAttribute,
    OverrideAttribute,
    RenameValue,
)
from app.domain.taxonomy.editor.level_edits import (
    AddLevel,
    ChangeLevel,
    DeleteLevel,
    Direction,
    Edit,
    MoveLevel,
    ShiftLevel,
)
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure
from tests.domain.taxonomy.trees import Sent, choice, level, number


def stored(*levels: Sent) -> list[Sent]:
    """As a save would store them; nothing may be wrong with them."""
    checked = check_structure(levels)
    assert checked.problems == ()
    return checked.levels


OUTDOOR = stored(
    level(
        "outdoor",
        level("tents", level("tarps"), attributes=[choice("colour", "Moss", "Clay"), number("sleeps")]),
        level("stoves"),
        level("lamps"),
        attributes=[choice("colour", "Red", "Blue")],
    ),
    level("home"),
)

names = st.text(string.ascii_letters + " -é", min_size=1, max_size=6)
values = st.lists(st.sampled_from(["Red", "Blue", "Moss", "Clay", "S", "M"]), min_size=1, max_size=4, unique=True)
attributes = st.builds(
    lambda attribute_id, name, offered: choice(attribute_id, *offered, name=name) if offered else number(attribute_id),
    st.sampled_from(["colour", "size", "weight", "sleeps"]),
    names,
    st.none() | values,
)
_levels = st.recursive(
    st.builds(lambda name, found: {"name": name, "attributes": found}, names, st.lists(attributes, max_size=3)),
    lambda inner: st.builds(
        lambda name, others, found, children: {
            "name": name,
            "otherNames": others,
            "attributes": found,
            "children": children,
        },
        names,
        st.lists(names, max_size=2),
        st.lists(attributes, max_size=3),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)
trees = st.lists(_levels, max_size=4).map(lambda raw: check_structure(raw).levels)
"""Sound trees in the stored form."""


@st.composite
def edits_of(draw: st.DrawFn, tree: TaxonomyTree) -> Edit:
    """An edit that means levels, attributes and values that are there, or nearly."""
    levels = tree.levels
    level_id = draw(st.sampled_from([*levels, "gone"]))
    parent_id = draw(st.sampled_from([*levels, None]))
    own = levels[level_id].attributes if level_id in levels else ()
    attribute_id = draw(st.sampled_from([found.id for found in own] or ["gone"]))
    offered = next((found.allowed_values for found in own if found.id == attribute_id), ())
    definition = draw(attributes)
    nameless = {name: value for name, value in definition.items() if name != "attributeId"}
    return draw(
        st.one_of(
            st.builds(AddLevel, st.just(parent_id), names, st.sampled_from([*levels, None])),
            st.builds(ChangeLevel, st.just(level_id), names, names, st.none() | st.lists(names, max_size=2)),
            st.builds(MoveLevel, st.just(level_id), st.just(parent_id), st.integers(0, 5)),
            st.builds(ShiftLevel, st.just(level_id), st.sampled_from(Direction)),
            st.builds(DeleteLevel, st.just(level_id)),
            st.builds(AddAttribute, st.just(level_id), st.sampled_from([definition, nameless])),
            st.builds(ChangeAttribute, st.just(level_id), st.just(attribute_id), st.just(definition)),
            st.builds(MoveAttribute, st.just(level_id), st.just(attribute_id), st.integers(0, 4)),
            st.builds(DeleteAttribute, st.just(level_id), st.just(attribute_id)),
            st.builds(
                RenameValue, st.just(level_id), st.just(attribute_id), st.sampled_from(offered or ["Red"]), names
            ),
            st.builds(OverrideAttribute, st.just(level_id), st.just("colour")),
        )
    )

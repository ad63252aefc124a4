"""A value that is renamed on one level while others of the same filter go on with the old name."""

from __future__ import annotations

import pytest

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.attribute_edits import ChangeAttribute, RenameElsewhere, RenameValue
from app.domain.taxonomy.editor.level_edits import Edit
from app.domain.taxonomy.editor.steps import apply_edit, redo_step
from app.domain.taxonomy.editor.warnings import split_values
from app.domain.taxonomy.renames import draft_renames
from app.domain.taxonomy.tree import TaxonomyTree
from tests.domain.taxonomy.any_tree import stored
from tests.domain.taxonomy.trees import choice, level

LEVELS = TaxonomyTree.parse(
    stored(
        level("tents", attributes=[choice("colour", "Black", "Red")]),
        level("boots", attributes=[choice("colour", "Black"), choice("sole", "Black")]),
        level("lamps", attributes=[choice("colour", "Black", "jet BLACK")]),
        level("maps", attributes=[choice("colour", "Red")]),
    )
)
RENAME = RenameValue("tents", "colour", "Black", "Jet black")
ELSEWHERE = RenameElsewhere("tents", "colour", "Black", "Jet black")


def after(*edits: Edit) -> TaxonomyTree:
    levels = LEVELS
    for edit in edits:
        levels = redo_step(levels, apply_edit(levels, edit))
    return levels


def test_levels_that_still_have_the_old_name_alone_are_told():
    (found,) = split_values(after(RENAME), LEVELS)
    assert (found.level.level_id, found.name, found.value, found.renamed) == ("tents", "Colour", "Black", "Jet black")
    assert [other.level_id for other in found.others] == ["boots"]
    assert split_values(LEVELS, LEVELS) == []


def test_a_value_that_was_merged_on_one_level_goes_on_where_the_value_that_stays_is_not():
    merged = choice("colour", "Red") | {"mergedValues": {"Black": "Red"}}
    (found,) = split_values(after(ChangeAttribute("tents", "colour", merged)), LEVELS)
    assert (found.value, found.renamed) == ("Black", "Red")
    assert [other.level_id for other in found.others] == ["boots", "lamps"]


def test_it_is_renamed_there_too_so_that_products_follow():
    step = apply_edit(after(RENAME), ELSEWHERE)
    assert step.label == "Renamed the value “Black” to “Jet black” on 1 other level" and list(step.changes) == ["boots"]
    levels = after(RENAME, ELSEWHERE)
    assert split_values(levels, LEVELS) == []
    renames = draft_renames(levels.levels.values())
    assert [(one.level_id, one.attribute_id, one.value, one.renamed) for one in renames] == [
        ("tents", "colour", "Black", "Jet black"),
        ("boots", "colour", "Black", "Jet black"),
    ]


def test_where_no_level_says_it_any_more_nothing_is_done():
    with pytest.raises(Invalid):
        apply_edit(after(RENAME, ELSEWHERE), ELSEWHERE)

"""What is worked out anew after an edit, from what it changed, is what the whole tree would give."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.attribute_edits import AddAttribute
from app.domain.taxonomy.editor.level_edits import AddLevel, ChangeLevel
from app.domain.taxonomy.editor.steps import apply_edit, redo_step, undo_step
from app.domain.taxonomy.editor.warnings import TypeConflict, split_values, type_conflicts
from app.domain.taxonomy.renames import draft_renames, without_renames
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure, draft_problems, ids_of, patterns_of
from tests.domain.taxonomy.any_tree import edits_of, trees
from tests.examples import examples


@st.composite
def drafts(draw: st.DrawFn) -> tuple[TaxonomyTree, TaxonomyTree]:
    """A stored tree and a draft of it, in which names may be missing, twice there or too long."""
    stored = levels = TaxonomyTree.parse(draw(trees))
    for _ in range(draw(st.integers(0, 6))):
        try:
            step = apply_edit(levels, draw(edits_of(levels) | faulty_edits_of(levels)))
        except Invalid:
            continue
        before, levels = levels, redo_step(levels, step)
        if draw(st.integers(0, 4)) == 0:
            levels = undo_step(levels, step)
            assert levels == before
    return stored, levels


@st.composite
def faulty_edits_of(draw: st.DrawFn, tree: TaxonomyTree) -> Any:
    level_id = draw(st.sampled_from([*tree.levels, "gone"]))
    name = draw(st.sampled_from(["", "A", "a", "x" * 201, *(level.name for level in tree.levels.values())]))
    attribute = {"attributeId": draw(st.sampled_from(["", "price", "colour", "new-a1"])), "name": name}
    return draw(
        st.sampled_from(
            [
                ChangeLevel(level_id, name, "y" * 2_001 if name == "A" else ""),
                AddLevel(level_id, name),
                AddAttribute(level_id, attribute | {"type": "SINGLE_SELECT", "allowedValues": ["S", "s"]}),
                AddAttribute(level_id, attribute | {"type": "STRING", "validation": {"pattern": "("}}),
            ]
        )
    )


@settings(max_examples=examples(200))
@given(drafts())
def test_problems_are_those_of_the_whole_tree(draft: tuple[TaxonomyTree, TaxonomyTree]):
    stored, levels = draft
    sent = without_renames(levels).as_stored()
    whole = check_structure(sent, ids_of(stored), known_patterns=patterns_of(stored))
    assert draft_problems(levels, stored) == whole.problems


@settings(max_examples=examples(100))
@given(drafts())
def test_warnings_and_renames_are_those_of_the_whole_tree(draft: tuple[TaxonomyTree, TaxonomyTree]):
    base, levels = draft
    assert type_conflicts(levels, base) == conflicts_of_all(levels)
    assert split_values(levels, base) == split_values(levels, TaxonomyTree())
    assert draft_renames(levels.changed_since(base)) == draft_renames(levels.levels.values())


def conflicts_of_all(levels: TaxonomyTree) -> list[TypeConflict]:
    return type_conflicts(levels, TaxonomyTree())


def test_a_stored_tree_with_a_problem_keeps_it_in_every_draft():
    base = TaxonomyTree.parse([{"levelId": "a", "name": ""}, {"levelId": "b", "name": "B"}])
    levels = redo_step(base, apply_edit(base, AddLevel("b", "C")))
    assert [problem.code for problem in draft_problems(levels, base)] == ["name_missing"]

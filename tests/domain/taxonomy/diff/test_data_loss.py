"""What products lose, worked out from two trees, agrees with checking every product."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.taxonomy.data_loss import DataLoss, data_loss
from app.domain.taxonomy.diff import compare
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure
from app.domain.taxonomy.values import check_values
from tests.domain.taxonomy.trees import choice, level, number, text
from tests.examples import examples

IDS = ("a", "b", "c", "d", "e", "f")
COLOURS = ("Moss", "Clay", "Slate")
ATTRIBUTES = st.one_of(
    st.lists(st.sampled_from(COLOURS), min_size=1, unique=True).map(lambda values: choice("colour", *values)),
    st.lists(st.sampled_from(("12", "S")), min_size=1, unique=True).map(lambda values: choice("size", *values)),
    st.just(text("size")),
    st.just(number("size")),
    st.just(text("fabric")),
)


@st.composite
def trees(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Some of the six levels, each below an earlier one or at the top, with attributes in any place."""
    found: list[dict[str, Any]] = []
    roots: list[dict[str, Any]] = []
    for level_id in draw(st.permutations(IDS))[: draw(st.integers(1, 6))]:
        attributes = draw(st.lists(ATTRIBUTES, max_size=2, unique_by=lambda attribute: attribute["attributeId"]))
        made = level(level_id, attributes=attributes)
        parent = draw(st.sampled_from([None, *found]))
        (roots if parent is None else parent["children"]).append(made)
        found.append(made)
    checked = check_structure(roots)
    assert not checked.problems
    return checked.levels


def lost_at(found: DataLoss, level_id: str) -> set[tuple[str, str | None]]:
    """What the products of a level lose: (attribute, None) or (attribute, value)."""
    lists = (found.removed, found.not_inherited)
    attributes = [key[1] for kept in lists for key, levels in kept.items() if level_id in levels]
    assert len(attributes) == len(set(attributes)), "told once"
    values = {(key[1], key[2]) for key, levels in found.values.items() if level_id in levels}
    return {(attribute_id, None) for attribute_id in attributes} | values


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[ValueRename]]:
    """Two trees, and renames to values that choices of the second offer; of values that there were or were not."""
    old, new = draw(trees()), draw(trees())
    renames = []
    for found in TaxonomyTree.parse(new).levels.values():
        for attribute in found.attributes:
            values = st.sampled_from(attribute.allowed_values or ("",))
            words = draw(
                st.dictionaries(
                    st.sampled_from((*COLOURS, "12")), values, max_size=2 if attribute.type.is_choice else 0
                )
            )
            value_renames = [ValueRename(found.id, attribute.id, value, renamed) for value, renamed in words.items()]
            renames += [rename for rename in value_renames if rename.value != rename.renamed]
    return old, new, renames


def words_at(tree: TaxonomyTree, level_id: str, attribute_id: str, renames: list[ValueRename]) -> dict[str, str]:
    """What is renamed for the products of a level: at the nearest definition."""
    defining = [above.id for above in tree.path(level_id) if any(a.id == attribute_id for a in above.attributes)]
    nearest = defining[-1:]
    return {r.value: r.renamed for r in renames if [r.level_id] == nearest and r.attribute_id == attribute_id}


@settings(max_examples=examples(300), deadline=None)
@given(changes())
def test_losses_are_what_a_check_of_each_product_drops_once_its_words_are_renamed(
    change: tuple[list[dict[str, Any]], list[dict[str, Any]], list[ValueRename]],
) -> None:
    old, new, renames = change
    before, after = TaxonomyTree.parse(old), TaxonomyTree.parse(new)
    moved = {entry.level_id for entry in compare(before, after).levels_moved}
    found = data_loss(before, after, moved, IDS, renames)
    for level_id in set(before.levels) & set(after.levels):
        expected: set[tuple[str, str | None]] = set()
        renamed: set[tuple[str, str]] = set()
        left = after.applicable_attributes(level_id)
        for attribute in before.applicable_attributes(level_id).values():
            if attribute.id not in left:
                expected.add((attribute.id, None))
                continue
            words = words_at(after, level_id, attribute.id, renames)
            renamed |= {(attribute.id, value) for value in words}
            held = {value: words.get(value, value) for value in attribute.allowed_values}
            dropped = (value for value, word in held.items() if check_values(left, {attribute.id: word})[1])
            expected |= {(attribute.id, value) for value in dropped}
        assert lost_at(found, level_id) == expected
        assert {key[1:] for key, levels in found.renamed.items() if level_id in levels} == renamed


@given(trees())
def test_the_same_tree_takes_nothing(tree: list[Any]) -> None:
    parsed = TaxonomyTree.parse(tree)
    assert data_loss(parsed, TaxonomyTree.parse(tree), (), IDS) == DataLoss()


@settings(deadline=None)
@given(trees(), trees())
def test_what_is_lost_by_moving_is_told_of_a_moved_level(old: list[Any], new: list[Any]) -> None:
    before, after = TaxonomyTree.parse(old), TaxonomyTree.parse(new)
    moved = {entry.level_id for entry in compare(before, after).levels_moved}
    assert {level_id for level_id, _ in data_loss(before, after, moved, IDS).not_inherited} <= moved

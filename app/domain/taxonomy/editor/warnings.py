"""Warnings about what is allowed in a taxonomy and yet probably a mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from app.domain.taxonomy.editor.attribute_edits import levels_with_old_name
from app.domain.taxonomy.renames import ValueRename, draft_renames
from app.domain.taxonomy.stored_tree import made_once
from app.domain.taxonomy.tree import TaxonomyTree


@dataclass(frozen=True, slots=True)
class LevelName:
    level_id: str
    name: str


@dataclass(frozen=True, slots=True)
class TypeConflict:
    """An attribute id that has several types, so that one facet would mix texts with numbers. `levels` are those
    that define it, by type, in tree order; `name` is that of the first definition."""

    attribute_id: str
    name: str
    levels: Mapping[str, tuple[LevelName, ...]]


@dataclass(frozen=True, slots=True)
class SplitValue:
    """A value that the draft renames on one level while `others` go on with the old name: shoppers would get both in
    one filter. `name` is the attribute's."""

    level: LevelName
    attribute_id: str
    name: str
    value: str
    renamed: str
    others: tuple[LevelName, ...]


def split_values(tree: TaxonomyTree, base: TaxonomyTree) -> list[SplitValue]:
    """Return the split values of a draft of `base`, in the order of the tree. Only what a draft changed can carry
    renamed values."""
    renames = draft_renames(tree.changed_since(base))
    definitions = tree.attributes_by_id() if renames else {}
    return [split for rename in renames if len(definitions[rename.attribute_id]) > 1 for split in _splits(tree, rename)]


def _splits(tree: TaxonomyTree, rename: ValueRename) -> Iterator[SplitValue]:
    level, attribute = tree.levels[rename.level_id], tree.definition(rename.level_id, rename.attribute_id)
    still = levels_with_old_name(tree, level.id, rename.attribute_id, rename.value, rename.renamed)
    if attribute and still:
        others = tuple(LevelName(other.id, other.name) for other in still)
        here = LevelName(level.id, level.name)
        yield SplitValue(here, attribute.id, attribute.name, rename.value, rename.renamed, others)


def type_conflicts(tree: TaxonomyTree, base: TaxonomyTree) -> list[TypeConflict]:
    """Return the type conflicts of a draft of the stored tree `base`, in the order of the tree. Only the definitions
    that it changed are counted anew."""
    stored = _types(base)
    types: dict[str, Counter[str]] = {}
    for sign, levels in ((1, tree.changed_since(base)), (-1, base.changed_since(tree))):
        for level in levels:
            for attribute in level.attributes:
                counts = types.setdefault(attribute.id, Counter(stored.get(attribute.id)))
                counts[attribute.written_type] += sign
    clashing = {found for found, counts in stored.items() if found not in types and len(counts) > 1}
    return _conflicts(tree, clashing | {found for found, counts in types.items() if len(+counts) > 1})


@made_once
def _types(tree: TaxonomyTree) -> Mapping[str, Mapping[str, int]]:
    """Return how many definitions have which type, by attribute id."""
    return {
        attribute_id: Counter(attribute.written_type for attribute in definitions)
        for attribute_id, definitions in tree.attributes_by_id().items()
    }


def _conflicts(tree: TaxonomyTree, attribute_ids: Collection[str]) -> list[TypeConflict]:
    found: dict[str, dict[str, list[LevelName]]] = {}
    for level in tree.levels.values() if attribute_ids else ():
        for attribute in level.attributes:
            if attribute.id in attribute_ids:
                at = found.setdefault(attribute.id, {}).setdefault(attribute.written_type, [])
                at.append(LevelName(level.id, level.name))
    names = tree.attribute_names() if found else {}
    return [
        TypeConflict(attribute_id, names[attribute_id], {kind: tuple(at) for kind, at in by_type.items()})
        for attribute_id, by_type in found.items()
    ]

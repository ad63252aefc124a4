"""From a tree as a client sent it to one that can be stored: give new records their ids, and report every problem."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.taxonomy.renames import without_renames
from app.domain.taxonomy.stored_tree import Record, made_once
from app.domain.taxonomy.tree import Attribute, Level, TaxonomyTree
from app.domain.taxonomy.validation.rules import (
    MOST_LEVELS,
    Checked,
    Exemptions,
    patterns_problem,
    problems_of,
    size_problem,
)
from app.domain.taxonomy.validation.sent_tree import (
    MOST_PROBLEMS,
    NO_NEW_IDS,
    NOTHING_IN_USE,
    ROOT_LEVELS,
    InUse,
    SentTree,
    StructureProblem,
    attribute_place,
    new_ids,
    read_sent_tree,
    too_many_problems,
    with_places,
)

FEW_CHANGES = 200  # Levels; with more of them the whole tree is looked at.
NOTHING = SentTree(TaxonomyTree())


@dataclass(frozen=True, slots=True)
class CheckedStructure:
    """The outcome of checking a tree. `tree` is what can be stored, without the records that hold a problem; `ids` maps
    ids that stood for new records (`new-…`) to the ones they got. `further` are problems that arose only because
    something was left out, like a choice whose last value went."""

    tree: TaxonomyTree
    ids: dict[str, str]
    problems: tuple[StructureProblem, ...]
    further: tuple[StructureProblem, ...] = ()

    @property
    def levels(self) -> list[Record]:
        """The tree in the stored form."""
        return self.tree.as_stored()


def check_structure(
    raw: Sequence[Any],
    existing_ids: Collection[str] = (),
    pointer: str = ROOT_LEVELS,
    in_use: InUse = NOTHING_IN_USE,
    known_patterns: Collection[str] = (),
) -> CheckedStructure:
    """Normalise and validate a tree in JSON, which `check_tree` says more of."""
    return check_tree(read_sent_tree(raw, pointer), existing_ids, in_use, known_patterns)


def check_tree(
    sent: SentTree,
    existing_ids: Collection[str] = (),
    in_use: InUse = NOTHING_IN_USE,
    known_patterns: Collection[str] = (),
) -> CheckedStructure:
    """Normalise and validate a tree. Ids in `existing_ids` (those of the stored taxonomy) keep their form; those that
    are `in_use` are not given to new records. `known_patterns` (those of the stored taxonomy) are not checked again.

    Problems name records by the ids that were sent. A save, whole or not at all, looks at `problems`; an import takes
    the tree, from which each smallest record with a problem (an allowed value, another name, an attribute, a level with
    those below) was left out. Where a problem concerns the whole tree (its `record` is "#"), nothing is left, and
    nothing more was looked at.
    """
    checked, problems = _check(sent, in_use, Exemptions.of(existing_ids, known_patterns))
    reported, further = set(problems), list[StructureProblem]()
    more = list(problems)
    while more:
        checked = replace(checked, left_out=checked.left_out.union(problem.record for problem in more))
        more = [problem for problem in problems_of(checked) if problem not in reported]
        reported.update(more)
        further += more
    return CheckedStructure(_normalise(checked), dict(checked.ids.replaced), problems, tuple(further))


def _check(sent: SentTree, in_use: InUse, exempt: Exemptions) -> tuple[Checked, tuple[StructureProblem, ...]]:
    """Return what was checked, with every problem; an empty tree where a problem concerns it all."""
    problems = [*sent.problems, *filter(None, (size_problem(sent.tree), patterns_problem(sent.tree)))]
    if any(problem.record == "#" for problem in problems):
        return Checked(NOTHING, NO_NEW_IDS, exempt), tuple(problems)
    checked = Checked(sent, new_ids(sent.tree, exempt.ids, in_use), exempt)
    problems += problems_of(checked)
    if len(problems) >= MOST_PROBLEMS:
        return Checked(NOTHING, NO_NEW_IDS, exempt), (*problems[:MOST_PROBLEMS], too_many_problems())
    return checked, tuple(dict.fromkeys(problems))


def _normalise(checked: Checked) -> TaxonomyTree:
    """Return the tree by ids: without what is left out, texts trimmed and once each, places as whole numbers."""
    ids: dict[str | None, str | None] = {None: None}  # By the places of the levels that stay.
    counts: dict[str | None, int] = {}
    levels: list[Level] = []
    for place, level in checked.sent.tree.levels.items():
        if place in checked.left_out or level.parent_id not in ids:
            continue
        ids[place] = level_id = checked.ids.of_level(place, level)
        order = counts[level.parent_id] = counts.get(level.parent_id, -1) + 1
        names = tuple(checked.texts(level.other_names, f"{place}/otherNames").values()) if level.other_names else ()
        levels.append(
            Level(
                id=level_id,
                name=level.name,
                parent_id=ids[level.parent_id],
                description=level.description,
                attributes=_normalise_attributes(checked, place, level),
                display_order=order,
                other_names=names,
            )
        )
    return TaxonomyTree.of(levels)


def _normalise_attributes(checked: Checked, place: str, level: Level) -> tuple[Attribute, ...]:
    kept: list[Attribute] = []
    for number, attribute in enumerate(level.attributes):
        at = attribute_place(place, number)
        if at in checked.left_out:
            continue
        attribute_id, values = checked.ids.of_attribute(place, number, attribute), attribute.allowed_values
        if values:
            values = tuple(checked.texts(values, f"{at}/allowedValues").values())
        if (attribute_id, values, len(kept)) != (attribute.id, attribute.allowed_values, attribute.display_order):
            attribute = replace(attribute, id=attribute_id, allowed_values=values, display_order=len(kept))
        texts = attribute.help_text, attribute.unit, attribute.display_label
        if any(text is not None and text.strip() != (text or None) for text in texts):
            help_text, unit, label = ((text or "").strip() or None for text in texts)
            attribute = replace(attribute, help_text=help_text, unit=unit, display_label=label)
        kept.append(attribute)
    return tuple(kept)


def draft_problems(draft: TaxonomyTree, base: TaxonomyTree) -> tuple[StructureProblem, ...]:
    """Return the problems of a draft of the stored tree `base`.

    Attributes of levels that are the very records of `base` were checked when it was saved. Where the stored tree has
    no problem, a draft can have one only near what was changed, and the rest of the tree is not looked at.
    """
    changed = draft.changed_since(base)
    tree = draft
    if len(changed) <= FEW_CHANGES and len(draft.levels) <= MOST_LEVELS and not _stored_problems(base):
        tree = _levels_near(draft, base, changed)
    thin = (
        replace(level, attributes=()) if level.attributes and level is base.levels.get(level.id) else level
        for level in tree.levels.values()
    )
    return _problems_over(without_renames(TaxonomyTree.of(thin)), base)


@made_once
def _stored_problems(base: TaxonomyTree) -> tuple[StructureProblem, ...]:
    """Return the problems of a stored tree but for its attributes."""
    thin = (replace(level, attributes=()) if level.attributes else level for level in base.levels.values())
    return _problems_over(TaxonomyTree.of(thin), base)


def _problems_over(tree: TaxonomyTree, base: TaxonomyTree) -> tuple[StructureProblem, ...]:
    """Return the problems of a tree that is to replace the stored one, which is `base`."""
    return _check(with_places(tree), NOTHING_IN_USE, Exemptions.of(ids_of(base), patterns_of(base)))[1]


def _levels_near(draft: TaxonomyTree, base: TaxonomyTree, changed: Sequence[Level]) -> TaxonomyTree:
    """The changed levels with those beside them (of which no two may have one name), all above with those beside
    them (so that each keeps its place), and all below what moved (which may be too deep)."""
    parents = {None, *(above for level in changed for above in draft.path_ids(level.parent_id))}
    moved = {
        level.id for level in changed if (stored := base.levels.get(level.id)) and stored.parent_id != level.parent_id
    }
    near: list[Level] = []
    for level in draft.levels.values():
        if level.parent_id in parents or level.parent_id in moved:
            near.append(level)
            if level.parent_id in moved:
                moved.add(level.id)
    return TaxonomyTree.of(near)


@made_once
def ids_of(tree: TaxonomyTree) -> frozenset[str]:
    """Return the ids of every level and attribute of a tree."""
    return frozenset(tree.levels).union(
        attribute.id for level in tree.levels.values() for attribute in level.attributes
    )


@made_once
def patterns_of(tree: TaxonomyTree) -> frozenset[str]:
    """Return the patterns of every attribute of a tree."""
    rules = (attribute.validation for level in tree.levels.values() for attribute in level.attributes)
    return frozenset(rule.pattern for rule in rules if rule.pattern)

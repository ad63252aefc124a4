"""The editor's tree as its templates show it, and the edits of levels that forms request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from flask import url_for

from app.blueprints.admin.blueprint import bp
from app.domain.shared.problems import Invalid
from app.domain.shared.text import split_list
from app.domain.taxonomy.editor.drafts import Editing
from app.domain.taxonomy.editor.level_edits import (
    AddLevel,
    AddLevels,
    ChangeLevel,
    DeleteLevel,
    Direction,
    Edit,
    MoveLevel,
    ShiftLevel,
    level_lines,
)
from app.domain.taxonomy.editor.outline import Outline, OutlineChange, differences
from app.domain.taxonomy.products.queries import products_by_level
from app.domain.taxonomy.taxonomies import is_active
from app.domain.taxonomy.tree import TaxonomyTree

NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9-]", re.ASCII)
Form = Mapping[str, str]
MOST_AT_ONCE = 200


@dataclass
class ShownTree:
    """The tree of `editing`, as it is shown row by row. `products` are the numbers of products at each level, None
    where the taxonomy is not in use; `address` is the editor's."""

    editing: Editing
    products: Mapping[str, int] | None
    address: str = ""
    level_id: str | None = None
    opened: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def outline(self) -> Outline:
        return Outline(self.editing.tree, self.editing.base, self.products, self.problems)

    @cached_property
    def problems(self) -> Counter[str]:
        """The number of problems of each level."""
        return Counter(problem.level_id for problem in self.editing.problems if problem.level_id)

    def since(self, before: Editing, marked: Collection[str]) -> OutlineChange:
        """Return the differences from the tree that a window shows. `marked` are the levels whose rows carry the sign
        of a problem there, so that the earlier problems need not be found anew."""
        change = differences(Outline(before.tree, before.base, self.products, {}), self.outline)
        signs = {*marked, *self.problems}.intersection(self.editing.levels).difference(change.changed)
        return replace(change, changed=[*change.changed, *signs])

    def is_open(self, level_id: str) -> bool:
        """Whether a level is open at first: in a small tree each is, in a large one those above the chosen level."""
        return level_id in self.opened or not self.outline.is_large


def shown_tree(editing: Editing, level_id: str | None, drawn: Collection[str] | None = None) -> ShownTree:
    """Return the tree to show. `drawn` are the levels of which the answer shows anything, None for all: products are
    counted only at these and below them."""
    taxonomy = editing.taxonomy
    counted = None if drawn is None else set(chain.from_iterable(map(editing.tree.below, drawn)))
    products = products_by_level(taxonomy.site_id, counted) if is_active(taxonomy) else None
    address = url_for("admin.taxonomy_editor", taxonomy_id=taxonomy.id)
    return ShownTree(editing, products, address, level_id, frozenset(editing.tree.path_ids(level_id)[:-1]))


def drawn_levels(before: Editing, after: Editing, level_id: str | None, marked: Collection[str]) -> set[str] | None:
    """Return the levels to draw anew after an edit; None for all, where levels were added, removed or moved."""
    was, now = ([(level.id, level.parent_id) for level in one.levels.values()] for one in (before, after))
    if before.base is not after.base or was != now:
        return None
    changed = (level.id for level in after.tree.changed_since(before.tree))
    wrong = (problem.level_id for problem in after.problems)
    drawn = {*changed, *wrong, *marked, level_id}
    return {found for found in after.levels if found in drawn}


@bp.app_template_filter("element_id")
def element_id(record_id: str) -> str:
    """Return a level's id as part of the id of an element, which selectors can name; different ids stay different."""
    return NOT_IN_AN_ID.sub(lambda found: f"_{ord(found[0]):x}_", record_id)


def level_edits(form: Form, tree: TaxonomyTree) -> Sequence[Edit]:
    """Return the edits that a form requests. `edit` names the kind: level.add (parent, after, name: one level a line,
    nested by indentation or as ways), level.rename (level, name), level.change (level, name, description,
    and otherNames with commas between them), level.move (level, parent, and before or after for its place), level.up,
    .down, .indent, .outdent and .delete (level). Raises Invalid for any other."""
    read = _READERS.get(form.get("edit", ""))
    if read is None:
        raise Invalid.one("unknown_edit", "Unknown edit. Reload the page.", "#/edit")
    return read(form, tree)


def _add(form: Form, tree: TaxonomyTree) -> Sequence[Edit]:
    lines = level_lines(form.get("name", ""))
    if not lines:
        raise Invalid.one("name_missing", "A level needs a name.", "#/name")
    if len(lines) > MOST_AT_ONCE:
        message = f"At most {MOST_AT_ONCE} levels can be added at once; these are {len(lines):,}."
        raise Invalid.one("too_many", message, "#/name")
    parent_id, after_id = form.get("parent") or None, form.get("after") or None
    if len(lines) == len(lines[0].way) == 1:
        return [AddLevel(parent_id, lines[0].way[0], after_id)]
    return [AddLevels(parent_id, lines, after_id)]


def _rename(form: Form, tree: TaxonomyTree) -> Sequence[Edit]:
    level = tree.levels.get(form.get("level", ""))
    return [ChangeLevel(form.get("level", ""), form.get("name", ""), level.description if level else "")]


def _change(form: Form, tree: TaxonomyTree) -> Sequence[Edit]:
    other_names = split_list(form["otherNames"]) if "otherNames" in form else None
    return [ChangeLevel(form.get("level", ""), form.get("name", ""), form.get("description", ""), other_names)]


def _move(form: Form, tree: TaxonomyTree) -> Sequence[Edit]:
    """Return the edit that moves a level. `parent` blank is the top. Without a neighbour it becomes the last there."""
    level_id, parent_id = form.get("level", ""), form.get("parent") or None
    beside = [found for found in tree.siblings(parent_id) if found != level_id]
    position = len(beside)
    if (before := form.get("before")) in beside:
        position = beside.index(before or "")
    elif (after := form.get("after")) in beside:
        position = beside.index(after or "") + 1
    return [MoveLevel(level_id, parent_id, position)]


def _shift(direction: Direction) -> Callable[[Form, TaxonomyTree], Sequence[Edit]]:
    return lambda form, tree: [ShiftLevel(form.get("level", ""), direction)]


def _delete(form: Form, tree: TaxonomyTree) -> Sequence[Edit]:
    return [DeleteLevel(form.get("level", ""))]


_READERS: Mapping[str, Callable[[Form, TaxonomyTree], Sequence[Edit]]] = {
    "level.add": _add,
    "level.rename": _rename,
    "level.change": _change,
    "level.move": _move,
    "level.delete": _delete,
} | {f"level.{direction.value}": _shift(direction) for direction in Direction}

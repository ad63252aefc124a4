"""The editor's tree as its templates show it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from flask import url_for

from app.blueprints.admin.blueprint import bp
from app.domain.taxonomy.editor.drafts import Editing
from app.domain.taxonomy.editor.outline import Outline, OutlineChange, differences
from app.domain.taxonomy.levels.flat import branch, changed_levels, path
from app.domain.taxonomy.lifecycle.counts import products_by_level
from app.domain.taxonomy.taxonomies import is_active

NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9-]", re.ASCII)


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
        return Outline(self.editing.levels, self.editing.base, self.products, self.problems)

    @cached_property
    def problems(self) -> Counter[str]:
        """The number of problems of each level."""
        return Counter(problem.level_id for problem in self.editing.problems if problem.level_id)

    def since(self, before: Editing, marked: Collection[str]) -> OutlineChange:
        """Return the differences from the tree that a window shows. `marked` are the levels whose rows carry the sign
        of a problem there, so that the earlier problems need not be found anew."""
        change = differences(Outline(before.levels, before.base, self.products, {}), self.outline)
        signs = {*marked, *self.problems}.intersection(self.editing.levels).difference(change.changed)
        return replace(change, changed=[*change.changed, *signs])

    def is_open(self, level_id: str) -> bool:
        """Whether a level is open at first: in a small tree each is, in a large one those above the chosen level."""
        return level_id in self.opened or not self.outline.is_large


def shown_tree(editing: Editing, level_id: str | None, drawn: Collection[str] | None = None) -> ShownTree:
    """Return the tree to show. `drawn` are the levels of which the answer shows anything, None for all: products are
    counted only at these and below them."""
    taxonomy = editing.taxonomy
    counted = None if drawn is None else set(chain.from_iterable(branch(editing.levels, found) for found in drawn))
    products = products_by_level(taxonomy.site_id, counted) if is_active(taxonomy) else None
    address = url_for("admin.taxonomy_editor", taxonomy_id=taxonomy.id)
    way = path(editing.levels, level_id)[:-1] if level_id in editing.levels else ()
    return ShownTree(editing, products, address, level_id, frozenset(way))


def drawn_levels(before: Editing, after: Editing, level_id: str | None, marked: Collection[str]) -> set[str] | None:
    """Return the levels to draw anew after an edit; None for all, where levels were added, removed or moved."""
    was, now = ([(found, level["parentLevelId"]) for found, level in one.levels.items()] for one in (before, after))
    if before.base is not after.base or was != now:
        return None
    changed = (level["levelId"] for level in changed_levels(after.levels, before.levels))
    wrong = (problem.level_id for problem in after.problems)
    return {*changed, *wrong, *marked, level_id} & after.levels.keys()


@bp.app_template_filter("element_id")
def element_id(record_id: str) -> str:
    """Return a level's id as part of the id of an element, which selectors can name; different ids stay different."""
    return NOT_IN_AN_ID.sub(lambda found: f"_{ord(found[0]):x}_", record_id)

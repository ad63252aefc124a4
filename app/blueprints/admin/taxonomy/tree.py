"""The editor's tree as its templates show it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from flask import url_for

from app.blueprints.admin.blueprint import bp
from app.domain.taxonomy.editor.editing import Editing
from app.domain.taxonomy.editor.outline import Outline, OutlineChange, Row, differences, outline
from app.domain.taxonomy.life.counts import LevelCount, products_by_level
from app.domain.taxonomy.taxonomies import is_active

NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9-]", re.ASCII)


@dataclass
class ShownTree:
    """`editing` row by row. `products` are those at each level, None where the taxonomy is not in use; `address` is
    the editor's."""

    editing: Editing
    products: Mapping[str, int] | None
    address: str = ""
    level_id: str | None = None
    opened: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def outline(self) -> Outline:
        return outline(self.editing.levels, self.editing.base, self.products, self.problems)

    @cached_property
    def problems(self) -> Counter[str]:
        """How many each level has."""
        return Counter(problem.level_id for problem in self.editing.problems if problem.level_id)

    @cached_property
    def counts(self) -> dict[str, LevelCount]:
        """Empty unless the taxonomy is in use."""
        rows = self.outline.rows.values()
        return {row.level_id: LevelCount(row.direct or 0, row.rolled_up or 0) for row in rows if self._counted(row)}

    def _counted(self, row: Row) -> bool:
        return row.direct is not None

    def since(self, before: Editing, marked: Collection[str]) -> OutlineChange:
        """What differs from the tree that a window shows, in which the rows of `marked` levels carry the sign of a
        problem. So the problems from before need not be found anew."""
        shown, own = (outline(one.levels, one.base, self.products, {}) for one in (before, self.editing))
        change = differences(shown, own)
        told = set(change.changed)
        signs = [found for found in {*marked, *self.problems} if found in own.rows and found not in told]
        return replace(change, changed=[*change.changed, *signs])

    def is_open(self, level_id: str) -> bool:
        """Until somebody opens or closes it by hand: small trees whole, large ones along the way to the level."""
        return level_id in self.opened or not self.outline.is_large


def shown_tree(editing: Editing, level_id: str | None) -> ShownTree:
    taxonomy = editing.taxonomy
    products = products_by_level(taxonomy.site_id) if is_active(taxonomy) else None
    address = url_for("admin.taxonomy_editor", taxonomy_id=taxonomy.id)
    return ShownTree(editing, products, address, level_id, frozenset(_way(editing, level_id)))


def _way(editing: Editing, level_id: str | None) -> set[str]:
    found: set[str] = set()
    level = editing.levels.get(level_id) if level_id else None
    while level is not None and (above := level["parentLevelId"]) is not None:
        found.add(above)
        level = editing.levels[above]
    return found


@bp.app_template_filter("element_id")
def element_id(record_id: str) -> str:
    """An id of a level as part of an element's id that selectors can name. Different ones stay different."""
    return NOT_IN_AN_ID.sub(lambda found: f"_{ord(found[0]):x}_", record_id)

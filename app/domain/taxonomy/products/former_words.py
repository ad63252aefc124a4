"""The former words of values that were renamed lately. A save renames an allowed value at once, but products follow one
by one in the background, and a form may be older than both: the words that it sends are still understood."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select

from app.domain.shared.clock import Clock
from app.domain.taxonomy.levels.renamed_words import Renames, one_after_another
from app.domain.taxonomy.levels.renames import ValueRename
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.task_kinds import Kind
from app.domain.work.states import UNFINISHED, State
from app.extensions import db

UNDERSTOOD_FOR = timedelta(days=1)  # After the products have the new words: so old may a form be.


def rename_parameters(
    taxonomy_id: str, root_levels: Sequence[Mapping[str, Any]], renames: Iterable[ValueRename], now: datetime
) -> dict[str, Any]:
    """Return the parameters of the task by which products follow a save, with the tree that was saved and when."""
    renames, tree = list(renames), TaxonomyTree.parse(root_levels)
    governed = [
        {"levelId": level_id, "attributeId": attribute_id, "levelIds": tree.governed(level_id, attribute_id)}
        for level_id, attribute_id in dict.fromkeys((rename.level_id, rename.attribute_id) for rename in renames)
    ]
    as_json = [rename.as_json() for rename in renames]
    return {"taxonomyId": taxonomy_id, "renames": as_json, "governed": governed, "since": now.isoformat()}


def former_words(clock: Clock, site_id: int, taxonomy_id: str | None) -> Renames:
    """Return the former words of values whose rename on products is unfinished, failed (products hold them until
    someone has it go on) or ended within UNDERSTOOD_FOR. One statement."""
    recent = TaxonomyTask.finished_at > clock.now() - UNDERSTOOD_FOR
    query = select(TaxonomyTask.parameters).where(
        TaxonomyTask.site_id == site_id,
        TaxonomyTask.kind == Kind.RENAME_VALUES.value,
        or_(TaxonomyTask.state.in_((*UNFINISHED, State.FAILED)), recent),
    )
    in_order = db.session.scalars(query.order_by(TaxonomyTask.created_at, TaxonomyTask.id))
    return one_after_another(found for found in in_order if found["taxonomyId"] == taxonomy_id)


def with_former_words(clock: Clock, site_id: int, taxonomy_id: str | None, tree: TaxonomyTree) -> TaxonomyTree:
    """Return the tree with the former words of its values, for classifying products or for a preview of that."""
    words = former_words(clock, site_id, taxonomy_id)
    return tree.knowing(words) if words else tree

"""Recompute the completeness of every product after a change of what must be known about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Select, false, select, update

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.taxonomy.levels.completeness import completeness
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.report import count
from app.extensions import db


def candidates(task: Task) -> Select[int]:
    """Select all products of the site, or none without an active taxonomy: each keeps its completeness then."""
    every = select(Product.id).where(Product.site_id == task.site_id)
    return every.where(false()) if task.taxonomy_id is None else every


def change(batch: Batch) -> None:
    """Store the scores that changed. The index does not hold the score, so it needs no update; nor does a user edit it,
    so the revisions stay."""
    changed = [{"id": product_id, "completeness_score": score} for product_id, score in _other_scores(batch)]
    if changed:
        db.session.execute(update(Product), changed, execution_options=INDEXED_SEPARATELY)
    count(batch.report, "changed", len(changed))
    count(batch.report, "unchanged", len(batch.ids) - len(changed))


def _other_scores(batch: Batch) -> Iterator[tuple[int, int | None]]:
    columns = Product.id, Product.taxonomy_level_id, Product.taxonomy_attributes, Product.completeness_score
    query = select(*columns).where(Product.id.in_(batch.ids)).order_by(Product.id)
    for product_id, level_id, values, known in db.session.execute(query.with_for_update()):
        score = _score(batch.task, level_id, values)
        if score != known:
            yield product_id, score


def _score(task: Task, level_id: str | None, values: dict[str, Any]) -> int | None:
    if level_id is None or level_id not in task.tree.levels:
        return None
    return completeness(task.tree.applicable_attributes(level_id), values)

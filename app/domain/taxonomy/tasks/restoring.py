"""The restoring of classifications that were archived when another taxonomy became active."""

from __future__ import annotations

from sqlalchemy import Select, select

from app.domain.catalogue.models import Product
from app.domain.taxonomy.products.archive import restored
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.report import count, note_loss


def candidates(task: Task) -> Select[int]:
    """Select the products without a level that have an archived classification. Those that were classified since keep
    both."""
    unclassified = Product.site_id == task.site_id, Product.taxonomy_level_id.is_(None)
    return select(Product.id).where(*unclassified, Product.archived_taxonomy_data.is_not(None))


def change(batch: Batch) -> None:
    """Restore the level and values that fit the active taxonomy to the products. What does not fit stays in the slot,
    so nothing is lost."""
    task = batch.task
    names = {key: definitions[0].name for key, definitions in task.tree.attributes_by_id().items()}
    changed = []
    for product in batch.products():
        found = restored(task.tree, product.archived_taxonomy_data or {})
        if found is None or product.taxonomy_level_id is not None:
            count(batch.report, "skipped")
            continue
        product.taxonomy_level_id, product.taxonomy_attributes = found.level_id, found.values
        product.completeness_score, product.archived_taxonomy_data = found.score, found.left
        note_loss(batch.report, "dropped", (product.id, product.sku), found.left_values, names)
        changed.append(product)
    batch.note_changed(changed)
    count(batch.report, "changed", len(changed))

"""Undo of what a task changed about many products: the request for its task, and its work.

A task keeps the classification that each product had before in its report, as far as that is bounded. Undoing is a task
like others, and is undone in turn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Select, select

from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.paging import batched
from app.domain.shared.problems import Conflict
from app.domain.shared.records import find_record
from app.domain.taxonomy.models import Kind, TaxonomyTask
from app.domain.taxonomy.products.classification import classification, values_held
from app.domain.taxonomy.tasks import queue
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.befores import Before, befores_of, can_be_undone, digest, why_not_undone
from app.domain.taxonomy.tasks.summary import add_count, numbered_products, title_of
from app.domain.taxonomy.taxonomies import active_taxonomy
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

MOST_NAMED = 3  # Products, in the reason of a refusal.


def undo(author: Author, task_id: str) -> TaxonomyTask:
    """Request the task that undoes another, and return it. Call it in a transaction. Raises NotFound, and Conflict with
    the reason where the task cannot be undone: it is too large, another taxonomy is active, or products were classified
    anew since."""
    undone = queue.task_of(author.site_id, task_id, to_change=True)
    if reason := why_not_undone(undone):
        raise Conflict(reason)
    taxonomy = active_taxonomy(author.site_id)
    if taxonomy is None or taxonomy.id != undone.parameters.get("taxonomyId"):
        raise Conflict("This cannot be undone: another taxonomy is active now.")
    if changed := _changed_since(author.site_id, befores_of(undone)):
        named = ", ".join(changed[:MOST_NAMED]) + (" …" if len(changed) > MOST_NAMED else "")
        were = "was" if len(changed) == 1 else "were"
        raise Conflict(
            f"This cannot be undone: {numbered_products(len(changed))} {were} classified anew since ({named}). Change "
            "what is to be otherwise on the products."
        )
    parameters = {"taxonomyId": taxonomy.id, "taskId": undone.id, "undone": title_of(undone)}
    made = queue.request(author, Kind.UNDO, parameters)
    undone.report = undone.report | {"undoneBy": made.id}
    return made


def undoable_tasks(site_id: int, task_ids: Collection[str]) -> set[str]:
    """Return those of the tasks for which undo is offered."""
    tasks = select(TaxonomyTask).where(TaxonomyTask.site_id == site_id, TaxonomyTask.id.in_(task_ids))
    return {task.id for task in db.session.scalars(tasks) if can_be_undone(task)}


def _changed_since(site_id: int, befores: Mapping[int, Before]) -> list[str]:
    """Return the SKUs of the products that are not as the task left them; those that are gone need nothing."""
    columns = select(Product.id, Product.sku, Product.taxonomy_level_id, Product.taxonomy_attributes)
    found = []
    for ids in batched(sorted(befores)):
        rows = db.session.execute(columns.where(Product.site_id == site_id, Product.id.in_(ids)).order_by(Product.id))
        found += [sku for id, sku, level_id, values in rows if digest(level_id, values) != befores[id].after]
    return found


def undo_candidates(task: Task) -> Select[int]:
    return select(Product.id).where(Product.site_id == task.site_id, Product.id.in_(sorted(_befores(task))))


def undo_batch(batch: Batch) -> None:
    """Give the products the level and the values that they had. One that was classified anew since the request, or
    whose level is gone, is left as it is; a value that the taxonomy does not take any more is dropped and reported."""
    tree, befores = batch.task.tree, _befores(batch.task)
    names, changed = tree.attribute_names(), []
    for product in batch.products():
        before = befores[product.id]
        is_as_left = digest(product.taxonomy_level_id, product.taxonomy_attributes) == before.after
        if not is_as_left or (before.level_id is not None and before.level_id not in tree.levels):
            add_count(batch.report, "skipped")
            continue
        batch.keep_before(product)
        batch.note_loss("dropped", product, _bring_back(product, before, tree), names)
        changed.append(product)
    batch.note_changed(changed)
    add_count(batch.report, "changed", len(changed))


def _bring_back(product: Product, before: Before, tree: TaxonomyTree) -> dict[str, Any]:
    """Give a product its earlier classification, and return the values that the taxonomy does not take any more."""
    product.taxonomy_level_id = before.level_id
    if before.level_id is None:
        product.taxonomy_attributes, product.completeness_score = dict(before.values), None
        return {}
    found = classification(tree, before.level_id, values_held(tree, before.level_id, before.values))
    product.taxonomy_attributes, product.completeness_score = found.values, found.score
    return {dropped.attribute_id: dropped.value for dropped in found.dropped}


def _befores(task: Task) -> Mapping[int, Before]:
    undone = find_record(TaxonomyTask, task.site_id, task.parameters["taskId"])
    return befores_of(undone) if undone is not None else {}

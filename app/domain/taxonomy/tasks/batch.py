"""A batch of a task's products, what each kind of task implements, and the values that products lose by it.

Lost values are kept whole in the activity log: an entry for each batch, in the transaction in which it happened. So a
mistake with thousands of products can be fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.paging import batched
from app.domain.shared.records import find_record
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry
from app.domain.taxonomy.models import Kind, TaxonomyTask
from app.domain.taxonomy.products.classification import index_values
from app.domain.taxonomy.tasks.befores import Before, digest, keep
from app.domain.taxonomy.tasks.summary import TITLES, Report, note_loss, numbered_products, only_replaces
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

TASK_SUBJECT = "taxonomy_task"
MOST_NAMED = 3  # Attributes, in the summary.
Loss = Mapping[str, Any]  # `productId`, `sku`, `name` and `values`, by attribute id.


@dataclass(frozen=True, slots=True)
class Task:
    """The subject of a task. `taxonomy_id` and `tree` are the active taxonomy as it is now: the one for which the task
    was requested, where its `parameters` name one (`taxonomyId`); under another nothing is done."""

    site_id: int
    parameters: Mapping[str, Any]
    taxonomy_id: str | None
    tree: TaxonomyTree


@dataclass(frozen=True, slots=True)
class Batch:
    """Products by id, in ascending order. What is done with them is gathered in `report`, and in `lost` every value
    that one of them lost, whole."""

    task: Task
    ids: Sequence[int]
    report: Report
    now: datetime
    lost: list[dict[str, Any]] = field(default_factory=list)
    _befores: dict[int, tuple[str | None, Mapping[str, Any]]] = field(default_factory=dict)

    def keep_before(self, product: Product) -> None:
        """Keep the classification of a product that is about to change, so that the task can be undone."""
        self._befores[product.id] = product.taxonomy_level_id, product.taxonomy_attributes

    def note_loss(self, kind: str, product: Product, values: Mapping[str, Any], names: Mapping[str, str]) -> None:
        """Note values that a product lost. `kind` is `dropped` or `replaced`, `names` has those of the attributes."""
        note_loss(self.report, kind, (product.id, product.sku), values, names)
        if values:
            named = {"productId": product.id, "sku": product.sku, "name": product.name}
            self.lost.append(named | {"values": dict(values)})

    def products(self) -> list[Product]:
        """Return the products, locked until the transaction ends."""
        query = select(Product).where(Product.id.in_(self.ids)).order_by(Product.id)
        return list(db.session.scalars(query.with_for_update()))

    def note_changed(self, products: Sequence[Product]) -> None:
        """Note that the products' classification changed: counted values follow, and forms that show the old one are
        stale."""
        for product in products:
            product.revision += 1
            product.updated_at = self.now
            if product.id in self._befores:
                after = digest(product.taxonomy_level_id, product.taxonomy_attributes)
                keep(self.report, product.id, Before(*self._befores[product.id], after))
        index_values(products)  # Last, since it flushes: a product is written, and indexed once.


@dataclass(frozen=True, slots=True)
class Work:
    """The implementation of a kind of task. `candidates` selects the ids of a task's products, in any order: all that
    are not dealt with yet must be among them. `change` deals with a batch of them; it may be handed products that need
    nothing. Raises DomainError, which ends the task."""

    candidates: Callable[[Task], Select[int]]
    change: Callable[[Batch], None]


@dataclass(frozen=True, slots=True)
class LostValue:
    """A value that a product lost. The names are those of that time; of a loss that an earlier version kept without
    names, they are those that the product and the task have now, empty where those are gone."""

    product_id: int
    product_name: str
    sku: str
    attribute_id: str
    attribute_name: str
    value: Any


def keep_lost_values(clock: Clock, task: TaxonomyTask, lost: Sequence[Loss]) -> None:
    """Keep the lost values of a batch in the activity log; nothing for a batch that lost nothing."""
    if not lost:
        return
    happened = "had values replaced of" if only_replaces(task.kind, task.parameters) else "lost values of"
    what = f"{TITLES[Kind(task.kind)]}: {numbered_products(len(lost))} {happened} {_list_attributes(task, lost)}"
    subject = (TASK_SUBJECT, task.id)
    names = _attribute_names(task)
    named = {key: names[key] for one in lost for key in one["values"] if key in names}
    before = {"lost": list(lost), "names": named}
    activity.record(Author(task.site_id, task.requested_by, clock), activity.LOST_VALUES, subject, what, before=before)


def _list_attributes(task: TaxonomyTask, lost: Sequence[Loss]) -> str:
    names = _attribute_names(task)
    found = [names.get(key, key) for key in dict.fromkeys(key for one in lost for key in one["values"])]
    more = len(found) - MOST_NAMED
    rest = f" and {more} more attribute{'s' if more > 1 else ''}" if more > 0 else ""
    return ", ".join(found[:MOST_NAMED]) + rest


def _attribute_names(task: TaxonomyTask | None) -> dict[str, str]:
    """Return the names of the attributes that the task has met, by their ids."""
    return dict(task.report.get("names", {})) if task else {}


def count_loss_entries(site_id: int, task_id: str) -> int:
    """Return the number of log entries with values that products lost by a task: 0 also for a task of another site."""
    return db.session.scalar(select(func.count()).select_from(AuditEntry).where(*_of_task(site_id, task_id))) or 0


def lost_values(site_id: int, task_id: str) -> Iterator[list[LostValue]]:
    """Yield the lost values of a task batch by batch, as long as the log keeps them."""
    of_task = _attribute_names(find_record(TaxonomyTask, site_id, task_id))
    for entry_id in db.session.scalars(
        select(AuditEntry.id).where(*_of_task(site_id, task_id)).order_by(AuditEntry.id)
    ):
        found = db.session.scalar(select(AuditEntry.before).where(AuditEntry.id == entry_id)) or {}
        yield _with_names(site_id, found.get("lost", ()), of_task | found.get("names", {}))


def _with_names(site_id: int, lost: Sequence[Loss], attributes: Mapping[str, str]) -> list[LostValue]:
    nameless = [one["productId"] for one in lost if "name" not in one]
    named = select(Product.id, Product.name).where(Product.site_id == site_id)
    product_names: dict[int, str] = {}
    for ids in batched(nameless):
        product_names |= {id: name for id, name in db.session.execute(named.where(Product.id.in_(ids)))}
    return [
        LostValue(
            one["productId"],
            one["name"] if "name" in one else product_names.get(one["productId"], ""),
            one["sku"],
            attribute_id,
            attributes.get(attribute_id, ""),
            value,
        )
        for one in lost
        for attribute_id, value in one["values"].items()
    ]


def _of_task(site_id: int, task_id: str) -> tuple[Any, ...]:
    return (
        AuditEntry.site_id == site_id,
        AuditEntry.subject_type == TASK_SUBJECT,
        AuditEntry.subject_id == task_id,
        AuditEntry.action == activity.LOST_VALUES,
    )

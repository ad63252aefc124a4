"""A batch of a task's products, and what each kind of task implements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from app.domain.catalogue.models import Product
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.products.classification import index_values
from app.domain.taxonomy.tasks.report import Report, note_loss
from app.extensions import db


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
        index_values(products)  # Last, since it flushes: a product is written, and indexed once.


@dataclass(frozen=True, slots=True)
class Work:
    """The implementation of a kind of task. `candidates` selects the ids of a task's products, in any order: all that
    are not dealt with yet must be among them. `change` deals with a batch of them; it may be handed products that need
    nothing. Raises DomainError, which ends the task."""

    candidates: Callable[[Task], Select[int]]
    change: Callable[[Batch], None]

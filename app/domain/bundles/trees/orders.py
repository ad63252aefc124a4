"""The products that categories show first: placed by hand, in the order of the bundle."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Table, delete, insert, select

from app.domain.bundles.products.known import ids_by_sku
from app.domain.bundles.reading import Document
from app.domain.bundles.task import ImportTask
from app.domain.bundles.trees.importing import FILE, PARTS, RequestedOrder
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.merchandising.models import Node, Placement
from app.domain.search.index.outbox import PRODUCT, enqueue
from app.domain.shared.problems import Problem
from app.extensions import db

KIND = "orders of categories"
PLACEMENTS: Table = Placement.__table__  # type: ignore[assignment]


def import_orders(task: ImportTask, orders: Sequence[RequestedOrder]) -> None:
    """Place the products of the categories by hand, in the order of the bundle. A SKU that the shop does not have is
    reported and left out."""
    document = task.documents.get(FILE)
    if document is None or not orders:
        return
    task.report.of(KIND)
    with task.writing():
        for order in orders:
            _import_order(task, document, order)


def _import_order(task: ImportTask, document: Document, order: RequestedOrder) -> None:
    skus = list(dict.fromkeys(order.skus))
    ids = ids_by_sku(task, skus)
    for index, sku in enumerate(order.skus):
        if sku not in ids:
            message = f"The shop has no product with the SKU “{sku[:80]}”."
            task.refuse(PARTS, document, [Problem("unknown_sku", message, f"{order.at}/{index}")])
    wanted = [sku for sku in skus if sku in ids]
    stored = _stored_order(order.node_id)
    counts = task.report.of(KIND)
    if wanted == list(stored):
        counts.note("unchanged", order.path)
        return
    counts.note("changed", order.path)
    if not task.dry_run and order.node_id is not None:
        _write(task, order.node_id, [ids[sku] for sku in wanted], list(stored.values()))


def _stored_order(node_id: int | None) -> dict[str, int]:
    """Ids of the placed products by SKU, in their order."""
    query = (
        select(Product.sku, Product.id)
        .join(Placement, Placement.product_id == Product.id)
        .where(Placement.node_id == node_id)
        .order_by(Placement.position, Product.id)
    )
    return dict(db.session.execute(query).all())


def _write(task: ImportTask, node_id: int, product_ids: Sequence[int], before: Sequence[int]) -> None:
    removal = delete(PLACEMENTS).where(PLACEMENTS.c.node_id == node_id)
    db.session.execute(removal, execution_options=INDEXED_SEPARATELY)
    rows = [
        {"node_id": node_id, "product_id": product_id, "site_id": task.site_id, "position": position}
        for position, product_id in enumerate(product_ids)
    ]
    if rows:
        db.session.execute(insert(PLACEMENTS), rows, execution_options=INDEXED_SEPARATELY)
    node = db.session.get_one(Node, node_id)
    node.updated_at = task.clock.now()
    node.revision += 1
    enqueue(db.session, task.site_id, PRODUCT, {*product_ids, *before})

"""Products that miss mandatory attributes, by level, with inputs for only what is missing. The list goes by the
completeness that is stored with each product, the inputs by the product's values as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, func, select

from app.domain.catalogue.models import Product
from app.domain.shared.paging import Paged
from app.domain.taxonomy.products.panel import AttributeInput, Texts, path_label, product_panel, stored_texts
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

PAGE_SIZE = 20
MOST_LEVELS_AT_ONCE = 120  # Beyond these only the chosen branch is open.


class WorkOrder(StrEnum):
    """The order of the worklist. CHANGED puts the latest change first."""

    NAME = "name"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class LevelWork:
    """A level with the number of incomplete products at and below it; `depth` counts from 0 at the roots."""

    id: str
    name: str
    depth: int
    incomplete: int


@dataclass(frozen=True, slots=True)
class WorklistSummary:
    """The incomplete products of a site in numbers. `levels` are those with incomplete products at or below them, in
    tree order; of very many, the topmost and those directly below a level on the path to the chosen one. `gone` are
    products whose level the taxonomy no longer has."""

    levels: Sequence[LevelWork]
    incomplete: int
    unclassified: int
    gone: int


@dataclass(frozen=True, slots=True)
class WorkRow:
    """A product and the inputs for the attributes that it misses; without inputs where its stored completeness is out
    of date."""

    id: int
    name: str
    sku: str
    enabled: bool
    revision: int
    level: str
    score: int | None
    updated_at: datetime
    inputs: Sequence[AttributeInput]


def work_summary(site_id: int, tree: TaxonomyTree, level_id: str = "") -> WorklistSummary:
    """Return the summary of the worklist, in two statements, whatever the size of the catalogue. `level_id` is the
    level that is looked at."""
    of_site, level = Product.site_id == site_id, Product.taxonomy_level_id
    products = _count_by_level(select(level, func.count()).where(of_site).group_by(level))
    incomplete = _count_by_level(select(level, func.count()).where(of_site, _is_incomplete()).group_by(level))
    return WorklistSummary(
        levels=_levels_to_show(tree, tree.rolled_up(incomplete), level_id),
        incomplete=sum(incomplete.values()),
        unclassified=products.get(None, 0),
        gone=sum(count for level_id, count in products.items() if level_id and level_id not in tree.levels),
    )


def incomplete_products(site_id: int) -> int:
    """Return the number of products that miss mandatory values by their stored completeness."""
    query = select(func.count()).select_from(Product).where(Product.site_id == site_id, _is_incomplete())
    return db.session.scalar(query) or 0


def products_without_level(site_id: int) -> int:
    query = select(func.count()).where(Product.site_id == site_id, Product.taxonomy_level_id.is_(None))
    return db.session.scalar(query) or 0


def work_rows(site_id: int, tree: TaxonomyTree, level_id: str, order: WorkOrder, page: int) -> Paged[WorkRow]:
    """Return the incomplete products of a level and those below it, or of all levels for none; an unknown level has
    none."""
    at_level = [Product.taxonomy_level_id.in_(tree.below(level_id))] if level_id else []
    conditions = (Product.site_id == site_id, _is_incomplete(), *at_level)
    total = db.session.scalar(select(func.count()).select_from(Product).where(*conditions)) or 0
    orders = {WorkOrder.NAME: (Product.name, Product.id), WorkOrder.CHANGED: (Product.updated_at.desc(), Product.id)}
    ids = select(Product.id).where(*conditions).order_by(*orders[order]).limit(PAGE_SIZE)
    shown = _COLUMNS.where(Product.id.in_(ids.offset((page - 1) * PAGE_SIZE))).order_by(*orders[order])
    return Paged([_read_row(row, tree, {}) for row in db.session.execute(shown)], page, PAGE_SIZE, total)


def work_row(site_id: int, tree: TaxonomyTree, product_id: int, typed: Texts) -> WorkRow | None:
    """Return one row again, with what was typed in place of what is stored; None when the product is gone."""
    found = db.session.execute(_COLUMNS.where(Product.site_id == site_id, Product.id == product_id)).one_or_none()
    return None if found is None else _read_row(found, tree, typed)


_COLUMNS = select(
    Product.id,
    Product.name,
    Product.sku,
    Product.enabled,
    Product.revision,
    Product.taxonomy_level_id,
    Product.taxonomy_attributes,
    Product.completeness_score,
    Product.updated_at,
)


def _is_incomplete() -> ColumnElement[bool]:
    return Product.completeness_score < 100


def _count_by_level(query: Any) -> dict[str | None, int]:
    return {level_id: count for level_id, count in db.session.execute(query)}


def _levels_to_show(tree: TaxonomyTree, incomplete: Mapping[str, int], level_id: str) -> list[LevelWork]:
    busy = [level for level in tree.levels.values() if incomplete[level.id]]
    if len(busy) > MOST_LEVELS_AT_ONCE:
        open_ids = {None, *tree.path_ids(level_id)}
        busy = [level for level in busy if level.parent_id in open_ids]
    return [LevelWork(level.id, level.name, len(tree.path(level.id)) - 1, incomplete[level.id]) for level in busy]


def _read_row(row: Any, tree: TaxonomyTree, typed: Texts) -> WorkRow:
    level_id = row.taxonomy_level_id or ""
    stored = product_panel(tree, level_id, stored_texts(row.taxonomy_attributes))
    shown = product_panel(tree, level_id, {**stored_texts(row.taxonomy_attributes), **typed})
    wanted: Collection[str] = {one.attribute.id for one in stored.missing} | set(typed)
    return WorkRow(
        id=row.id,
        name=row.name,
        sku=row.sku,
        enabled=row.enabled,
        revision=row.revision,
        level=path_label(tree, level_id),
        score=stored.score,
        updated_at=row.updated_at,
        inputs=[one for one in shown.inputs if one.attribute.id in wanted],
    )

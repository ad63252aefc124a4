"""The list of what was learned: searches, the products that each moves up, and the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.relevance.learning import learning_mode
from app.domain.relevance.models import ForgottenWord, LearnedWord
from app.domain.search.ranking.learning import LearnedLevel, LearnedProduct
from app.domain.search.serving.configuration import serving_state
from app.domain.search.serving.plan import LearningMode, search_of_json
from app.domain.shared.clock import rfc3339
from app.domain.shared.paging import Paged, batched
from app.domain.shared.records import containing
from app.domain.shared.text import numbered
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class MovedProduct:
    """A product that a search moves up. `name` and `sku` are None where it is gone."""

    learned: LearnedProduct
    sku: str | None
    name: str | None

    @property
    def percent(self) -> int:
        return percent(self.learned.factor)


@dataclass(frozen=True, slots=True)
class MovedLevel:
    learned: LearnedLevel
    name: str

    @property
    def percent(self) -> int:
        return percent(self.learned.factor)


@dataclass(frozen=True, slots=True)
class LearnedRow:
    word: str
    opens: int
    products: tuple[MovedProduct, ...]
    levels: tuple[MovedLevel, ...]

    @property
    def evidence(self) -> str:
        """Describe the opens and purchases of the products moved up, or the opens of a level where none are."""
        bought = sum(product.learned.bought for product in self.products)
        opens = sum(product.learned.opens for product in self.products) or max(
            (level.learned.opens for level in self.levels), default=0
        )
        opened = numbered(opens, "open")
        return f"{opened}, {bought:,} bought" if bought else opened


@dataclass(frozen=True, slots=True)
class LearningState:
    """The state of learning. `searches` is how many taught something and `learned_at` when they were last learned, None
    for none; `since` is when shoppers were first served it, None while they are not."""

    mode: LearningMode
    searches: int
    learned_at: datetime | None
    since: datetime | None
    forgotten: tuple[ForgottenWord, ...] = ()


def percent(factor: float) -> int:
    """Return by how many per cent a factor raises a score, at least 1."""
    return max(1, round(100 * (factor - 1)))


def learning_state(site_id: int) -> LearningState:
    rows = select(func.count(), func.max(LearnedWord.learned_at)).where(LearnedWord.site_id == site_id)
    searches, learned_at = db.session.execute(rows).one()
    forgotten = select(ForgottenWord).where(ForgottenWord.site_id == site_id)
    served = serving_state(site_id)
    return LearningState(
        learning_mode(site_id),
        searches,
        learned_at,
        served.learning_since if served else None,
        tuple(db.session.scalars(forgotten.order_by(ForgottenWord.forgotten_at.desc(), ForgottenWord.word))),
    )


def learned_rows(site_id: int, page: int = 1, contains: str = "") -> Paged[LearnedRow]:
    """Return a page of what was learned, the searches with the most evidence first."""
    query = select(LearnedWord).where(LearnedWord.site_id == site_id)
    if contains.strip():
        query = query.where(containing(LearnedWord.word, contains))
    total = db.session.scalar(query.with_only_columns(func.count())) or 0
    ordered = query.order_by(LearnedWord.opens.desc(), LearnedWord.word)
    rows = db.session.scalars(ordered.limit(PAGE_SIZE).offset((max(page, 1) - 1) * PAGE_SIZE)).all()
    return Paged(tuple(_moved_rows(site_id, rows)), page, PAGE_SIZE, total)


def _moved_rows(site_id: int, rows: Sequence[LearnedWord]) -> list[LearnedRow]:
    lessons = [search_of_json(row.learned) for row in rows]
    products = _product_names(site_id, {one.product_id for lesson in lessons for one in lesson.products})
    tree = active_tree(site_id)
    found = []
    for row, lesson in zip(rows, lessons, strict=True):
        moved = (MovedProduct(one, *products.get(one.product_id, (None, None))) for one in lesson.products)
        levels = (MovedLevel(one, level.name) for one in lesson.levels if (level := tree.levels.get(one.level_id)))
        found.append(LearnedRow(row.word, row.opens, tuple(moved), tuple(levels)))
    return found


def _product_names(site_id: int, ids: Iterable[int]) -> Mapping[int, tuple[str, str]]:
    query = select(Product.id, Product.sku, Product.name).where(Product.site_id == site_id)
    return {
        id: (sku, name)
        for some in batched(sorted(ids))
        for id, sku, name in db.session.execute(query.where(Product.id.in_(some)))
    }


def as_json(state: LearningState, rows: Paged[LearnedRow]) -> dict[str, Any]:
    return state_json(state) | {"totalItems": rows.total_items, "searches": [_row_json(row) for row in rows.items]}


def state_json(state: LearningState) -> dict[str, Any]:
    return {
        "mode": state.mode.value,
        "servedSince": rfc3339(state.since) if state.since else None,
        "learnedAt": rfc3339(state.learned_at) if state.learned_at else None,
        "forgotten": [{"query": row.word or None, "through": row.through.isoformat()} for row in state.forgotten],
    }


def _row_json(row: LearnedRow) -> dict[str, Any]:
    products = [
        {
            "id": str(one.learned.product_id),
            "sku": one.sku,
            "name": one.name,
            "factor": one.learned.factor,
            "opens": one.learned.opens,
            "bought": one.learned.bought,
        }
        for one in row.products
    ]
    levels = [
        {"id": one.learned.level_id, "name": one.name, "factor": one.learned.factor, "opens": one.learned.opens}
        for one in row.levels
    ]
    return {"query": row.word, "opens": row.opens, "products": products, "levels": levels}

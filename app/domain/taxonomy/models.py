"""Tables of a taxonomy: its tree as one document saved whole, its earlier revisions, unsaved drafts, and the work on
products that follows from it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    String,
    Text,
    cast,
    type_coerce,
)
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.sites.models import ShopConfiguration
from app.domain.taxonomy.stored_tree import read_stored, write_stored
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base


class LevelsValue(TypeDecorator[list[dict[str, Any]]]):
    """A tree in the stored form: JSON that is read as text, since one that was read before need not be decoded. SQLite
    gives back the text that was written; PostgreSQL one of its own."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(JsonValue.dialect_impl(dialect))

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        return type_coerce(cast(column, Text), self)

    def bind_processor(self, dialect: Dialect) -> Any:
        if dialect.name != "sqlite":
            return super().bind_processor(dialect)
        return lambda levels: None if levels is None else write_stored(levels)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        return lambda text: None if text is None else read_stored(text)


class Taxonomy(Base, ShopConfiguration):
    """A taxonomy of a site. The site setting `taxonomy-active-id` names the active one. `root_levels` is the tree as
    JSON, in the specification's field names; app/domain/taxonomy/tree.py reads it. `rebuild_needed_at` is the latest
    save that the index of products gets to know by a rebuild which begins after it."""

    __tablename__ = "taxonomies"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[str] = mapped_column(String(120), primary_key=True)
    catalogue_id: Mapped[str] = mapped_column(String(120))
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")
    root_levels: Mapped[list[dict[str, Any]]] = mapped_column(LevelsValue, default=list)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    rebuild_needed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    @property
    def tree(self) -> TaxonomyTree:
        return TaxonomyTree.parse(self.root_levels)


class TaxonomyRevision(Base):
    """A taxonomy as it was after one save: the change log, and what an unsaved draft is based on. `changes` are the
    sentences on what differs from the revision before; `renames` are the values that this save gave another name
    (ValueRename as JSON), by which words of earlier revisions can be followed."""

    __tablename__ = "taxonomy_revisions"
    __table_args__ = (
        ForeignKeyConstraint(("site_id", "taxonomy_id"), ("taxonomies.site_id", "taxonomies.id"), ondelete="CASCADE"),
    )

    site_id: Mapped[int] = mapped_column(primary_key=True)
    taxonomy_id: Mapped[str] = mapped_column(String(120), primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")
    root_levels: Mapped[list[dict[str, Any]]] = mapped_column(LevelsValue, default=list)
    changes: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    renames: Mapped[list[dict[str, str]]] = mapped_column(JsonValue, default=list)
    note: Mapped[str] = mapped_column(String(500), default="")
    saved_by: Mapped[str] = mapped_column(String(100))
    saved_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def tree(self) -> TaxonomyTree:
        return TaxonomyTree.parse(self.root_levels)


class TaxonomyDraft(Base):
    """The changes in the editor that one user has not saved. `steps` are the edits in order, of which the first
    `applied` hold and the others can be done again; app/domain/taxonomy/editor/steps.py says what a step is. `version`
    rises with every change of the draft."""

    __tablename__ = "taxonomy_drafts"
    __table_args__ = (
        ForeignKeyConstraint(("site_id", "taxonomy_id"), ("taxonomies.site_id", "taxonomies.id"), ondelete="CASCADE"),
    )

    site_id: Mapped[int] = mapped_column(primary_key=True)
    taxonomy_id: Mapped[str] = mapped_column(String(120), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    base_revision: Mapped[int]
    steps: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    applied: Mapped[int] = mapped_column(default=0)
    version: Mapped[int] = mapped_column(default=1)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Kind(StrEnum):
    """The change that a task makes to each of its products, and its `parameters`:

    - RECOMPUTE: its completeness by the active taxonomy. None.
    - RENAME_VALUES: other words for values that it holds. `taxonomyId`, `since` (when that was saved), and `renames`
      and `governed` (app/domain/taxonomy/renames.py).
    - ASSIGN_LEVEL: another level; values that do not hold there are dropped. `levelId`, and which products.
    - ASSIGN_VALUE: the value of one attribute. `attributeId`, `value`, `way`, and which products.
    - RESTORE: the classification that was archived when another taxonomy became active.
    - UNDO: the classification that products had before another task. `taskId`, and its title as `undone`.

    Which products, that is `products`, a list of ids, or `filter`, the query of a list of products, with `upTo`, the
    highest id that there was.
    """

    RECOMPUTE = "RECOMPUTE"
    RENAME_VALUES = "RENAME_VALUES"
    ASSIGN_LEVEL = "ASSIGN_LEVEL"
    ASSIGN_VALUE = "ASSIGN_VALUE"
    RESTORE = "RESTORE"
    UNDO = "UNDO"


class TaxonomyTask(LeasedWork, Base):
    """Work on many products that goes on in the background, batch by batch. `reached` is the id of the last product
    that was dealt with; it moves in the transaction of its batch, so a worker that dies loses and repeats nothing.
    `refused_since` is when the database first refused the next batch, None while it takes them. What `parameters` and
    `report` hold depends on `kind`."""

    __tablename__ = "taxonomy_tasks"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        Index(None, "state"),
        state_known(),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    parameters: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    reached: Mapped[int] = mapped_column(default=0)
    report: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    refused_since: Mapped[datetime | None] = mapped_column(UtcDateTime)

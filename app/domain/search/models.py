"""Tables of search: the outbox, the rebuilds, what reconciliation found, job slots, and the served configuration."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, Integer, String, Text, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base


class OutboxEntry(Base):
    """The request to index one record, written in the transaction that changed it.

    It stays until the change is durable in the live index and no rebuild that may have missed it runs;
    `applied_at` marks one that only waits for such a rebuild. `attempts` above 0 sets one aside: its record could
    not be indexed while others could, for the reason in `error`. Nothing relies on the order of ids, since rows
    can commit out of it.
    """

    __tablename__ = "index_outbox"
    __table_args__ = (
        Index(None, "site_id", "applied_at", "id"),
        Index(
            "ix_index_outbox_unapplied",
            "site_id",
            "attempts",
            "id",
            sqlite_where=text("applied_at is null"),
            postgresql_where=text("applied_at is null"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(16))
    record_id: Mapped[int] = mapped_column(Integer)
    attempts: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, default=func.now())
    applied_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class RebuildRun(LeasedWork, Base):
    """One rebuild. At most one per site is unfinished, so its claim is the right to build the site's indexes: only the
    holder of the latest fence whose lease has not run out may publish. `done` and `total` count documents.

    `generations` names, by index, the generation that was live before the swap and the one that replaced it:
    `{"products": {"before": "gen-3", "after": "gen-4"}}`; "after" is missing until the swap is known to be done.
    `taxonomy_id` is the taxonomy that was active when it began; `blocked`: its index failed golden searches or a
    judgement list.
    `for_model` names the sentence model for whose vectors the shop itself requested the run, made or not.
    `queued_scope` is rebuilt right after this run: what it does not bring of the request with which `queued_by` joined.
    """

    __tablename__ = "rebuild_runs"
    queue = "builds"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        Index(
            "uq_rebuild_runs_unfinished",
            "site_id",
            unique=True,
            sqlite_where=text("state in ('waiting', 'running')"),
            postgresql_where=text("state in ('waiting', 'running')"),
        ),
        state_known(),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    scope: Mapped[str] = mapped_column(String(16))
    queued_scope: Mapped[str | None] = mapped_column(String(16))
    queued_by: Mapped[str | None] = mapped_column(String(100))
    for_model: Mapped[str | None] = mapped_column(Text)
    generations: Mapped[dict[str, dict[str, str | None]]] = mapped_column(JsonValue, default=dict)
    taxonomy_id: Mapped[str | None] = mapped_column(String(120))
    blocked: Mapped[bool] = mapped_column(default=False)


class ReconcileReport(Base):
    """The report of one reconciliation: what it found and repaired."""

    __tablename__ = "reconcile_reports"
    __table_args__ = (Index(None, "site_id", "at"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    missing: Mapped[int] = mapped_column(default=0)
    extra: Mapped[int] = mapped_column(default=0)
    stale: Mapped[int] = mapped_column(default=0)
    examples: Mapped[Any | None] = mapped_column(JsonValue)


class JobSlot(Base):
    """A scheduled job's time slot; inserting it is what claims it, so two schedulers run a job once."""

    __tablename__ = "job_slots"
    __table_args__ = (UniqueConstraint("job", "slot"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    job: Mapped[str] = mapped_column(String(64))
    slot: Mapped[datetime] = mapped_column(UtcDateTime)
    claimed_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ServedConfiguration(Base):
    """The snapshot of a site's synonyms, rules and learned order that every process serves, written whole.

    Each save raises `saved_version` in its own transaction; publishing writes `synonyms` and `rules` and sets
    `live_version` to the version that it read. A record whose `words_version` is above `live_version` is not yet
    live; so is a deletion while the two versions differ. `learning_since` is when shoppers were first served what was
    learned, None while they are not.
    """

    __tablename__ = "served_words"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    saved_version: Mapped[int] = mapped_column(default=0)
    live_version: Mapped[int] = mapped_column(default=0)
    synonyms: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    rules: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    learned: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    learning_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

"""What merchandisers teach search: synonyms and rules, and the state of both that shoppers are served."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import JsonValue, UtcDateTime
from app.extensions import Base

# SQLite gives the id of a deleted record to the next one unless told otherwise; the activity log names records by it.
NEVER_REUSED = {"sqlite_autoincrement": True}


class Synonym(Base):
    """A group of words. `root` is the word that finds the others where `type` is ONE_WAY, None where it is EQUIVALENT.

    `fingerprint` is the same for every way to write the group down; `suggested_as` are the digests of the words that it
    was suggested with, whatever people made of them. With both a suggestion is known again once it was decided.
    `words_version` is the site's `saved_version` of which this state is a part; `live_since` is when the group was
    first served to shoppers with these words.
    """

    __tablename__ = "synonyms"
    __table_args__ = (
        UniqueConstraint("site_id", "fingerprint"),
        Index(None, "site_id", "status", "id"),
        CheckConstraint("type in ('EQUIVALENT', 'ONE_WAY')", name="type_known"),
        CheckConstraint("status in ('LIVE', 'SUGGESTED', 'REJECTED')", name="status_known"),
        CheckConstraint("source in ('MANUAL', 'AI', 'MINED')", name="source_known"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    type: Mapped[str] = mapped_column(String(12))
    root: Mapped[str | None] = mapped_column(String(200))
    words: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    status: Mapped[str] = mapped_column(String(12), default="LIVE")
    source: Mapped[str] = mapped_column(String(8), default="MANUAL")
    evidence: Mapped[dict[str, Any] | None] = mapped_column(JsonValue)
    fingerprint: Mapped[str] = mapped_column(String(64))
    suggested_as: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    revision: Mapped[int] = mapped_column(default=1)
    words_version: Mapped[int] = mapped_column(default=0)
    live_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))


class SearchRule(Base):
    """What happens when a shopper searches exactly `term`. `pins` are `{"sku", "position"}` with 1-based positions;
    `starts_at` and `ends_at` bound when it applies. `words_version` as of a synonym. `live_since`
    is when it was first served as what it does now; a rule that is paused has none, and until `starts_at` it does
    nothing."""

    __tablename__ = "search_rules"
    __table_args__ = (UniqueConstraint("site_id", "normalized_term"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    term: Mapped[str] = mapped_column(String(200))
    normalized_term: Mapped[str] = mapped_column(String(200))
    pins: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    boosts: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    buries: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    redirect_url: Mapped[str | None] = mapped_column(String(500))
    banner_text: Mapped[str | None] = mapped_column(String(500))
    banner_link_url: Mapped[str | None] = mapped_column(String(500))
    enabled: Mapped[bool] = mapped_column(default=True)
    starts_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ends_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    note: Mapped[str] = mapped_column(Text, default="")
    revision: Mapped[int] = mapped_column(default=1)
    words_version: Mapped[int] = mapped_column(default=0)
    live_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))


class ServedWords(Base):
    """The synonyms and rules of a site as every process serves them, written whole.

    Each save raises `saved_version` in its own transaction; publishing writes `synonyms` and `rules` and sets
    `live_version` to the version that it read. A record whose `words_version` is above `live_version` is not yet
    live; so is a deletion while the two versions differ.
    """

    __tablename__ = "served_words"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    saved_version: Mapped[int] = mapped_column(default=0)
    live_version: Mapped[int] = mapped_column(default=0)
    synonyms: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    rules: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class SuggestionRun(Base):
    """The latest search for synonyms of a site: who asked, how it ended, and what a source that failed said.
    `compared` counts the searches in vain that were looked at. `lease_until` is how long the worker that has it may be
    silent. `tries` counts who took it up since it was asked for; `fence` counts them for good, so that one that was
    silent for too long knows that the run is another's."""

    __tablename__ = "suggestion_runs"
    __table_args__ = (CheckConstraint("state in ('waiting', 'running', 'done', 'failed')", name="state_known"),)

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    requested_by: Mapped[str] = mapped_column(String(100))
    requested_at: Mapped[datetime] = mapped_column(UtcDateTime)
    lease_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    added: Mapped[int] = mapped_column(default=0)
    compared: Mapped[int] = mapped_column(default=0)
    tries: Mapped[int] = mapped_column(default=0)
    fence: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None] = mapped_column(Text)

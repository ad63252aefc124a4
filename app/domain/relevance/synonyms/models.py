"""Synonyms of a site, and the search for more of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.relevance.synonyms.group import fingerprint
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving.configuration import is_live
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.columns import NEVER_REUSED, JsonValue, UtcDateTime
from app.domain.shared.times import rfc3339
from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base

LIVE, SUGGESTED, REJECTED = "LIVE", "SUGGESTED", "REJECTED"
MANUAL, AI, MINED = "MANUAL", "AI", "MINED"


class Synonym(Base):
    """A group of words. `root` is the word that finds the others where `type` is ONE_WAY, None where it is EQUIVALENT.
    `fingerprint` is the same for every way to write the group down; `suggested_as` are the digests of the words that it
    was suggested with, before people edited them. By both a suggestion that was decided is recognised. `words_version`
    is the site's `saved_version` of its latest change; `live_since` is when the group was first served to shoppers with
    these words."""

    __tablename__ = "synonyms"
    __table_args__ = (
        UniqueConstraint("site_id", "fingerprint"),
        Index(None, "site_id", "status", "id"),
        CheckConstraint(f"type in ({', '.join(map(repr, map(str, SynonymType)))})", name="type_known"),
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

    @property
    def group(self) -> SynonymGroup:
        return SynonymGroup(SynonymType(self.type), self.root, tuple(self.words), self.id)

    def write(self, group: SynonymGroup) -> None:
        """Store a group that is checked."""
        self.type, self.root, self.words = group.type.value, group.root, list(group.words)
        self.fingerprint = fingerprint(group)

    @property
    def record(self) -> dict[str, Any]:
        """The whole record, as bundles and the activity log store it; equal while a synonym is unchanged."""
        return self.group.as_json() | {"status": self.status, "source": self.source, "evidence": self.evidence}

    def is_synced(self, state: ServedConfiguration | None) -> bool:
        """Whether the synonym is served as it is saved; true of any that is not live."""
        return self.status != LIVE or is_live(self, state)

    def as_json(self, state: ServedConfiguration | None) -> dict[str, Any]:
        """The JSON of contracts: Synonyms."""
        changed = {"updatedBy": self.updated_by, "updatedAt": rfc3339(self.updated_at)}
        head = {"id": str(self.id)} | self.record
        return head | {"synced": self.is_synced(state), "revision": self.revision} | changed


class RejectedSuggestion(Base):
    """A suggestion that was rejected so long ago that its words are gone: a hash of them, with the key of the hash."""

    __tablename__ = "rejected_suggestions"

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    key: Mapped[str] = mapped_column(String(32))
    digest: Mapped[str] = mapped_column(String(64))


class SuggestionRun(LeasedWork, Base):
    """The latest search for synonyms of a site: who requested it, how it ended, and what a source that failed said.
    `compared` counts the searches without results that were looked at, `added` the suggestions that came of them."""

    __tablename__ = "suggestion_runs"
    queue = "builds"
    __table_args__ = (state_known(),)

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    added: Mapped[int] = mapped_column(default=0)
    compared: Mapped[int] = mapped_column(default=0)

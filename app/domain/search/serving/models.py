"""The served configuration of search: synonyms, rules and what was learned from clicks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import JsonValue, UtcDateTime
from app.extensions import Base


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

"""What a site's search learned from clicks, and what it was made to forget."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import Date, ForeignKey, Integer, String
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import JsonValue, UtcDateTime
from app.extensions import Base

ALL = ""  # In place of a search: all of them.


class LearnedWord(Base):
    """What was learned for one search, in the form of serving/learned.py. `opens` is how often its products were
    opened."""

    __tablename__ = "learned_searches"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    word: Mapped[str] = mapped_column(String(100), primary_key=True)
    learned: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    opens: Mapped[int] = mapped_column(Integer, default=0)
    learned_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ForgottenWord(Base):
    """A search, or ALL, that learns nothing from the counts of the weeks that begin on or before `through`. The search
    is kept as long as there may be such counts."""

    __tablename__ = "forgotten_searches"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    word: Mapped[str] = mapped_column(String(100), primary_key=True)
    through: Mapped[date] = mapped_column(Date)
    forgotten_at: Mapped[datetime] = mapped_column(UtcDateTime)
    forgotten_by: Mapped[str] = mapped_column(String(100))

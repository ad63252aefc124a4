"""Tables of replays: the effect of a change on what shoppers search for."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import JsonValue
from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base


class SearchReplay(LeasedWork, Base):
    """The top searches of the last 30 days, answered before and after a change that is not saved. `proposal` is that
    change, `report` what it would do; `done` and `total` count searches."""

    __tablename__ = "search_replays"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        state_known(),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    proposal: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    report: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)

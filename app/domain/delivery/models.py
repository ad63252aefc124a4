"""How each shop delivers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.sites.models import ShopConfiguration
from app.extensions import Base


class StoredDelivery(Base, ShopConfiguration):
    """The delivery of a site that offers more than collection, or did, as JSON by its declaration. `previous` is the
    one before the last save, which undo brings back."""

    __tablename__ = "deliveries"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    value: Mapped[dict[str, Any]] = mapped_column(JsonValue)
    previous: Mapped[dict[str, Any]] = mapped_column(JsonValue)
    revision: Mapped[int]
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))

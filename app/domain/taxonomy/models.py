"""The stored form of a taxonomy: one document with its tree, saved whole."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.columns import JsonValue, UtcDateTime
from app.domain.sites.models import ShopConfiguration
from app.extensions import Base


class Taxonomy(Base, ShopConfiguration):
    """Which one is active is the site setting `taxonomy-active-id`. `root_levels` is the tree as JSON, in the
    specification's field names; app/domain/taxonomy/tree.py reads it."""

    __tablename__ = "taxonomies"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[str] = mapped_column(String(120), primary_key=True)
    catalogue_id: Mapped[str] = mapped_column(String(120))
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")
    root_levels: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

"""How each shop looks."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from app.domain.catalogue.markup import NamesPictures
from app.domain.shared.records import JsonValue
from app.domain.sites.models import ShopConfiguration
from app.domain.sites.site_values import SiteValueColumns
from app.extensions import Base


class StoredAppearance(Base, ShopConfiguration, SiteValueColumns, NamesPictures):
    """The appearance of a site that has one of its own. `files` are the pictures of the value and of the one before, so
    that none is gone when undo brings it back."""

    __tablename__ = "appearances"

    files: Mapped[list[str]] = mapped_column(JsonValue)

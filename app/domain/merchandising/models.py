"""Trees of categories: what each shows, in which order, with which filters and landing rules."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, synonym

from app.domain.catalogue.markup import HoldsMarkup
from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.sites.models import ShopConfiguration
from app.extensions import Base


class Tree(Base, ShopConfiguration):
    """A tree of categories. `facets` and `default_landing_rules` hold for every node that has none of its own."""

    __tablename__ = "merchandising_trees"
    __table_args__ = (
        UniqueConstraint("site_id", "name"),
        Index(
            "uq_merchandising_trees_primary",
            "site_id",
            unique=True,
            sqlite_where=text('"primary" = 1'),
            postgresql_where=text('"primary"'),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    primary: Mapped[bool] = mapped_column(default=False)
    facets: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    default_landing_rules: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Node(Base, ShopConfiguration, HoldsMarkup):
    """A category. `path` is the slugs from the root, joined by `/`. None in `facets` or `landing_rules` inherits.
    `picture` is a file of the site's pictures, None for the one of its first product.
    `meta_title` and `meta_description` stand in the head of its page in the place of what is made from its name.
    `revision` rises with every save in its editor, so that no user overwrites unseen changes.

    Its products are those placed by hand and those of its rule (`source_levels`, `source_manufacturers`:
    a product must be of one of the levels or below, and of one of the manufacturers, where given).
    """

    __tablename__ = "merchandising_nodes"
    markup, picture_column = "description", "picture"
    __table_args__ = (UniqueConstraint("tree_id", "path"), Index(None, "tree_id", "parent_id", "position"))

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    tree_id: Mapped[int] = mapped_column(ForeignKey("merchandising_trees.id", ondelete="CASCADE"))
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("merchandising_nodes.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(default=0)
    name: Mapped[str] = mapped_column(String(200))
    slug: Mapped[str] = mapped_column(String(120))
    path: Mapped[str] = mapped_column(String(1000), active_history=True)
    visible: Mapped[bool] = mapped_column(default=True)
    description: Mapped[str] = mapped_column(Text, default="")
    picture: Mapped[str | None] = mapped_column(String(100))
    canonical_override: Mapped[str | None] = mapped_column(String(500))
    exclude_from_sitemap: Mapped[bool] = mapped_column(default=False)
    meta_title: Mapped[str | None] = mapped_column(String(300))
    meta_description: Mapped[str | None] = mapped_column(String(500))
    facets: Mapped[list[dict[str, Any]] | None] = mapped_column(JsonValue)
    landing_rules: Mapped[list[dict[str, Any]] | None] = mapped_column(JsonValue)
    source_levels: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    source_manufacturers: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    revision: Mapped[int] = mapped_column(default=1, server_default="1")
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    # What every kind of content calls them (app/domain/catalogue/content.py).
    seo_name: Mapped[str] = synonym("slug")
    canonical_url: Mapped[str | None] = synonym("canonical_override")
    enabled: Mapped[bool] = synonym("visible")


class Placement(Base, ShopConfiguration):
    """A product placed in a category by hand; `position` is the category's own order."""

    __tablename__ = "merchandising_placements"

    node_id: Mapped[int] = mapped_column(ForeignKey("merchandising_nodes.id", ondelete="CASCADE"), primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True, index=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(default=0)


class Burial(Base, ShopConfiguration):
    """A product that a category shows behind all others, whatever takes it into the category; it takes none in."""

    __tablename__ = "merchandising_burials"

    node_id: Mapped[int] = mapped_column(ForeignKey("merchandising_nodes.id", ondelete="CASCADE"), primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True, index=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)

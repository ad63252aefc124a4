"""Tables of the catalogue: products, variants, pictures, collections and pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    DDL,
    CheckConstraint,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    UniqueConstraint,
    event,
    text,
)
from sqlalchemy.orm import Mapped, declared_attr, mapped_column, relationship

from app.domain.catalogue.markup import HoldsMarkup
from app.domain.shared.records import JsonValue, UtcDateTime
from app.domain.sites.models import ShopConfiguration
from app.domain.work.models import LeasedWork, OfMachine, state_known
from app.extensions import Base

# Execution options of bulk statements on products. They bypass the session, and with it the listener that writes the
# outbox, which refuses them unless the options say that the products are enqueued separately.
INDEXED_SEPARATELY: Mapping[str, Any] = {"indexed_separately": True}
# In the words of the index, without a parameter, or a database would not see that it may use it.
HAS_TERMS = text("search_terms != '[]'")
WORDS_INDEX = "ix_products_words"


class Product(Base, HoldsMarkup):
    """A product. Prices are in minor units of the site's currency. `stock` None means that it is not counted.

    `taxonomy_attributes` is the source of truth for attribute values; product_attribute_values is its index.
    """

    __tablename__ = "products"
    markup = "description"
    __table_args__ = (
        UniqueConstraint("site_id", "sku"),
        UniqueConstraint("site_id", "seo_name"),
        Index(None, "site_id", "updated_at"),
        Index(None, "site_id", "name"),
        Index(None, "site_id", "manufacturer"),
        Index(None, "site_id", "upc"),
        Index(None, "site_id", "taxonomy_level_id", "enabled"),
        Index(None, "site_id", "completeness_score"),
        Index(None, "site_id", "id", postgresql_include=["taxonomy_level_id"]),
        Index(None, "site_id", "price", "id"),
        Index(None, "site_id", "stock", "id", postgresql_include=["enabled"]),
        Index(None, "site_id", "taxonomy_level_id", "manufacturer", "id", postgresql_include=["enabled"]),
        Index("ix_products_with_terms", "site_id", "updated_at", sqlite_where=HAS_TERMS, postgresql_where=HAS_TERMS),
        CheckConstraint("price >= 0", name="price_not_negative"),
        CheckConstraint("stock is null or stock >= 0", name="stock_not_negative"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    sku: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(300))
    seo_name: Mapped[str] = mapped_column(String(200), active_history=True)
    manufacturer: Mapped[str] = mapped_column(String(120), default="")
    description: Mapped[str] = mapped_column(Text, default="")
    price: Mapped[int] = mapped_column(Integer)
    compare_at_price: Mapped[int | None] = mapped_column(Integer)
    upc: Mapped[str | None] = mapped_column(String(32))
    stock: Mapped[int | None] = mapped_column(Integer)
    enabled: Mapped[bool] = mapped_column(default=True)
    featured: Mapped[bool] = mapped_column(default=False)
    rating: Mapped[float | None] = mapped_column(Float)
    search_terms: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    canonical_url: Mapped[str | None] = mapped_column(String(500))
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    taxonomy_level_id: Mapped[str | None] = mapped_column(String(120))
    completeness_score: Mapped[int | None] = mapped_column(Integer)
    taxonomy_attributes: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    archived_taxonomy_data: Mapped[dict[str, Any] | None] = mapped_column(JsonValue)

    variants: Mapped[list[Variant]] = relationship(
        order_by="Variant.position", cascade="all, delete-orphan", passive_deletes=True
    )
    images: Mapped[list[ProductImage]] = relationship(
        order_by="ProductImage.position", cascade="all, delete-orphan", passive_deletes=True
    )

    def picture_of(self, variant: Variant) -> ProductImage | None:
        """Return a variant's own picture; None where it has none, or none that is still among the product's."""
        return next((image for image in self.images if image.file == variant.picture), None)


# Parts of words, which no other index finds. Where PostgreSQL lacks the extension, or the shop may not create it, it
# reads all products, as SQLite does.
MAKE_WORDS_INDEX = (
    "DO $words$ BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm; "
    f"CREATE INDEX {WORDS_INDEX} ON products USING gin (name gin_trgm_ops, sku gin_trgm_ops, seo_name gin_trgm_ops); "
    "EXCEPTION WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported "
    "THEN NULL; END $words$;"
)
make_words_index = DDL(MAKE_WORDS_INDEX)  # type: ignore[no-untyped-call]
event.listen(Product.__table__, "after_create", make_words_index.execute_if(dialect="postgresql"))


class ProductAttributeValue(Base):
    """One row for each value that a product holds, so that "how many hold V of A" is an indexed count."""

    __tablename__ = "product_attribute_values"
    __table_args__ = (Index(None, "site_id", "attribute_id", "value"),)

    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True)
    attribute_id: Mapped[str] = mapped_column(String(120), primary_key=True)
    value: Mapped[str] = mapped_column(String(500), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))


class Variant(Base):
    """A buyable form of a product; an empty price is the product's. `picture` is the file of that of the product's
    pictures which is shown first while the variant is chosen."""

    __tablename__ = "variants"
    __table_args__ = (
        UniqueConstraint("site_id", "sku"),
        Index(None, "product_id", "position"),
        Index(None, "site_id", "upc"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(default=0)
    sku: Mapped[str] = mapped_column(String(64))
    upc: Mapped[str | None] = mapped_column(String(32))
    price: Mapped[int | None] = mapped_column(Integer)
    stock: Mapped[int | None] = mapped_column(Integer)
    options: Mapped[dict[str, str]] = mapped_column(JsonValue, default=dict)
    picture: Mapped[str | None] = mapped_column(String(200))


class ProductImage(Base):
    """A picture of a product: `file` names a file of the site's media folder. Sizes are in pixels. `source` is the
    address on the web that an import fetched it from."""

    __tablename__ = "product_images"
    __table_args__ = (Index(None, "product_id", "position"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"))
    position: Mapped[int] = mapped_column(default=0)
    file: Mapped[str] = mapped_column(String(200))
    alt: Mapped[str] = mapped_column(String(300), default="")
    width: Mapped[int]
    height: Mapped[int]
    source: Mapped[str | None] = mapped_column(String(2000))


class PictureUpload(OfMachine, LeasedWork, Base):
    """An uploaded picture that a worker checks and draws anew: `file` names what was received, in the site's media
    folder of `machine`, and `name` the file on the uploader's machine. A refusal stands in `error`."""

    __tablename__ = "picture_uploads"
    queue = "builds"
    __table_args__ = (
        Index(None, "site_id", "product_id"),
        state_known(),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"))
    file: Mapped[str] = mapped_column(String(100))
    name: Mapped[str] = mapped_column(String(100))
    alt: Mapped[str] = mapped_column(String(300), default="")


class Content(ShopConfiguration):
    """The columns that every kind of content has; its texts are columns of its own."""

    @declared_attr.directive
    @classmethod
    def __table_args__(cls) -> tuple[UniqueConstraint]:
        return (UniqueConstraint("site_id", "seo_name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    seo_name: Mapped[str] = mapped_column(String(200), active_history=True)
    canonical_url: Mapped[str | None] = mapped_column(String(500))
    enabled: Mapped[bool] = mapped_column(default=True)
    revision: Mapped[int] = mapped_column(default=1)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)

    if TYPE_CHECKING:

        def __init__(self, **values: Any) -> None: ...


class Collection(Base, Content, HoldsMarkup):
    """A hand-made list of products with an address of its own."""

    __tablename__ = "collections"
    markup = "description"

    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")

    entries: Mapped[list[CollectionEntry]] = relationship(
        order_by="CollectionEntry.position", cascade="all, delete-orphan", passive_deletes=True
    )


class CollectionEntry(Base):
    __tablename__ = "collection_entries"

    collection_id: Mapped[int] = mapped_column(ForeignKey("collections.id", ondelete="CASCADE"), primary_key=True)
    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True, index=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    position: Mapped[int]


class Page(Base, Content, HoldsMarkup):
    """A page of text. `body` is HTML, sanitised on the way in."""

    __tablename__ = "pages"
    markup = "body"

    title: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(Text, default="")
    meta_description: Mapped[str | None] = mapped_column(String(500))

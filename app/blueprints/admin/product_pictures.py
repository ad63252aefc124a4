"""The addresses of products' small pictures, which every list of products shows: the photograph, else the drawing or
sign that shoppers see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from flask import g
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.display import picture_url
from app.domain.catalogue.models import Product
from app.domain.catalogue.product_drawings import picture_path
from app.domain.catalogue.queries import ProductRow, products_by_id
from app.domain.merchandising.facets import colour_of
from app.domain.merchandising.product_pages import colour_in, colour_of_options
from app.domain.orders.models import OrderLine
from app.domain.relevance.explanation import ScoredHit
from app.domain.taxonomy.taxonomies import active_tree


@bp.app_template_global("picture_of_row")
def picture_of_row(row: ProductRow, options: Mapping[str, str] | None = None) -> str:
    """Return the address of a product's picture, drawn in the colour of a variant's options where they name one."""
    colour = colour_of_options(options or {}) or colour_in(row.attributes)
    return _picture(row.image, _kind_of(row.level_id), row.name, colour, row.id)


@bp.app_template_global("picture_of_product")
def picture_of_product(product: Product, options: Mapping[str, str] | None = None, own: str = "") -> str:
    """Return the address of a product's picture, or of that of a variant with these options and `own` file."""
    files = [image.file for image in product.images]
    image = own if own in files else next(iter(files), None)
    colour = colour_of_options(options or {}) or colour_in(product.taxonomy_attributes)
    return _picture(image, _kind_of(product.taxonomy_level_id), product.name, colour, product.id)


@bp.app_template_global("picture_of_hit")
def picture_of_hit(hit: ScoredHit) -> str:
    return _picture(hit.image, hit.kind, hit.name, colour_of(hit.colour or ""), hit.id)


@bp.app_template_global("picture_of_card")
def picture_of_card(card: Mapping[str, Any]) -> str:
    """Return the address of the picture of what the index keeps of a product."""
    colour = colour_of(card.get("colour") or "")
    return _picture(card.get("image"), card.get("kind") or "", str(card["name"]), colour, int(card["id"]))


@bp.app_template_global("pictures_of_products")
def pictures_of_products(product_ids: Iterable[int | None]) -> dict[int | None, str]:
    """Return the addresses of the pictures of the products of a list by their ids, for those that exist."""
    known = list({product_id for product_id in product_ids if product_id})
    return {row.id: picture_of_row(row) for row in products_by_id(current_user.site_id, known)}


def pictures_of_lines(site_id: int, lines: Iterable[OrderLine]) -> dict[int, str]:
    """Return the addresses of the pictures of an order's lines by their ids, for products that still exist."""
    sold = [(line, line.product_id) for line in lines if line.product_id]
    rows = {row.id: row for row in products_by_id(site_id, list({product_id for _, product_id in sold}))}
    return {line.id: picture_of_row(rows[product], line.options) for line, product in sold if product in rows}


def _picture(image: str | None, kind: str, name: str, colour: str | None, number: int) -> str:
    return picture_url(image, "small") if image else picture_path(kind, name, colour, number)


def _kind_of(level_id: str | None) -> str:
    """Return the name of a level of the active taxonomy, which is read once a request; empty for none."""
    if "level_names" not in g:
        levels = active_tree(current_user.site_id).levels
        g.level_names = {level.id: level.name for level in levels.values()}
    found: str = g.level_names.get(level_id or "", "")
    return found

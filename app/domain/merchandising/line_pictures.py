"""Pictures of what was ordered, for mails: in forms that every mail program shows."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.drawing_png import png_form
from app.domain.catalogue.models import Product
from app.domain.catalogue.pictures import jpeg_form
from app.domain.catalogue.product_drawings import picture_path
from app.domain.merchandising.product_pages import colour_in, colour_of_options
from app.domain.orders.models import OrderLine
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db


def line_pictures(site_id: int, lines: Iterable[OrderLine]) -> dict[str, str]:
    """Return the paths of the pictures of lines by SKU: the photograph of the variant, or of its product, as JPEG, else
    the drawing in the variant's colour as PNG. Products that do not exist any more have none."""
    sold = {line.sku: line for line in lines if line.product_id is not None}
    if not sold:
        return {}
    query = select(Product).where(
        Product.site_id == site_id, Product.id.in_({line.product_id for line in sold.values()})
    )
    loaded = query.options(selectinload(Product.images), selectinload(Product.variants))
    products = {product.id: product for product in db.session.scalars(loaded)}
    tree = active_tree(site_id)
    return {
        sku: _path(products[line.product_id], line, tree) for sku, line in sold.items() if line.product_id in products
    }


def _path(product: Product, line: OrderLine, tree: TaxonomyTree) -> str:
    variant = next((variant for variant in product.variants if variant.sku == line.sku), None)
    own = product.picture_of(variant) if variant else None
    if image := own or next(iter(product.images), None):
        return f"/media/{product.site_id}/{jpeg_form(image.file)}"
    level = tree.levels.get(product.taxonomy_level_id or "")
    colour = colour_of_options(line.options) or colour_in(product.taxonomy_attributes)
    return png_form(picture_path(level.name if level else "", product.name, colour, product.id))

"""Template filters and functions for money and addresses of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from flask import g, url_for
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.shell import shell
from app.domain.catalogue.markup import ATTRIBUTES, TAGS
from app.domain.catalogue.pictures import small_form
from app.domain.catalogue.queries import ProductRow
from app.domain.shared.money import format_money
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.products.classification import active_tree

bp.add_app_template_filter(format_money, "money")


@bp.app_template_global("no_errors")
def no_errors() -> FieldErrors:
    """Return the errors of a form that was not sent yet."""
    return FieldErrors()


@bp.app_template_global("picture_url")
def picture_url(file: str, size: str = "") -> str:
    """Return the address of a stored picture of the current site; `size` "small" for lists."""
    return url_for("media.picture", site_id=current_user.site_id, file=small_form(file) if size == "small" else file)


@bp.app_template_global("rich_text_rules")
def rich_text_rules() -> dict[str, list[str]]:
    """Return the tags and attributes of rich text that are kept, for its editor."""
    return {"tags": sorted(TAGS), "attributes": sorted(set().union(*ATTRIBUTES.values()))}


@bp.app_template_global("product_facts")
def product_facts(product: ProductRow) -> tuple[str, ...]:
    """Return price, stock and, while a taxonomy is active, the level of a product to choose."""
    currency, levels = _currency_and_levels()
    facts = (format_money(product.price, currency), _stock_in_words(product.stock))
    return (*facts, levels.get(product.level_id or "", "No level")) if levels else facts


def _stock_in_words(stock: int | None) -> str:
    if stock is None:
        return "Stock not counted"
    return f"{stock:,} in stock" if stock > 0 else "Sold out"


def _currency_and_levels() -> tuple[str, Mapping[str, str]]:
    """Return what all products of a list share, read once a request."""
    if "currency_and_levels" not in g:
        levels = active_tree(current_user.site_id).levels
        g.currency_and_levels = currency_of(current_user.site_id), {level.id: level.name for level in levels.values()}
    made: tuple[str, Mapping[str, str]] = g.currency_and_levels
    return made


@bp.app_template_global("in_shop")
def in_shop(path: str) -> str:
    """Return the address at which shoppers see a path of the current site."""
    return shell().shop_url.rstrip("/") + path

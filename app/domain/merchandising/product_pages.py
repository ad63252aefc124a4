"""Everything that a product's page in the shop shows, and that its editor in the admin shows beside its form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.catalogue.models import Product, ProductImage, Variant
from app.domain.catalogue.pictures import small_form, srcset
from app.domain.catalogue.product_drawings import DETAIL, SCENE, more_views, picture_path
from app.domain.catalogue.product_rules import (
    OptionChoice,
    OptionGroup,
    VariantOnOffer,
    choose_variant,
    is_in_stock,
    is_on_sale,
    option_groups,
)
from app.domain.catalogue.products import product_of
from app.domain.delivery.rates import Parcel, Quote, least_quote, weight_of
from app.domain.merchandising.facets import colour_of, is_colour
from app.domain.merchandising.membership import placed_in
from app.domain.merchandising.shop import Shop, load_tree
from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.orders.basket import MOST_OF_ONE
from app.domain.shared.clock import Clock
from app.domain.shared.records import existing
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.panel import attribute_label, path_label, stored_texts
from app.domain.taxonomy.taxonomies import ActiveTaxonomy, active_with_tree
from app.domain.taxonomy.tree import Attribute, TaxonomyTree
from app.domain.taxonomy.values import with_unit
from app.extensions import db

VIEW_NAMES = {DETAIL: ", close up", SCENE: ", in use"}
FEW = 5  # The largest stock for which a page says how many are left.


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture on a page. `url` is a path of the site; sizes in pixels. `srcset` names the forms of a photograph."""

    url: str
    alt: str
    width: int
    height: int
    srcset: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """An attribute as the page shows it."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class PageChoice:
    """A value of an option. `sku` is the variant that choosing it leads to. The values of an option of colours have
    their colour (`#rrggbb`), where its name means one, and the picture of their variant, where those differ."""

    value: str
    sku: str
    chosen: bool
    in_stock: bool
    colour: str | None = None
    picture: PagePicture | None = None


@dataclass(frozen=True, slots=True)
class PageOption:
    name: str
    choices: tuple[PageChoice, ...]

    @property
    def chosen(self) -> str:
        """The chosen value; empty where the chosen variant has none."""
        return next((choice.value for choice in self.choices if choice.chosen), "")

    @property
    def has_pictures(self) -> bool:
        return any(choice.picture for choice in self.choices)


@dataclass(frozen=True, slots=True)
class ProductPage:
    """A product's page. Prices are in minor units. `compare_at_price` only where it is higher than the price. `trail`
    leads to the product's main category. `few_left` counts what is left where that is little, `most` is how many can be
    bought at once; `sku` and `upc` are those of the chosen variant, where the product has any. `delivery` is what one
    of it costs to deliver at least; None for what is sold out or not delivered."""

    product: Product
    price: int
    compare_at_price: int | None
    in_stock: bool
    few_left: int | None
    most: int
    sku: str
    upc: str | None
    pictures: tuple[PagePicture, ...]
    facts: tuple[Fact, ...]
    options: tuple[PageOption, ...]
    trail: tuple[ShopNode, ...]
    delivery: Quote | None


def product_page(shop: Shop, seo_name: str, variant_sku: str = "") -> ProductPage:
    """Return the page of a product. Raises NotFound for a product that is not there or not enabled."""
    product = _enabled_product(shop.site_id, seo_name)
    offers = [
        VariantOnOffer(v.sku, v.options, product.price if v.price is None else v.price, is_in_stock(v.stock))
        for v in product.variants
    ]
    chosen = choose_variant(offers, variant_sku)
    price = chosen.price if chosen else product.price
    variant = next((v for v in product.variants if chosen and v.sku == chosen.sku), None)
    stock = variant.stock if variant else product.stock
    in_stock = chosen.in_stock if chosen else is_in_stock(product.stock)
    parcel = Parcel(weight_of(shop.delivery, product.taxonomy_attributes), price)
    trail = _trail_to(shop, product)
    return ProductPage(
        product=product,
        price=price,
        compare_at_price=product.compare_at_price if is_on_sale(price, product.compare_at_price) else None,
        in_stock=in_stock,
        few_left=stock if stock is not None and 0 < stock <= FEW else None,
        most=MOST_OF_ONE if stock is None else min(stock, MOST_OF_ONE),
        sku=chosen.sku if chosen else product.sku,
        upc=(variant.upc if variant else None) or product.upc,
        pictures=pictures_of(shop, product, variant),
        facts=_facts_of(shop, product),
        options=_options_of(shop, product, option_groups(offers, chosen), trail) if chosen else (),
        trail=trail,
        delivery=least_quote(shop.delivery, parcel, shop.currency) if in_stock else None,
    )


def _options_of(
    shop: Shop, product: Product, groups: Iterable[OptionGroup], trail: Sequence[ShopNode]
) -> tuple[PageOption, ...]:
    """Return the options as the page shows them; colours are those of the filters of the product's category."""
    facets = shop.tree.facets(trail[-1].id) if trail else ()
    colours = {value: colour for facet in facets for value, colour in facet.swatches.items()}
    variants = {variant.sku: variant for variant in product.variants}

    def swatch(choice: OptionChoice) -> PageChoice:
        picture = _swatch_picture(pictures_of(shop, product, variants[choice.sku])[0])
        return replace(plain(choice), colour=colour_of(choice.value, colours), picture=picture)

    def plain(choice: OptionChoice) -> PageChoice:
        return PageChoice(choice.value, choice.sku, choice.chosen, choice.in_stock)

    def option(group: OptionGroup) -> PageOption:
        choices = tuple(map(swatch if is_colour(group.name) else plain, group.choices))
        if len({choice.picture for choice in choices}) == 1:  # They would show no difference.
            choices = tuple(replace(choice, picture=None) for choice in choices)
        return PageOption(group.name, choices)

    return tuple(map(option, groups))


def _swatch_picture(picture: PagePicture) -> PagePicture:
    """Return the picture of a variant in its smallest form, the first of its `srcset`; the name of the colour stands
    beside it."""
    return replace(picture, url=picture.srcset.partition(" ")[0] or picture.url, alt="", srcset="")


def small_pictures(shop: Shop, product_ids: Mapping[str, int]) -> dict[str, PagePicture]:
    """Return one picture for each SKU of a list such as a basket, its photograph in the small size: that of the variant
    whose SKU it is, or of its product. `product_ids` are the products by these SKUs."""
    query = select(Product).where(Product.site_id == shop.site_id, Product.id.in_(set(product_ids.values())))
    loaded = query.options(selectinload(Product.images), selectinload(Product.variants))
    products = {product.id: product for product in db.session.scalars(loaded)}
    return {
        sku: _small_picture(shop, products[product_id], sku)
        for sku, product_id in product_ids.items()
        if product_id in products
    }


def _small_picture(shop: Shop, product: Product, sku: str) -> PagePicture:
    variant = next((variant for variant in product.variants if variant.sku == sku), None)
    picture = pictures_of(shop, product, variant)[0]
    return replace(picture, url=small_form(picture.url)) if product.images else picture


def _enabled_product(site_id: int, seo_name: str) -> Product:
    product = db.session.scalars(
        select(Product)
        .where(Product.site_id == site_id, Product.seo_name == seo_name, Product.enabled)
        .options(selectinload(Product.variants), selectinload(Product.images))
    ).one_or_none()
    return existing(product, "This product does not exist or is no longer sold.")


def pictures_of(shop: Shop, product: Product, variant: Variant | None = None) -> tuple[PagePicture, ...]:
    """Return a product's photographs, that of the chosen variant first, or else drawings of its kind in the colour of
    the variant."""
    if product.images:
        own = product.picture_of(variant) if variant else None
        images = sorted(product.images, key=lambda image: image is not own)
        return tuple(photograph(shop, product, image) for image in images)
    path = shop.taxonomy.path(product.taxonomy_level_id) if product.taxonomy_level_id else []
    kind = path[-1].name if path else ""
    chosen = colour_of_options(variant.options) if variant else None
    colour = chosen or colour_in(product.taxonomy_attributes)
    return tuple(
        PagePicture(picture_path(kind, product.name, colour, product.id, view), f"{product.name}{words}", 400, 400)
        for view, words in (("", ""), *((view, VIEW_NAMES[view]) for view in more_views(kind, product.name)))
    )


def colour_of_options(options: Mapping[str, str]) -> str | None:
    """Return the colour that the options of a variant name."""
    return next((colour_of(value) for name, value in options.items() if is_colour(name)), None)


def photograph(shop: Shop, product: Product, image: ProductImage) -> PagePicture:
    url, size = f"/media/{shop.site_id}/{image.file}", (image.width, image.height)
    return PagePicture(url, image.alt or product.name, *size, srcset(url, *size))


def colour_in(attributes: Mapping[str, Any]) -> str | None:
    """Return the first colour by the name of its attribute: a database may give attributes back in another order."""
    values = [attributes[id] for id in sorted(attributes) if attributes[id] and is_colour(id)]
    firsts = [value[0] if isinstance(value, list) else value for value in values]
    first = next((value for value in firsts if isinstance(value, str)), None)
    return colour_of(first) if first else None


def _facts_of(shop: Shop, product: Product) -> tuple[Fact, ...]:
    """The product's values of the attributes that are for its page: those of upper levels first, on each level
    in display order."""
    facts = [Fact("Brand", product.manufacturer)] if product.manufacturer else []
    for level in shop.taxonomy.path(product.taxonomy_level_id or ""):
        for attribute in sorted(level.attributes, key=lambda attribute: attribute.display_order):
            facts += _fact_of(shop, product, attribute)
    return tuple(facts)


def _fact_of(shop: Shop, product: Product, attribute: Attribute) -> list[Fact]:
    nearest = shop.taxonomy.applicable_attributes(product.taxonomy_level_id or "").get(attribute.id)
    value = product.taxonomy_attributes.get(attribute.id)
    if nearest is not attribute or not attribute.display_on_product_page or value in (None, "", []):
        return []
    return [Fact(attribute.label, _fact_text(attribute, value))]


def _fact_text(attribute: Attribute, value: Any) -> str:
    """Return a value as text, a number with its unit. A value from before the attribute became a number has none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return with_unit(value_text(value), attribute.unit) if is_number else value_text(value)


def value_text(value: Any) -> str:
    """Return a value as text: Yes or No, a number without needless zeros, several values after each other. The type of
    the stored value counts, which may be from before the attribute's type changed."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    if isinstance(value, float):
        return f"{value:,.6f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


def _trail_to(shop: Shop, product: Product) -> tuple[ShopNode, ...]:
    level_path = shop.taxonomy.path_ids(product.taxonomy_level_id or "")
    shown_in = shop.tree.categories_of(level_path, product.manufacturer, placed_in(shop.site_id, product.id))
    home = shop.tree.main_category(shown_in)
    return tuple(shop.tree.trail(home.id)) if home else ()


@dataclass(frozen=True, slots=True)
class Category:
    """A category in the editor of a product. `label` is the way to it, as in "Garden › Tools"; a hidden one, or one
    below it, is not shown to shoppers."""

    node_id: int
    label: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class ProductCategories:
    """The categories of a product: placed by hand, taken by the category's rule, and those in which it could be
    placed."""

    by_hand: Sequence[Category]
    by_rule: Sequence[Category]
    others: Sequence[Category]


@dataclass(frozen=True, slots=True)
class ArchivedClassification:
    """The classification of a product before another taxonomy became the active one. `level` is the way to its level,
    or the bare id where the taxonomy or the level is gone."""

    taxonomy: str
    level: str
    values: Sequence[tuple[str, str]]
    archived_at: str


@dataclass(frozen=True, slots=True)
class ProductEditor:
    """The facts of a product that its editor shows. `taxonomy` is the active one; None without."""

    product: Product
    currency: str
    categories: ProductCategories
    taxonomy: ActiveTaxonomy | None
    archived: ArchivedClassification | None


def product_editor(clock: Clock, site_id: int, product_id: int) -> ProductEditor:
    """Return the facts of a product that its editor shows. Raises NotFound."""
    product = product_of(site_id, product_id)
    taxonomy = active_with_tree(clock, site_id)
    return ProductEditor(
        product=product,
        currency=currency_of(site_id),
        categories=categories_of(product, load_tree(site_id), taxonomy.tree if taxonomy else TaxonomyTree()),
        taxonomy=taxonomy,
        archived=_archived_classification(product, taxonomy),
    )


def categories_of(product: Product, tree: ShopTree, taxonomy: TaxonomyTree) -> ProductCategories:
    """Return the categories of a product. Those above one that takes it by a rule show it too and are left out."""
    level_id = product.taxonomy_level_id
    level_path = taxonomy.path_ids(level_id) if level_id else []
    by_hand = set(placed_in(product.site_id, product.id)) & set(tree.nodes)
    shown_in = tree.categories_of(level_path, product.manufacturer)
    above = {parent.id for node_id in shown_in for parent in tree.ancestors(node_id)}
    by_rule = shown_in - above - by_hand
    return ProductCategories(
        by_hand=_labelled_categories(tree, by_hand),
        by_rule=_labelled_categories(tree, by_rule),
        others=_labelled_categories(tree, tree.nodes.keys() - by_hand),
    )


def _labelled_categories(tree: ShopTree, node_ids: Iterable[int]) -> list[Category]:
    """Return categories in the order of their labels, so that each stands under the one above it."""
    found = [Category(node_id, tree.label(node_id), tree.is_shown(tree.nodes[node_id])) for node_id in node_ids]
    return sorted(found, key=lambda category: category.label)


def _archived_classification(product: Product, active: ActiveTaxonomy | None) -> ArchivedClassification | None:
    slot = product.archived_taxonomy_data
    if not slot:
        return None
    taxonomy_id, level_id = str(slot.get("taxonomyId") or ""), str(slot.get("levelId") or "")
    name, tree = _taxonomy_of(product.site_id, taxonomy_id, active)
    texts = stored_texts(slot.get("attributes") or {})
    return ArchivedClassification(
        taxonomy=name,
        level=path_label(tree, level_id) or level_id,
        values=[(attribute_label(tree, attribute_id), ", ".join(found)) for attribute_id, found in texts.items()],
        archived_at=str(slot.get("archivedAt") or ""),
    )


def _taxonomy_of(site_id: int, taxonomy_id: str, active: ActiveTaxonomy | None) -> tuple[str, TaxonomyTree]:
    if active is not None and active.id == taxonomy_id:
        return active.name, active.tree
    known = db.session.get(Taxonomy, (site_id, taxonomy_id))
    return (known.name, known.tree) if known else (taxonomy_id, TaxonomyTree())

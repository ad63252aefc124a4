"""A line of products.jsonl: read as a checked record, and written of a stored product."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import selectinload

from app.domain.bundles.archive import MEDIA
from app.domain.bundles.reading import FileRow
from app.domain.catalogue.markup import clean_html
from app.domain.catalogue.models import Product, ProductImage, Variant
from app.domain.catalogue.pictures import MOST_IMAGES
from app.domain.catalogue.product_images import LONGEST_ALT
from app.domain.catalogue.product_rules import (
    DRAFTED,
    NEVER_NONE,
    PRODUCT_FIELDS,
    FieldKind,
    ProductDraft,
    VariantDraft,
    clean_terms,
    product_problems,
    tidy_product,
)
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Flag, Items, Many, Number, Object, Record, Strict, Text, Texts, TextsByName, Whole
from app.domain.shared.text import line_problems, one_line
from app.extensions import db

MOST_READ = 1_000  # Variants; the catalogue takes fewer, and says so.
EXPORT_BATCH = 500  # Products, or files of pictures, that are read at once.
VARIANT = Record(
    sku=Text(required=True),
    upc=Text(allow_none=True),
    price=Whole(allow_none=True),
    stock=Whole(allow_none=True),
    options=TextsByName(required=True),
    image=Text(allow_none=True),
)
TYPES: Mapping[FieldKind, type[Strict]] = {
    FieldKind.TEXT: Text,
    FieldKind.CODE: Text,
    FieldKind.MONEY: Whole,
    FieldKind.WHOLE: Whole,
    FieldKind.NUMBER: Number,
    FieldKind.FLAG: Flag,
    FieldKind.TERMS: Items,
}
MAY_BE_NULL = {kind for kind in FieldKind if kind not in (FieldKind.FLAG, FieldKind.TERMS)}
PLAIN: Mapping[str, Strict] = {
    name: TYPES[known.kind](required=known.required, allow_none=not known.required and known.kind in MAY_BE_NULL)
    for name, known in sorted(PRODUCT_FIELDS.items(), key=lambda item: not item[1].required)
}
# The fields that stand in a row after the pictures.
LATER = tuple(PRODUCT_FIELDS)[tuple(PRODUCT_FIELDS).index("searchTerms") :]
PRODUCT = Record(
    **{name: known for name, known in PLAIN.items() if name not in LATER},
    images=Texts(),
    imageTexts=Texts(),
    **{name: PLAIN[name] for name in LATER},
    createdAt=Text(allow_none=True),
    taxonomy=Object(allow_none=True),
    variants=Many(VARIANT, MOST_READ),
)
TAXONOMY = Record(
    levelId=Text(required=True),
    attributes=Object(allow_none=True),
)
# The draft's name of each of its fields; what a row does not name stays as it is.
COLUMNS: Mapping[str, str] = {known.name: known.column for known in DRAFTED}
OF_VARIANTS = frozenset(("upc", "price", "stock", "picture"))  # Fields that a variant may lack.
TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)


@dataclass(slots=True)
class ImportedProduct:
    """A product in a line of a bundle. `columns` holds what the line says of the product's own fields, by column. None
    in `variants`, `images` and `level_id` means that the line says nothing; "" as level takes the classification away.
    The `picture` of a variant is its name in the bundle until the pictures are kept. `size` is that of the line in
    bytes; `keeps_values`: attribute values that it does not name stay, and so do the fields `kept` of variants
    and the columns `filled`; `keeps_others`: so do variants, pictures and their descriptions. `priced_by_variant`: the
    price is that of the first variant. `left_out` are pictures that the line names beyond the most of a product."""

    line: int
    sku: str
    columns: dict[str, Any]
    variants: list[VariantDraft] | None = None
    images: list[str] | None = None
    image_texts: list[str] | None = None
    level_id: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    complaints: list[Problem] = field(default_factory=list)
    size: int = 0
    keeps_values: bool = False
    kept: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    keeps_others: bool = False
    priced_by_variant: bool = False
    left_out: Sequence[str] = ()


def read_product(row: FileRow, site_id: int) -> ImportedProduct:
    """Return the product of a row. Raises Invalid with every problem that keeps the product out. `complaints` are about
    parts that are left out while the product is taken."""
    problems: list[Problem] = list(row.problems)
    if problems:
        raise Invalid(problems)
    fields = PRODUCT.read(row.fields, "#", problems)
    classified = fields.get("taxonomy")
    taxonomy = {} if classified is None else TAXONOMY.read(classified, "#/taxonomy", problems)
    created_at = _read_time(fields.get("createdAt"), problems)
    if problems:
        raise Invalid(problems)
    variants = [_read_variant(variant) for variant in fields["variants"]] if "variants" in fields else None
    columns = _read_columns(fields, variants, site_id)
    product = ImportedProduct(row.line, columns["sku"], columns, variants, fields.get("images"))
    product.size = row.size
    if row.is_partial:
        product.keeps_others, product.filled = True, row.filled
        product.priced_by_variant = row.priced_by_variant
        product.kept = OF_VARIANTS.difference(*fields.get("variants", ())[:1])
    if created_at is not None:
        columns["created_at"] = created_at
    if "taxonomy" in fields:
        product.level_id = taxonomy.get("levelId", "")
        product.attributes = taxonomy.get("attributes") or {}
        product.keeps_values = row.is_partial or (bool(taxonomy) and "attributes" not in taxonomy)
    _take_terms(product, fields.get("searchTerms"))
    _limit_images(product)
    _take_image_texts(product, fields.get("imageTexts"))
    return product


def _read_variant(fields: Mapping[str, Any]) -> VariantDraft:
    return VariantDraft(picture=fields.get("image"), **{name: fields[name] for name in fields if name != "image"})


def _read_columns(fields: Mapping[str, Any], variants: list[VariantDraft] | None, site_id: int) -> dict[str, Any]:
    """Return the columns of a row, tidied and checked by the catalogue's rules. Raises Invalid."""
    given = {column: fields[name] for name, column in COLUMNS.items() if name in fields}
    given.update({column: given[column] or "" for column in NEVER_NONE if column in given})
    tidy = tidy_product(ProductDraft(**given, variants=tuple(variants or ())))
    if problems := product_problems(tidy):
        raise Invalid(problems)
    columns = {column: getattr(tidy, column) for column in given}
    if "description" in columns:
        columns["description"] = clean_html(columns["description"], site_id)
    if not columns.get("seo_name"):
        columns.pop("seo_name", None)
    if variants is not None:
        variants[:] = tidy.variants
    return columns


def _read_time(text: str | None, problems: list[Problem]) -> datetime | None:
    if text is None:
        return None
    try:
        if TIME.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    message = f"“{text[:40]}” is not a time such as 2026-11-20T21:04:05Z."
    problems.append(Problem("invalid_time", message, "#/createdAt"))
    return None


def _take_terms(product: ImportedProduct, terms: list[Any] | None) -> None:
    """Set the search terms of a product. A list that breaks a rule is left out, while the rest of the product is
    kept."""
    if terms is None:
        return
    try:
        product.columns["search_terms"] = clean_terms(terms)
    except Invalid as refused:
        product.complaints += [
            Problem(problem.code, problem.message, problem.pointer.replace("#/terms", "#/searchTerms"))
            for problem in refused.problems
        ]


def _limit_images(product: ImportedProduct) -> None:
    if product.images is not None and len(product.images) > MOST_IMAGES:
        message = f"A product has at most {MOST_IMAGES} pictures; the rest is left out."
        product.complaints.append(Problem("too_many", message, f"#/images/{MOST_IMAGES}"))
        product.images, product.left_out = product.images[:MOST_IMAGES], product.images[MOST_IMAGES:]


def _take_image_texts(product: ImportedProduct, texts: list[str] | None) -> None:
    """Set the text that describes each picture for those who cannot see it, by place; "" where there is none. An
    invalid one is left out."""
    if texts is None or product.images is None:
        return
    tidy = [one_line(text) for text in texts[: len(product.images)]]
    for place, text in enumerate(tidy):
        problems = line_problems(text, "The description of the picture", LONGEST_ALT, f"#/imageTexts/{place}")
        product.complaints += problems
        tidy[place] = "" if problems else text
    product.image_texts = [*tidy, *[""] * (len(product.images) - len(tidy))]


def export_rows(site_id: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of all products in the order in which they were added."""
    loaded = selectinload(Product.variants), selectinload(Product.images)
    query = select(Product).where(Product.site_id == site_id).order_by(Product.id).limit(EXPORT_BATCH).options(*loaded)
    last = 0
    while batch := db.session.scalars(query.where(Product.id > last)).all():
        yield from [_product_json(product) for product in batch]  # A watcher ends the transaction that read them.
        last = batch[-1].id


def picture_files(site_id: int) -> Iterator[str]:
    """Yield the files of the products' pictures, each once, by name."""
    query = select(ProductImage.file).where(ProductImage.site_id == site_id).distinct().order_by(ProductImage.file)
    last = ""
    while batch := db.session.scalars(query.where(ProductImage.file > last).limit(EXPORT_BATCH)).all():
        yield from batch
        last = batch[-1]


def _product_json(product: Product) -> dict[str, Any]:
    """Return the row of a product. It has every field, so that an import leaves none as it was."""
    plain = {name: getattr(product, known.column) for name, known in PRODUCT_FIELDS.items()}
    later = {name: plain.pop(name) for name in LATER}
    level_id, attributes = product.taxonomy_level_id, dict(sorted(product.taxonomy_attributes.items()))
    alts = [image.alt for image in product.images]
    return plain | {
        "images": [f"{MEDIA}{image.file}" for image in product.images],
        **({"imageTexts": alts} if any(alts) else {}),
        **later,
        "createdAt": product.created_at.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z",
        "taxonomy": None if level_id is None else {"levelId": level_id, "attributes": attributes},
        "variants": [_variant_json(product, variant) for variant in product.variants],
    }


def _variant_json(product: Product, variant: Variant) -> dict[str, Any]:
    picture = product.picture_of(variant)
    return {
        "sku": variant.sku,
        "upc": variant.upc,
        "price": variant.price,
        "stock": variant.stock,
        "options": dict(sorted(variant.options.items())),
        **({"image": f"{MEDIA}{picture.file}"} if picture else {}),
    }

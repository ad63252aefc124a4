"""The rules of products, the same for the editor, the import and every other surface: pure.

What a product and its variants consist of, how both are checked, which variant a shopper looks at, and what a search
term may be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from functools import cached_property
from itertools import chain
from typing import Any

from app.domain.catalogue.markup import clean_html
from app.domain.shared.addresses import canonical_problems, slug, slug_problems
from app.domain.shared.money import LARGEST
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import UNPRINTABLE, block_problems, line_problems, one_line

LONGEST_SKU = 64
LONGEST_NAME = 300
LONGEST_MANUFACTURER = 120
LONGEST_UPC = 32
LONGEST_DESCRIPTION = 50_000
LARGEST_STOCK = 999_999_999
MOST_VARIANTS = 200
MOST_OPTIONS = 5
LONGEST_OPTION_NAME = 40
LONGEST_OPTION_VALUE = 80


@dataclass(frozen=True, slots=True)
class VariantDraft:
    """A buyable form as it was sent; None in `price` means the product's. `picture` is the file of one of the product's
    pictures."""

    sku: str
    upc: str | None = None
    price: int | None = None
    stock: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    picture: str | None = None


@dataclass(frozen=True, slots=True)
class ProductDraft:
    """A product as it was sent. Prices are in minor units; stock None is not counted; with an empty `seo_name` one is
    made from the name."""

    sku: str
    name: str
    price: int
    seo_name: str = ""
    manufacturer: str = ""
    description: str = ""
    compare_at_price: int | None = None
    upc: str | None = None
    stock: int | None = None
    enabled: bool = True
    featured: bool = False
    rating: float | None = None
    canonical_url: str | None = None
    variants: tuple[VariantDraft, ...] = ()


class FieldKind(Enum):
    """The kinds of fields: a code is a text that spreadsheets would take for a number, money is in minor units, and
    terms are a list of texts."""

    TEXT = auto()
    CODE = auto()
    MONEY = auto()
    WHOLE = auto()
    NUMBER = auto()
    FLAG = auto()
    TERMS = auto()


TEXT_KINDS = (FieldKind.TEXT, FieldKind.CODE)
FieldCheck = Callable[[Any, str], list[Problem]]


@dataclass(frozen=True)
class ProductField:
    """A field of a product: `name` is its name in JSON, in forms and in tables, `label` what people call it, in tables
    under `table_label` where that differs. `check` returns the problems of a value at a pointer; a text is trimmed by
    `tidy` before."""

    name: str
    label: str
    kind: FieldKind
    check: FieldCheck = lambda _value, _pointer: []
    tidy: Callable[[str], str] = str.strip
    required: bool = False
    table_label: str = ""

    @cached_property
    def column(self) -> str:
        """The name of the field in the draft and in the database."""
        return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", self.name)


def _line(label: str, longest: int, required: bool = False) -> FieldCheck:
    return lambda text, at: line_problems(text or "", label, longest, at, required)


def _price(label: str) -> FieldCheck:
    return lambda price, at: price_problems(price, label, at)


# Every plain field of a product, in the order of exports. Of their problems, those of texts come first.
PRODUCT_FIELDS: Mapping[str, ProductField] = {
    known.name: known
    for known in (
        ProductField("sku", "SKU", FieldKind.TEXT, _line("The SKU", LONGEST_SKU, required=True), required=True),
        ProductField("name", "Name", FieldKind.TEXT, _line("The name", LONGEST_NAME, True), one_line, required=True),
        ProductField(
            "seoName",
            "SEO name",
            FieldKind.TEXT,
            lambda name, at: slug_problems(name, "The SEO name", at) if name else [],
        ),
        ProductField(
            "manufacturer",
            "Manufacturer",
            FieldKind.TEXT,
            _line("The manufacturer", LONGEST_MANUFACTURER),
            one_line,
        ),
        ProductField(
            "description",
            "Description",
            FieldKind.TEXT,
            lambda text, at: block_problems(text, "The description", LONGEST_DESCRIPTION, at),
            tidy=str,
        ),
        ProductField("price", "Price", FieldKind.MONEY, _price("The price"), required=True),
        ProductField("compareAtPrice", "Compare-at price", FieldKind.MONEY, _price("The compare-at price")),
        ProductField("upc", "UPC", FieldKind.CODE, _line("The UPC", LONGEST_UPC), table_label="UPC or EAN"),
        ProductField("stock", "Stock", FieldKind.WHOLE, lambda stock, at: stock_problems(stock, at)),
        ProductField("enabled", "Shown in the shop", FieldKind.FLAG),
        ProductField("featured", "Featured", FieldKind.FLAG),
        ProductField("rating", "Rating", FieldKind.NUMBER, lambda rating, at: rating_problems(rating, at)),
        ProductField("searchTerms", "Search terms", FieldKind.TERMS),
        ProductField("canonicalUrl", "Canonical URL", FieldKind.TEXT, lambda url, _at: canonical_problems(url)),
    )
}
DRAFTED = [known for known in PRODUCT_FIELDS.values() if known.kind is not FieldKind.TERMS]
TEXT_FIELDS = [known for known in DRAFTED if known.kind in TEXT_KINDS]
CHECKED = TEXT_FIELDS + [known for known in DRAFTED if known not in TEXT_FIELDS]
# Texts of the draft that are empty where they are not given; others are None.
NEVER_NONE = {known.name for known in fields(ProductDraft) if known.default is not None} & {
    known.column for known in TEXT_FIELDS
}


def field_names(*kinds: FieldKind) -> tuple[str, ...]:
    """Return the names of the product's fields of some kinds."""
    return tuple(name for name, known in PRODUCT_FIELDS.items() if known.kind in kinds)


def clean_product(
    site_id: int, draft: ProductDraft, further_problems: Callable[[ProductDraft], list[Problem]] = lambda _tidy: []
) -> ProductDraft:
    """Return the tidied draft with its description sanitised. Raises Invalid with every problem, also those that
    `further_problems` finds in the tidied draft."""
    tidy = tidy_product(draft)
    if problems := [*product_problems(tidy), *further_problems(tidy)]:
        raise Invalid(problems)
    return replace(tidy, description=clean_html(draft.description, site_id))


def tidy_product(draft: ProductDraft) -> ProductDraft:
    """Return the draft, trimmed; empty texts are None where None means "not given"."""
    texts: dict[str, Any] = {}
    for known in TEXT_FIELDS:
        text = known.tidy(getattr(draft, known.column) or "")
        texts[known.column] = text if known.column in NEVER_NONE else text or None
    return replace(draft, **texts, variants=tuple(_tidy_variant(variant) for variant in draft.variants))


def seo_name_of(name: str) -> str:
    """Return the part of the URL that a product of this name gets, before it is made unique on the site."""
    return slug(name, "product")


def product_problems(draft: ProductDraft) -> list[Problem]:
    found = [known.check(getattr(draft, known.column), f"#/{known.name}") for known in CHECKED]
    return [*chain.from_iterable(found), *variants_problems(draft.variants)]


def price_problems(price: int | None, label: str, pointer: str) -> list[Problem]:
    if price is None or 0 <= price <= LARGEST:
        return []
    return [Problem("invalid_price", f"{label} must be 0 to {LARGEST:,} in minor units.", pointer)]


def stock_problems(stock: int | None, pointer: str) -> list[Problem]:
    if stock is None or 0 <= stock <= LARGEST_STOCK:
        return []
    return [Problem("invalid_stock", f"The stock must be a whole number from 0 to {LARGEST_STOCK:,}.", pointer)]


def rating_problems(rating: float | None, pointer: str) -> list[Problem]:
    if rating is None or 0 <= rating <= 5:
        return []
    return [Problem("invalid_rating", "The rating must be a number from 0 to 5.", pointer)]


def variants_problems(variants: Sequence[VariantDraft]) -> list[Problem]:
    problems = [problem for index, variant in enumerate(variants) for problem in _variant_problems(index, variant)]
    if len(variants) > MOST_VARIANTS:
        problems.append(Problem("too_many", f"A product has at most {MOST_VARIANTS} variants.", "#/variants"))
    problems += _repetition_problems((variant.sku for variant in variants), "sku", "The SKU “{}” is on two variants.")
    choices = (", ".join(f"{name} {value}" for name, value in sorted(v.options.items())) for v in variants)
    return problems + _repetition_problems(choices, "options", "Two variants are both “{}”.")


def picture_problems(variants: Sequence[VariantDraft], files: Collection[str]) -> list[Problem]:
    """Return the problems of pictures that are not among the product's `files`."""
    message = "This picture is not among the product’s pictures any more. Choose another."
    return [
        Problem("unknown_picture", message, f"#/variants/{index}/picture")
        for index, variant in enumerate(variants)
        if variant.picture and variant.picture not in files
    ]


def _variant_problems(index: int, variant: VariantDraft) -> list[Problem]:
    at = f"#/variants/{index}"
    return [
        *line_problems(variant.sku, "The variant’s SKU", LONGEST_SKU, f"{at}/sku", required=True),
        *line_problems(variant.upc or "", "The variant’s UPC", LONGEST_UPC, f"{at}/upc"),
        *price_problems(variant.price, "The variant’s price", f"{at}/price"),
        *stock_problems(variant.stock, f"{at}/stock"),
        *_option_problems(variant.options, f"{at}/options"),
    ]


def _option_problems(options: Mapping[str, str], pointer: str) -> list[Problem]:
    if not options:
        return [Problem("required", "A variant needs what sets it apart, such as Size: M.", pointer)]
    if len(options) > MOST_OPTIONS:
        return [Problem("too_many", f"A variant has at most {MOST_OPTIONS} options.", pointer)]
    problems = []
    for name, value in options.items():
        problems += line_problems(name, "The option’s name", LONGEST_OPTION_NAME, pointer, required=True)
        problems += line_problems(value, f"The option {name[:40]}", LONGEST_OPTION_VALUE, pointer, required=True)
    return problems


def _repetition_problems(texts: Iterable[str], name: str, message: str) -> list[Problem]:
    seen: set[str] = set()
    problems = []
    for index, text in enumerate(texts):
        if text and text in seen:
            problems.append(Problem("duplicate", message.format(text), f"#/variants/{index}/{name}"))
        seen.add(text)
    return problems


def _tidy_variant(variant: VariantDraft) -> VariantDraft:
    return replace(
        variant,
        sku=variant.sku.strip(),
        upc=(variant.upc or "").strip() or None,
        picture=variant.picture or None,
        options={one_line(name): one_line(value) for name, value in variant.options.items()},
    )


def is_in_stock(stock: int | None, variant_stocks: Iterable[int | None] = ()) -> bool:
    """Whether a product can be bought: its stock is not counted or not 0. Of one with variants, the stock of any of
    them counts instead."""
    stocks = list(variant_stocks) or [stock]
    return any(left is None or left > 0 for left in stocks)


def is_on_sale(price: int, compare_at_price: int | None) -> bool:
    return compare_at_price is not None and compare_at_price > price


@dataclass(frozen=True, slots=True)
class VariantOnOffer:
    """A buyable form with its own price (minor units, the product's where it has none) and whether it is in stock."""

    sku: str
    options: Mapping[str, str]
    price: int
    in_stock: bool


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """A value of an option. `sku` is the variant that choosing it leads to: the one nearest to the present choice."""

    value: str
    sku: str
    chosen: bool
    in_stock: bool


@dataclass(frozen=True, slots=True)
class OptionGroup:
    name: str
    choices: tuple[OptionChoice, ...]


def choose_variant(variants: Sequence[VariantOnOffer], sku: str) -> VariantOnOffer | None:
    """Return the requested variant, else the first in stock, else the first; None without variants."""
    requested = next((variant for variant in variants if variant.sku == sku), None)
    return requested or next((v for v in variants if v.in_stock), variants[0] if variants else None)


def option_groups(variants: Sequence[VariantOnOffer], chosen: VariantOnOffer) -> tuple[OptionGroup, ...]:
    """Return every option with its values, both in the order of the variants."""
    values: dict[str, dict[str, None]] = {}
    for variant in variants:
        for name, value in variant.options.items():
            values.setdefault(name, {})[value] = None
    return tuple(
        OptionGroup(name, tuple(_option_choice(name, value, variants, chosen) for value in found))
        for name, found in values.items()
    )


def _option_choice(name: str, value: str, variants: Sequence[VariantOnOffer], chosen: VariantOnOffer) -> OptionChoice:
    if chosen.options.get(name) == value:
        return OptionChoice(value, chosen.sku, chosen=True, in_stock=chosen.in_stock)
    having = [variant for variant in variants if variant.options.get(name) == value]
    nearest = max(having, key=lambda variant: (_options_in_common(variant, chosen), variant.in_stock))
    return OptionChoice(value, nearest.sku, chosen=False, in_stock=nearest.in_stock)


def _options_in_common(variant: VariantOnOffer, chosen: VariantOnOffer) -> int:
    return sum(chosen.options.get(name) == value for name, value in variant.options.items())


LONGEST_TERM = 50
MOST_TERMS = 50


def clean_terms(terms: Sequence[object]) -> list[str]:
    """Return the terms trimmed, without empty ones, and without those that differ only in case from an earlier one.
    Raises Invalid with every reason; a pointer names the term, as in `#/terms/2`."""
    problems = [problem for index, term in enumerate(terms) for problem in _term_problems(index, term)]
    if problems:
        raise Invalid(problems)
    kept: dict[str, str] = {}
    for term in terms:
        trimmed = str(term).strip()
        if trimmed:
            kept.setdefault(trimmed.casefold(), trimmed)
    if len(kept) > MOST_TERMS:
        message = f"A product has at most {MOST_TERMS} search terms; these are {len(kept)}."
        raise Invalid.one("too_many_terms", message, "#/terms")
    return list(kept.values())


def add_to_terms(terms: Iterable[str], added: Sequence[object]) -> list[str]:
    """Return the terms with new ones at the end. Raises Invalid."""
    return clean_terms([*terms, *clean_terms(added)])


def split_terms(text: str) -> list[str]:
    """Return the terms of a text that is separated by commas. A line break separates none, so that it means the same as
    in a term that comes by itself: `clean_terms` refuses it."""
    return text.split(",")


def describe_term_change(product: str, before: Sequence[str], after: Sequence[str]) -> str:
    """Describe a change of a product's search terms: “Added “mac” to Sandberg Monitor Cable”."""
    added = _quote_terms(term for term in after if term not in before)
    removed = _quote_terms(term for term in before if term not in after)
    if added and removed:
        return f"Added {added} to {product} and removed {removed}"
    if added or removed:
        return f"Added {added} to {product}" if added else f"Removed {removed} from {product}"
    return f"Changed the order of the search terms of {product}"


def _quote_terms(terms: Iterable[str]) -> str:
    quoted = [f"“{term}”" for term in terms]
    return ", ".join(quoted[:5]) + (f" and {len(quoted) - 5} more" if len(quoted) > 5 else "")


def _term_problems(index: int, term: object) -> list[Problem]:
    pointer = f"#/terms/{index}"
    if not isinstance(term, str):
        return [Problem("invalid_term", "A search term must be text.", pointer)]
    trimmed = term.strip()
    problems = []
    if "," in trimmed:
        problems.append(Problem("comma_in_term", f"“{trimmed[:60]}” contains a comma.", pointer))
    if len(trimmed) > LONGEST_TERM:
        message = f"“{trimmed[:40]}…” has {len(trimmed)} characters; a search term has at most {LONGEST_TERM}."
        problems.append(Problem("term_too_long", message, pointer))
    if len(trimmed.splitlines()) > 1:
        message = f"“{one_line(trimmed)[:60]}” contains a line break. Make it two terms, or write a space instead."
        problems.append(Problem("line_break_in_term", message, pointer))
    elif UNPRINTABLE.search(trimmed):
        problems.append(Problem("unprintable", "A search term contains characters that cannot be shown.", pointer))
    return problems

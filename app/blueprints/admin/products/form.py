"""The product form: what was typed, kept as text, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import Difference, read_money, read_number, sent_revision
from app.blueprints.admin.taxonomy.products import TaxonomyForm
from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.product_rules import (
    DRAFTED,
    PRODUCT_FIELDS,
    FieldKind,
    ProductDraft,
    ProductField,
    VariantDraft,
    field_names,
    product_problems,
    split_terms,
    tidy_product,
)
from app.domain.shared.money import decimal_text
from app.domain.shared.problems import Invalid, Problem

FLAGS = field_names(FieldKind.FLAG)
FIRST = (
    *("name", "sku", "manufacturer", "description", "price", "compareAtPrice", "stock", "upc", "rating"),
    *("seoName", "canonicalUrl"),
)
# The fields that are typed, in the order in which differences are listed.
TEXTS = tuple(name for name in dict.fromkeys((*FIRST, *PRODUCT_FIELDS)) if name not in FLAGS)
DEFAULT_FLAGS: dict[str, Any] = {known.name: known.default for known in fields(ProductDraft) if known.name in FLAGS}


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A variant as typed; `options` holds one text for each option of the form."""

    sku: str = ""
    price: str = ""
    stock: str = ""
    upc: str = ""
    options: tuple[str, ...] = ()
    picture: str = ""

    @property
    def is_blank(self) -> bool:
        return not any((self.sku, self.price, self.stock, self.upc, *self.options))


@dataclass(frozen=True, slots=True)
class ProductForm:
    """The product form. It keeps all fields as text, so that no input is lost. `revision` 0 is a product that is not
    saved yet."""

    texts: dict[str, str]
    flags: Mapping[str, bool]
    revision: int = 0
    option_names: tuple[str, ...] = ("Size",)
    variants: tuple[VariantRow, ...] = ()
    taxonomy: TaxonomyForm = field(default_factory=TaxonomyForm)

    def options_of(self, row: VariantRow) -> dict[str, str]:
        """Return the options of a variant by their names."""
        return dict(zip(self.option_names, row.options, strict=False))

    @classmethod
    def blank(cls) -> ProductForm:
        return cls(dict.fromkeys(TEXTS, ""), DEFAULT_FLAGS)

    @classmethod
    def of(cls, product: Product, currency: str) -> ProductForm:
        names = tuple(dict.fromkeys(name for variant in product.variants for name in variant.options))
        return cls(
            texts={name: _text_of(product, PRODUCT_FIELDS[name], currency) for name in TEXTS},
            flags={name: getattr(product, PRODUCT_FIELDS[name].column) for name in FLAGS},
            revision=product.revision,
            option_names=names or ("Size",),
            variants=tuple(_row_of(product, variant, names, currency) for variant in product.variants),
            taxonomy=TaxonomyForm.of(product),
        )

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> ProductForm:
        names = tuple(sent.getlist("optionName")) or ("Size",)
        return cls(
            texts={name: sent.get(name, "") for name in TEXTS},
            flags={name: name in sent for name in FLAGS},
            revision=sent_revision(sent),
            option_names=names,
            variants=_typed_rows(sent, len(names)),
            taxonomy=TaxonomyForm.typed(sent),
        )

    def after(self, intent: str) -> ProductForm:
        """The form after a button of the variants was pressed: `add-variant`, `add-option` or `remove-variant:2`."""
        action, _, number = intent.partition(":")
        if action == "add-variant":
            blank = VariantRow(options=("",) * len(self.option_names))
            return replace(self, variants=(*self.variants, blank))
        if action == "add-option":
            wider = tuple(replace(row, options=(*row.options, "")) for row in self.variants)
            return replace(self, option_names=(*self.option_names, ""), variants=wider)
        kept = tuple(row for index, row in enumerate(self.variants) if str(index) != number)
        return replace(self, variants=kept) if action == "remove-variant" else self

    def without_blank_rows(self) -> ProductForm:
        """Return the form without variants that were added and left empty."""
        return replace(self, variants=tuple(row for row in self.variants if not row.is_blank))

    def on(self, revision: int) -> ProductForm:
        """Return the typed form, to be saved over another revision."""
        return replace(self, revision=revision)

    def with_terms(self, text: str) -> ProductForm:
        return replace(self, texts=self.texts | {"searchTerms": text})

    def with_taxonomy(self, taxonomy: TaxonomyForm) -> ProductForm:
        return replace(self, taxonomy=taxonomy)

    def differences(self, stored: ProductForm) -> list[Difference]:
        """Return the changes that saving this form would make, field by field."""
        pairs = [(PRODUCT_FIELDS[name].label, stored.texts[name], self.texts[name]) for name in TEXTS]
        for name in FLAGS:
            pairs.append((PRODUCT_FIELDS[name].label, _yes_or_no(stored.flags[name]), _yes_or_no(self.flags[name])))
        pairs.append(("Variants", stored.variants_text, self.variants_text))
        return [Difference(*pair) for pair in pairs if pair[1].split() != pair[2].split()]

    @property
    def variants_text(self) -> str:
        rows = ((row.sku, *row.options, row.price, row.stock, row.upc, row.picture) for row in self.variants)
        return "; ".join(" ".join(text for text in row if text) for row in rows)

    @property
    def terms(self) -> list[str]:
        return split_terms(self.texts["searchTerms"])

    def draft(self, currency: str) -> ProductDraft:
        """Return the draft of the form. Raises Invalid with every problem of the numbers and of everything else that
        needs no database."""
        problems = self._option_name_problems()
        typed = {known.column: self._value(problems, known, currency) for known in DRAFTED}
        variants = tuple(self._variant(problems, index, currency) for index in range(len(self.variants)))
        draft = ProductDraft(**typed, variants=variants)
        if problems:
            raise Invalid([*problems, *product_problems(tidy_product(draft))])
        return draft

    def _value(self, problems: list[Problem], known: ProductField, currency: str) -> Any:
        """Return the value of a field, and add what is wrong with a number to `problems`."""
        pointer = f"#/{known.name}"
        match known.kind:
            case FieldKind.FLAG:
                return self.flags[known.name]
            case FieldKind.MONEY:
                money = read_money(problems, self.texts[known.name], currency, pointer, required=known.required)
                return (money or 0) if known.required else money
            case FieldKind.WHOLE:
                return read_number(problems, int, self.texts[known.name], pointer)
            case FieldKind.NUMBER:
                return read_number(problems, float, self.texts[known.name], pointer)
        return self.texts[known.name]

    def _option_name_problems(self) -> list[Problem]:
        names = [name.strip() for name in self.option_names if name.strip()]
        if len(set(names)) == len(names):
            return []
        return [Problem("duplicate", "Two options have the same name.", "#/variants")]

    def _variant(self, problems: list[Problem], index: int, currency: str) -> VariantDraft:
        row, at = self.variants[index], f"#/variants/{index}"
        options = {name: value for name, value in zip(self.option_names, row.options, strict=True) if value.strip()}
        return VariantDraft(
            sku=row.sku,
            upc=row.upc,
            price=read_money(problems, row.price, currency, f"{at}/price"),
            stock=read_number(problems, int, row.stock, f"{at}/stock"),
            options=options,
            picture=row.picture,
        )


def _text_of(product: Product, known: ProductField, currency: str) -> str:
    """Return the value of a field as it stands in the form."""
    value = getattr(product, known.column)
    match known.kind:
        case FieldKind.MONEY:
            return _money_text(value, currency)
        case FieldKind.WHOLE | FieldKind.NUMBER:
            return _number_text(value)
        case FieldKind.TERMS:
            return ", ".join(value)
    return value or ""


def _row_of(product: Product, variant: Variant, names: tuple[str, ...], currency: str) -> VariantRow:
    picture = product.picture_of(variant)
    return VariantRow(
        sku=variant.sku,
        price=_money_text(variant.price, currency),
        stock=_number_text(variant.stock),
        upc=variant.upc or "",
        options=tuple(variant.options.get(name, "") for name in names),
        picture=picture.file if picture else "",
    )


def _typed_rows(sent: MultiDict[str, str], columns: int) -> tuple[VariantRow, ...]:
    """Return the variants of the form. Their fields come as lists of equal length, the options row by row; where there
    are no pictures to choose from, none is sent."""
    options = sent.getlist("variantOption")
    pictures = sent.getlist("variantPicture")
    columns_sent = (sent.getlist(name) for name in ("variantSku", "variantPrice", "variantStock", "variantUpc"))
    rows = (
        VariantRow(
            sku,
            price,
            stock,
            upc,
            options=tuple((options[index * columns :] + [""] * columns)[:columns]),
            picture=pictures[index] if index < len(pictures) else "",
        )
        for index, (sku, price, stock, upc) in enumerate(zip(*columns_sent, strict=False))
    )
    return tuple(rows)


def _money_text(amount: int | None, currency: str) -> str:
    return "" if amount is None else decimal_text(amount, currency)


def _number_text(number: float | None) -> str:
    return "" if number is None else repr(number).removesuffix(".0")


def _yes_or_no(answer: bool) -> str:
    return "Yes" if answer else "No"

"""A table of products as records of a bundle: what each column is about, what its name says of that, and the lines that
are about one product as the record of that product. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from app.domain.bundles.reading import FileRow
from app.domain.bundles.table_pictures import IMAGE_TEXTS, IMAGES, VARIANT_IMAGE, read_pictures
from app.domain.catalogue.pictures import MOST_IMAGES
from app.domain.catalogue.product_rules import MOST_VARIANTS, PRODUCT_FIELDS, FieldKind, field_names, split_terms
from app.domain.shared.csv_tables import TableLine
from app.domain.shared.money import parse_money
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import one_line

NOT_IMPORTED = ""
HANDLE = "handle"
ATTRIBUTE = "attribute:"
OPTIONS = (1, 2, 3, 4, 5)  # As many as a variant may have; Shopify has three.
PROBLEM = "Problem"  # The column that a table of corrections has beside those that were sent.
PRODUCT_COLUMNS: Mapping[str, str] = {
    **{name: known.table_label or known.label for name, known in PRODUCT_FIELDS.items()},
    "level": "Level",
}
VARIANT_FIELDS: Mapping[str, str] = {
    "variantSku": "Variant: SKU",
    "variantUpc": "Variant: UPC or EAN",
    "variantPrice": "Variant: price",
    "variantStock": "Variant: stock",
    **{f"option{n}{part}": f"Variant: option {n}, {part.lower()}" for n in OPTIONS for part in ("Name", "Value")},
}
PICTURE_FIELDS: Mapping[str, str] = {
    IMAGES: "Pictures",
    IMAGE_TEXTS: "Pictures: descriptions",
    VARIANT_IMAGE: "Variant: picture",
}
SHOPIFY_FIELDS: Mapping[str, str] = {HANDLE: "Shopify: handle", "status": "Shopify: status"}
FIELDS: Mapping[str, str] = {**PRODUCT_COLUMNS, **PICTURE_FIELDS, **VARIANT_FIELDS, **SHOPIFY_FIELDS}
# Names of the columns in exports of Shopify, of both forms that it has had.
SHOPIFY: Mapping[str, str] = {
    "handle": HANDLE,
    "url handle": HANDLE,
    "title": "name",
    "body (html)": "description",
    "body html": "description",
    "vendor": "manufacturer",
    "published": "enabled",
    "published on online store": "enabled",
    "image src": IMAGES,
    "product image url": IMAGES,
    "image alt text": IMAGE_TEXTS,
    **dict.fromkeys(("variant image", "variant image url"), VARIANT_IMAGE),
    "variant sku": "variantSku",
    "variant barcode": "variantUpc",
    "barcode": "variantUpc",
    "variant price": "variantPrice",
    "variant compare at price": "compareAtPrice",
    "compare-at price": "compareAtPrice",
    "variant inventory qty": "variantStock",
    "inventory quantity": "variantStock",
    **{f"option{n} {part}": f"option{n}{part.capitalize()}" for n in OPTIONS for part in ("name", "value")},
}
SHOPIFY_ONLY = {"status": "status", "sku": "variantSku", "price": "variantPrice", "description": "description"}
# Names that other programs give to columns, and Shopify’s in a table without handles, where each line is a product.
SYNONYMS: Mapping[str, str] = {
    **dict.fromkeys(("title", "product name", "product title", "item name"), "name"),
    **dict.fromkeys(("product code", "item number", "article number", "part number", "variant sku"), "sku"),
    **dict.fromkeys(("vendor", "brand", "maker", "supplier"), "manufacturer"),
    **dict.fromkeys(("body (html)", "body html", "body", "long description"), "description"),
    **dict.fromkeys(("variant price", "unit price", "selling price"), "price"),
    **dict.fromkeys(("variant compare at price", "list price", "rrp", "msrp", "was price"), "compareAtPrice"),
    **dict.fromkeys(("variant inventory qty", "inventory quantity", "quantity", "qty", "in stock"), "stock"),
    **dict.fromkeys(("variant barcode", "barcode", "ean", "gtin"), "upc"),
    **dict.fromkeys(("published", "visible", "active"), "enabled"),
    **dict.fromkeys(("slug", "url key"), "seoName"),
    "keywords": "searchTerms",
    **dict.fromkeys(("level path", "taxonomy level"), "level"),
    **dict.fromkeys(("picture", "image", "photo", "photos", "image file", "image name", "picture file"), IMAGES),
    **dict.fromkeys(("image src", "image url", "image urls", "image link", "picture url", "photo url"), IMAGES),
    **dict.fromkeys(("alt text", "image alt text", "image text", "image description"), IMAGE_TEXTS),
}
TEXTS, CODES = field_names(FieldKind.TEXT), field_names(FieldKind.CODE)
MONEY, FLAGS = field_names(FieldKind.MONEY), field_names(FieldKind.FLAG)
MOST_COLUMNS = 500
YES = frozenset(("yes", "true", "1", "y", "on", "active"))
NO = frozenset(("no", "false", "0", "n", "off", "draft", "archived", "unlisted", ""))
WHOLE = re.compile(r"[+-]?[0-9]{1,12}(?:\.0+)?", re.ASCII)
NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]+)?", re.ASCII)
NO_OPTION = {"Title": "Default Title"}  # So Shopify calls the one variant of a product without options.
LONGEST_PRODUCT = 1024**2  # Characters of all cells.


@dataclass(frozen=True, slots=True)
class ColumnTarget:
    """Something that a column can be about: its id, and what people read."""

    id: str
    label: str


def column_targets(attributes: Mapping[str, str]) -> list[ColumnTarget]:
    """Return everything that a column can be about. `attributes` are the names of the taxonomy's, by id."""
    plain = [ColumnTarget(id, label) for id, label in FIELDS.items()]
    times = Counter(attributes.values())
    named = sorted(attributes.items(), key=lambda item: (item[1].casefold(), item[0]))
    labels = ((id, name if times[name] == 1 else f"{name} ({id})") for id, name in named)
    return [*plain, *(ColumnTarget(f"{ATTRIBUTE}{id}", f"Attribute: {label}") for id, label in labels)]


def guess_columns(header: Sequence[str], attributes: Mapping[str, str]) -> list[str]:
    """Return what each column is about by its name. Our own names come before those of other programs; of several
    columns with one meaning the first counts."""
    plain = [one_line(name).casefold() for name in header]
    is_shopify = any(SHOPIFY.get(name) == HANDLE for name in plain)
    known = _target_by_name(attributes) | ({**SHOPIFY, **SHOPIFY_ONLY} if is_shopify else {})
    found = [known.get(name, NOT_IMPORTED) for name in plain]
    for place, name in enumerate(plain):
        target = SYNONYMS.get(name.replace("_", " "), NOT_IMPORTED)
        if not is_shopify and found[place] == NOT_IMPORTED and target not in found:
            found[place] = target
    return [NOT_IMPORTED if target in found[:place] else target for place, target in enumerate(found)]


def _target_by_name(attributes: Mapping[str, str]) -> dict[str, str]:
    by_name = {name.casefold(): f"{ATTRIBUTE}{id}" for id, name in attributes.items()}
    by_id = {f"{ATTRIBUTE}{id}".casefold(): f"{ATTRIBUTE}{id}" for id in attributes}
    own = {name.casefold(): target for target, label in FIELDS.items() for name in (target, label)}
    return by_name | by_id | own


def check_columns(columns: Sequence[str], attributes: Mapping[str, str], has_pictures: bool = False) -> None:
    """Check what the columns of a table are about; `has_pictures`: files of pictures came with it. Raises Invalid with
    every problem."""
    problems = list(_column_problems(columns, attributes))
    if has_pictures and IMAGES not in columns and VARIANT_IMAGE not in columns:
        message = "Choose a column for the pictures: a .zip of them came with the table."
        problems.append(Problem("missing_column", message, "#/columns"))
    if problems:
        raise Invalid(problems)


def _column_problems(columns: Sequence[str], attributes: Mapping[str, str]) -> Iterator[Problem]:
    known = {target.id: target.label for target in column_targets(attributes)}
    first: dict[str, int] = {}
    for place, target in enumerate(columns):
        at = f"#/columns/{place}"
        if target and target not in known:
            yield Problem("unknown_target", "Unknown product field.", at)
        elif target in first:
            yield Problem("twice", f"Column {first[target] + 1} is {known[target]} already.", at)
        elif target:
            first[target] = place
    yield from (Problem("missing_column", message, "#/columns") for message in _missing_columns(first))


def _missing_columns(chosen: Mapping[str, int]) -> Iterator[str]:
    if HANDLE not in chosen and "sku" not in chosen:
        yield "Choose a column for the SKU, which identifies products."
    if len(chosen) == 1:
        yield "Choose at least one more column to import."
    if "level" not in chosen and any(target.startswith(ATTRIBUTE) for target in chosen):
        yield "Attribute columns need a column for the level."


@dataclass(frozen=True, slots=True)
class TableFormat:
    """What the columns of a table are about, by their places, and the currency of its prices."""

    columns: Sequence[str]
    currency: str
    header: Sequence[str] = ()

    @property
    def is_shopify(self) -> bool:
        return HANDLE in self.columns


class Cells:
    """The cells of a line by what they are about. What cannot be read is a problem under the column's own name."""

    def __init__(self, table: TableFormat, line: TableLine, problems: list[Problem]) -> None:
        self._named = dict(zip(table.columns, line.cells, strict=False))
        self._headers = dict(zip(table.columns, table.header, strict=False))
        self._currency = table.currency
        self._problems = problems

    def __contains__(self, target: str) -> bool:
        return target in self._headers

    def text(self, target: str) -> str:
        return self._named.get(target, "").strip()

    def read(self, target: str, reader: Callable[[str], Any]) -> Any:
        """Read a cell; None for one without anything in it, or that cannot be read."""
        text = self.text(target)
        try:
            return reader(text) if text else None
        except Invalid as invalid:
            self.complain(target, invalid.problems[0])
            return None

    def complain(self, target: str, problem: Problem) -> None:
        named = one_line(self._headers.get(target, target))[:80]
        self._problems.append(Problem(problem.code, f"{named}: {problem.message}", f"#/{named}"))

    def money(self, target: str) -> int | None:
        found: int | None = self.read(target, lambda text: parse_money(text, self._currency))
        return found


def read_products(table: TableFormat, lines: Iterable[TableLine]) -> Iterator[FileRow]:
    """Yield the products of a table. Lines of one product follow each other: the first has what is the product's, and
    each a variant of it."""
    variants, pictures = _variant_places(table), [place for place, one in enumerate(table.columns) if one == IMAGES]
    for _, group in groupby(keyed_lines(table, lines), key=lambda keyed: keyed[0]):
        problems: list[Problem] = []
        lines = _lines_to_read(table, (variants, pictures), (line for _, line in group), problems)
        yield _read_product(table, lines, problems)


def _lines_to_read(
    table: TableFormat, places: tuple[Sequence[int], Sequence[int]], lines: Iterable[TableLine], problems: list[Problem]
) -> list[TableLine]:
    """Return the first line of a product, and those of its variants and of its pictures, by the `places` of their
    columns, but no more than are enough to refuse the product: a file may have millions of lines for one."""
    variants, pictures = places
    kept: list[TableLine] = []
    of_variants = of_pictures = size = 0
    for line in lines:
        if len(line.cells) > len(table.columns) and len(problems) < MOST_VARIANTS:
            message = f"Line {line.number:,} has {len(line.cells)} cells; the first line names {len(table.columns)}."
            problems.append(Problem("too_many_cells", message))
        is_variant, is_picture = _has_cell(line, variants), _has_cell(line, pictures)
        is_wanted = (is_variant and of_variants < MOST_VARIANTS + 2) or (is_picture and of_pictures <= MOST_IMAGES)
        if (not kept or is_wanted) and size <= LONGEST_PRODUCT:
            kept.append(line)
            size += line.size
            of_variants += is_variant
            of_pictures += is_picture
    if size > LONGEST_PRODUCT:
        message = f"The lines of this product have more than {LONGEST_PRODUCT:,} characters."
        problems.append(Problem("too_long", message))
    return kept


def _variant_places(table: TableFormat) -> list[int]:
    return [place for place, target in enumerate(table.columns) if target in VARIANT_FIELDS]


def _has_cell(line: TableLine, places: Sequence[int]) -> bool:
    return any(line.cells[place].strip() for place in places if place < len(line.cells))


def keyed_lines(table: TableFormat, lines: Iterable[TableLine]) -> Iterator[tuple[int, TableLine]]:
    """Yield each line after the number of the line with which its product begins. In a table of this shop's own form a
    line without a variant is a product of its own, so that one that stands twice is refused."""
    key = HANDLE if table.is_shopify else "sku"
    place = table.columns.index(key)
    variants = _variant_places(table)
    begun, before = 0, ""
    for line in lines:
        name = line.cells[place].strip() if place < len(line.cells) else ""
        is_variant = table.is_shopify or _has_cell(line, variants)
        if not name or name != before or not is_variant:
            begun = line.number
        before = name
        yield begun, line


def _read_product(table: TableFormat, lines: Sequence[TableLine], problems: list[Problem]) -> FileRow:
    cells = [Cells(table, line, problems) for line in lines]
    fields = _read_fields(table, cells[0])
    variants = _read_variants(cells)
    as_variant = _complete_shopify(cells[0], fields, variants) if table.is_shopify else None
    if variants:
        fields["variants"] = variants
    of_variants = [line.text(VARIANT_IMAGE) for line in cells]
    fields |= read_pictures([(line.text(IMAGES), line.text(IMAGE_TEXTS)) for line in cells], of_variants)
    size = sum(line.size for line in lines)
    if as_variant is not None:
        as_variant |= {name: fields[name] for name in (IMAGES, IMAGE_TEXTS) if name in fields}
    return FileRow(
        lines[0].number,
        fields,
        size,
        tuple(problems),
        is_partial=True,
        as_variant=as_variant,
        priced_by_variant=table.is_shopify,
    )


def _read_fields(table: TableFormat, cells: Cells) -> dict[str, Any]:
    fields: dict[str, Any] = {
        target: cells.text(target) if PRODUCT_FIELDS[target].required else cells.text(target) or None
        for target in TEXTS
        if target in cells
    }
    fields |= {target: cells.money(target) for target in MONEY if target in cells}
    fields |= {target: cells.read(target, reader) for target, reader in READERS.items() if target in cells}
    fields |= {target: cells.read(target, _read_flag) for target in FLAGS if cells.text(target)}
    fields |= {target: _read_code(cells.text(target)) for target in CODES if target in cells}
    if "searchTerms" in cells:
        fields["searchTerms"] = [one for term in split_terms(cells.text("searchTerms")) if (one := term.strip())]
    if cells.text("status"):
        fields["enabled"] = fields.get("enabled", True) and cells.read("status", _read_flag)
    if "level" in cells:
        fields["taxonomy"] = _read_taxonomy(table, cells)
    for target, label in (("name", "name"), ("price", "price"), ("sku", "SKU")):
        if target in cells and not cells.text(target):
            cells.complain(target, Problem("required", f"The {label} is missing."))
    return fields


def _read_taxonomy(table: TableFormat, cells: Cells) -> dict[str, Any] | None:
    typed = cells.text("level")
    if not typed:
        return None
    values = {
        target.removeprefix(ATTRIBUTE): cells.text(target) for target in table.columns if target.startswith(ATTRIBUTE)
    }
    return {"levelId": typed, "attributes": values}


def _read_variants(lines: Sequence[Cells]) -> list[dict[str, Any]]:
    """Return the variants that the lines are about. The names of options stand on the first line of a product."""
    names = {n: lines[0].text(f"option{n}Name") for n in OPTIONS}
    return [_read_variant(cells, names) for cells in lines if any(cells.text(target) for target in VARIANT_FIELDS)]


def _read_variant(cells: Cells, names: Mapping[int, str]) -> dict[str, Any]:
    options = {
        cells.text(f"option{n}Name") or name or f"Option {n}": value
        for n, name in names.items()
        if (value := cells.text(f"option{n}Value"))
    }
    variant: dict[str, Any] = {"sku": cells.text("variantSku")}
    if options:
        variant["options"] = options
    if "variantUpc" in cells:
        variant["upc"] = _read_code(cells.text("variantUpc"))
    if "variantPrice" in cells:
        variant["price"] = cells.money("variantPrice")
    if "variantStock" in cells:
        variant["stock"] = cells.read("variantStock", _read_whole)
    if picture := cells.text(VARIANT_IMAGE):
        variant["image"] = picture
    return variant


def _complete_shopify(cells: Cells, fields: dict[str, Any], variants: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Complete the fields of a product of Shopify, which is known by its handle and has price, stock and code on its
    variants. Return its fields as a product with one variant where its one line may as well be that of a variant; else
    None."""
    handle = cells.text(HANDLE)
    fields["seoName"] = fields.get("seoName") or handle
    fields.setdefault("sku", handle)
    if "variantPrice" in cells or "price" in cells:
        prices = (variant["price"] for variant in variants if variant.get("price") is not None)
        fields["price"] = fields.get("price") or next(prices, None)
    if fields.get("price", 0) is None and not (cells.text("variantPrice") or cells.text("price")):
        cells.complain("variantPrice", Problem("required", "The price is missing."))
    if fields.get("compareAtPrice") == 0:
        fields["compareAtPrice"] = None
    for place, variant in enumerate(variants, start=1):
        _tidy_variant(variant, f"{handle}-{place}", fields.get("price"))
    if len(variants) != 1 or variants[0].get("options", NO_OPTION) != NO_OPTION:
        return None
    only = variants.pop()
    as_variant = None if "options" in only else {**fields, "variants": [only]}
    fields["sku"] = cells.text("variantSku") or handle
    fields |= {name: only[name] for name in ("upc", "stock") if name in only}
    return as_variant


def _tidy_variant(variant: dict[str, Any], sku: str, price: int | None) -> None:
    variant["sku"] = variant["sku"] or sku
    if variant.get("stock") is not None:
        variant["stock"] = max(0, variant["stock"])  # Shopify counts below 0 where more was sold than was there.
    if price is not None and variant.get("price") == price:
        variant["price"] = None


def _read_code(text: str) -> str | None:
    """Return a barcode without the apostrophe by which spreadsheets keep its zeros."""
    return text.removeprefix("'").strip() or None


def _read_flag(text: str) -> bool:
    if (word := text.casefold()) in YES:
        return True
    if word in NO:
        return False
    raise Invalid.one("invalid_flag", f"“{text[:40]}” is neither yes nor no.")


def _read_whole(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise Invalid.one("invalid_number", f"“{text[:40]}” is not a whole number.")
    return int(float(text))


def _read_number(text: str) -> float:
    if not NUMBER.fullmatch(text):
        raise Invalid.one("invalid_number", f"“{text[:40]}” is not a number.")
    return float(text)


READERS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(field_names(FieldKind.WHOLE), _read_whole),
    **dict.fromkeys(field_names(FieldKind.NUMBER), _read_number),
}

"""The lines of a table that are about one product, as the record of a bundle. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from app.domain.bundles.reading import FileRow
from app.domain.bundles.tables.columns import ATTRIBUTE, HANDLE, OPTIONS, VARIANT_FIELDS
from app.domain.bundles.tables.lines import TableLine
from app.domain.catalogue.product_rules import MOST_VARIANTS, split_terms
from app.domain.shared.money import parse_money
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import one_line

YES = frozenset(("yes", "true", "1", "y", "on", "active"))
NO = frozenset(("no", "false", "0", "n", "off", "draft", "archived", "unlisted", ""))
WHOLE = re.compile(r"[+-]?[0-9]{1,12}(?:\.0+)?", re.ASCII)
NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]+)?", re.ASCII)
NO_OPTION = {"Title": "Default Title"}  # So Shopify calls the one variant of a product without options.
LONGEST_PRODUCT = 1024**2  # Characters of all cells.
LEVEL_STEPS = re.compile(r"\s*[›>]\s*")


@dataclass(frozen=True, slots=True)
class TableFormat:
    """What the columns of a table are about, by their places; the currency of its prices; level ids by themselves and
    by their paths in lower case, “camping › tents”."""

    columns: Sequence[str]
    currency: str
    level_ids: Mapping[str, str] = field(default_factory=dict)
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


def product_rows(table: TableFormat, lines: Iterable[TableLine]) -> Iterator[FileRow]:
    """Yield the products of a table. Lines of one product follow each other: the first has what is the product's, and
    each a variant of it."""
    variants = _variant_places(table)
    for _, group in groupby(keyed_lines(table, lines), key=lambda keyed: keyed[0]):
        problems: list[Problem] = []
        yield _row(table, _kept_lines(table, variants, (line for _, line in group), problems), problems)


def _kept_lines(
    table: TableFormat, variants: Sequence[int], lines: Iterable[TableLine], problems: list[Problem]
) -> list[TableLine]:
    """Return the first line of a product and those of its variants, but no more than are enough to refuse the product:
    a file may have millions of lines for one."""
    kept: list[TableLine] = []
    size = 0
    for line in lines:
        if len(line.cells) > len(table.columns) and len(problems) < MOST_VARIANTS:
            message = f"Line {line.number:,} has {len(line.cells)} cells; the first line names {len(table.columns)}."
            problems.append(Problem("too_many_cells", message))
        if (not kept or _has_cell(line, variants)) and len(kept) < MOST_VARIANTS + 2 and size <= LONGEST_PRODUCT:
            kept.append(line)
            size += line.size
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


def _row(table: TableFormat, lines: Sequence[TableLine], problems: list[Problem]) -> FileRow:
    cells = [Cells(table, line, problems) for line in lines]
    fields = _product(table, cells[0])
    variants = _variants(cells)
    as_variant = _as_shopify(cells[0], fields, variants) if table.is_shopify else None
    if variants:
        fields["variants"] = variants
    size = sum(line.size for line in lines)
    return FileRow(
        lines[0].number,
        fields,
        size,
        tuple(problems),
        is_partial=True,
        as_variant=as_variant,
        priced_by_variant=table.is_shopify,
    )


def _product(table: TableFormat, cells: Cells) -> dict[str, Any]:
    fields: dict[str, Any] = {target: cells.text(target) for target in ("sku", "name") if target in cells}
    fields |= {target: cells.text(target) or None for target in TEXTS if target in cells}
    fields |= {target: cells.money(target) for target in ("price", "compareAtPrice") if target in cells}
    fields |= {target: cells.read(target, reader) for target, reader in READERS.items() if target in cells}
    fields |= {target: cells.read(target, _flag) for target in ("enabled", "featured") if cells.text(target)}
    if "upc" in cells:
        fields["upc"] = _code(cells.text("upc"))
    if "searchTerms" in cells:
        fields["searchTerms"] = [one for term in split_terms(cells.text("searchTerms")) if (one := term.strip())]
    if cells.text("status"):
        fields["enabled"] = fields.get("enabled", True) and cells.read("status", _flag)
    if "level" in cells:
        fields["taxonomy"] = _taxonomy(table, cells)
    _require(cells)
    return fields


def _require(cells: Cells) -> None:
    for target, label in (("name", "name"), ("price", "price"), ("sku", "SKU")):
        if target in cells and not cells.text(target):
            cells.complain(target, Problem("required", f"The {label} is missing."))


def _taxonomy(table: TableFormat, cells: Cells) -> dict[str, Any] | None:
    typed = cells.text("level")
    if not typed:
        return None
    level_id = table.level_ids.get(typed) or table.level_ids.get(" › ".join(LEVEL_STEPS.split(typed)).casefold(), typed)
    values = {
        target.removeprefix(ATTRIBUTE): cells.text(target) for target in table.columns if target.startswith(ATTRIBUTE)
    }
    return {"levelId": level_id, "attributes": values}


def _variants(lines: Sequence[Cells]) -> list[dict[str, Any]]:
    """Return the variants that the lines are about. The names of options stand on the first line of a product."""
    names = {n: lines[0].text(f"option{n}Name") for n in OPTIONS}
    return [_variant(cells, names) for cells in lines if any(cells.text(target) for target in VARIANT_FIELDS)]


def _variant(cells: Cells, names: Mapping[int, str]) -> dict[str, Any]:
    options = {
        cells.text(f"option{n}Name") or name or f"Option {n}": value
        for n, name in names.items()
        if (value := cells.text(f"option{n}Value"))
    }
    variant: dict[str, Any] = {"sku": cells.text("variantSku")}
    if options:
        variant["options"] = options
    if "variantUpc" in cells:
        variant["upc"] = _code(cells.text("variantUpc"))
    if "variantPrice" in cells:
        variant["price"] = cells.money("variantPrice")
    if "variantStock" in cells:
        variant["stock"] = cells.read("variantStock", _whole)
    return variant


def _as_shopify(cells: Cells, fields: dict[str, Any], variants: list[dict[str, Any]]) -> dict[str, Any] | None:
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


def _code(text: str) -> str | None:
    """Return a barcode without the apostrophe by which spreadsheets keep its zeros."""
    return text.removeprefix("'").strip() or None


def _flag(text: str) -> bool:
    if (word := text.casefold()) in YES:
        return True
    if word in NO:
        return False
    raise Invalid.one("invalid_flag", f"“{text[:40]}” is neither yes nor no.")


def _whole(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise Invalid.one("invalid_number", f"“{text[:40]}” is not a whole number.")
    return int(float(text))


def _number(text: str) -> float:
    if not NUMBER.fullmatch(text):
        raise Invalid.one("invalid_number", f"“{text[:40]}” is not a number.")
    return float(text)


TEXTS = ("seoName", "manufacturer", "description", "canonicalUrl")
READERS: Mapping[str, Callable[[str], Any]] = {"stock": _whole, "rating": _number}

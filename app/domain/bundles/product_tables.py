"""Tables of products (CSV): the lines of a file, one at a time, so that it takes the memory of its longest line; a
table as a bundle of products alone; the lines that were left out, to correct and send again; and all products of a
site as a table in our own columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any

from sqlalchemy import select

from app.domain.bundles.archive import MEDIA, Bundle, open_pictures
from app.domain.bundles.product_rows import export_rows
from app.domain.bundles.reading import MOST_ROWS, FileRow, RowBundle
from app.domain.bundles.report import BrokenBundle
from app.domain.bundles.table_rows import (
    ATTRIBUTE,
    FLAGS,
    MONEY,
    MOST_COLUMNS,
    NOT_IMPORTED,
    OPTIONS,
    PROBLEM,
    PRODUCT_COLUMNS,
    VARIANT_FIELDS,
    TableFormat,
    keyed_lines,
    read_products,
)
from app.domain.catalogue.product_rules import FieldKind, field_names
from app.domain.shared.csv_tables import BrokenTable, TableLine, read_lines
from app.domain.shared.money import decimal_text
from app.domain.shared.problems import Invalid
from app.domain.sites.models import Site
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.products.panel import stored_texts
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db

MOST_LINES = 2_000_000  # Of a file, blank ones and those within cells included: ten for each of the most products.
MOST_FIRST_LINES = 20_000  # Read in a request for the column names and some samples, ...
MOST_FIRST_BYTES = 8 * 1024**2  # ... and so many bytes; the whole file is read by a worker.
LONGEST_LINE = 1024**2  # Bytes.
SEPARATORS = (",", ";", "\t")
PRODUCTS = "products.jsonl"
PLAIN = field_names(FieldKind.TEXT, FieldKind.CODE, FieldKind.WHOLE, FieldKind.NUMBER)

Row = Mapping[str, Any]


class FirstLinesEnd(BrokenBundle):
    """The error that a request may read no more lines of a file, and has not found what it needs."""


class Lines:
    """The lines of an open file, those that are blank left out. Iterating raises BrokenBundle, and where only the first
    lines are to be read, FirstLinesEnd after them."""

    def __init__(self, stream: IO[bytes], name: str, only_first: bool = False) -> None:
        self._name = name
        self._stream = stream
        self._only_first = only_first
        self._read = 0
        self._bytes = 0
        self._size = 0  # Bytes of the line of cells that is being read: it goes on over line ends in quotation marks.
        first = self._decode(self._stream.readline(LONGEST_LINE + 1))
        self._separator = max(SEPARATORS, key=first.count)
        self._first = first

    def __iter__(self) -> Iterator[TableLine]:
        try:
            for line in read_lines(self._decode_lines(), self._separator):
                self._size = 0
                if len(line.cells) > MOST_COLUMNS:
                    message = f"A table has at most {MOST_COLUMNS} columns; this line has {len(line.cells):,} cells."
                    raise BrokenBundle.at(self._name, message, line.number)
                if not line.is_blank:
                    yield line
        except BrokenTable as error:
            raise BrokenBundle.at(self._name, f"The table ends too early: {error}.", error.line) from error

    def _decode_lines(self) -> Iterator[str]:
        yield self._first
        while raw := self._stream.readline(LONGEST_LINE + 1):
            yield self._decode(raw)

    def _decode(self, raw: bytes) -> str:
        self._read += 1
        self._size += len(raw)
        self._bytes += len(raw)
        if self._only_first and (self._read > MOST_FIRST_LINES or self._bytes > MOST_FIRST_BYTES):
            message = f"The column names and a row must be within the first {MOST_FIRST_LINES:,} lines"
            raise FirstLinesEnd.at(self._name, f"{message} and {MOST_FIRST_BYTES // 1024**2} MB.", self._read)
        if self._size > LONGEST_LINE:
            message = f"The line is longer than {LONGEST_LINE:,} bytes; is a quotation mark missing?"
            raise BrokenBundle.at(self._name, message, self._read)
        try:
            return raw.decode("utf-8-sig" if self._read == 1 else "utf-8").replace("\0", "�")
        except UnicodeDecodeError as error:
            message = "The file is not in UTF-8. In a spreadsheet, save it as “CSV UTF-8”."
            raise BrokenBundle.at(self._name, message, self._read) from error


def header_and_samples(path: Path, name: str, samples: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of a table's columns and the cells of its first lines, filled up to the header's length. Raises
    BrokenBundle for what is no table. It takes no longer for a long file: only the first lines are read."""
    found: list[list[str]] = []
    with path.open("rb") as stream:
        lines = iter(Lines(stream, name, only_first=True))
        first = next(lines, None)
        if first is None or len(first.cells) < 2:
            raise BrokenBundle.at(name, "The first line must hold the column names, with commas, semicolons or tabs.")
        header = first.cells
        try:
            found.extend(line.cells for line in islice(lines, samples))
        except FirstLinesEnd:
            if not found:
                raise
    if not found:
        raise BrokenBundle.at(name, "The file has no rows below the column names.")
    return header, [[*cells, *[""] * len(header)][: len(header)] for cells in found]


class PictureArchive:
    """The pictures that came beside a table, as files in media/: a line names one by its path in the archive or by its
    last part alone, whatever the case."""

    def __init__(self, archive: Bundle) -> None:
        self.files = {
            f"{MEDIA}{name}": (partial(archive.open, name), archive.packed_size(name)) for name in archive.files
        }
        self.unnamed = dict.fromkeys(archive.files)
        self._by_name: dict[str, list[str]] = {}
        for name in archive.files:
            for form in {name.casefold(), PurePosixPath(name).name.casefold()}:
                self._by_name.setdefault(form, []).append(name)

    def find(self, name: str) -> str | None:
        """Return the file of a name, None without one. Raises Invalid where several have it."""
        found = self._by_name.get(name.replace("\\", "/").casefold(), [])
        if name in found:
            found = [name]
        if len(found) > 1:
            message = (
                f"The .zip has {len(found)} files of the name “{name[:80]}”: {', '.join(found[:3])}. Give the folder."
            )
            raise Invalid.one("ambiguous_file", message)
        for one in found:
            self.unnamed.pop(one, None)
        return f"{MEDIA}{found[0]}" if found else None


class TableBundle(RowBundle):
    """A table of products as a bundle, with the pictures that came beside it. Each pass over the rows reads its file
    anew, so that a long one takes no more memory."""

    def __init__(self, path: Path, name: str, table: TableFormat, pictures: PictureArchive | None = None) -> None:
        super().__init__(pictures.files if pictures else {})
        self._path = path
        self._name = name
        self._table = table
        self._pictures = pictures

    def picture(self, name: str) -> str | None:
        return self._pictures.find(name) if self._pictures else None

    def describe_missing(self, name: str) -> str:
        if self._pictures:
            return f"The .zip has no picture “{name[:120]}”."
        return f"There is no picture “{name[:120]}”. Send the table together with a .zip of its pictures."

    def unnamed_pictures(self) -> Sequence[str]:
        return [*self._pictures.unnamed] if self._pictures else ()

    def find(self, name: str) -> str | None:
        return self._name if name == PRODUCTS else None

    def rows(self) -> Iterator[FileRow]:
        with self._path.open("rb") as stream:
            lines = iter(Lines(stream, self._name))
            next(lines, None)
            yield from read_products(self._table, lines)

    def count(self) -> int:
        count = 0
        for count, _ in enumerate(self.rows(), start=1):
            if count > MOST_ROWS:
                raise BrokenBundle.at(self._name, f"A table has at most {MOST_ROWS:,} products. Import it in parts.")
        return count


@contextmanager
def open_table(path: Path, name: str, table: TableFormat) -> Iterator[TableBundle]:
    """Open a table, with the archive of pictures beside it where there is one. Raises BrokenBundle for a file that is
    none, or has another number of columns than were chosen."""
    header, _ = header_and_samples(path, name, 1)
    if len(header) != len(table.columns):
        raise BrokenBundle.at(name, f"The first line has {len(header)} columns; {len(table.columns)} were chosen.")
    with ExitStack() as opened:
        beside = path.with_suffix(".zip")
        archive = opened.enter_context(open_pictures(beside, "The .zip of pictures")) if beside.is_file() else None
        pictures = PictureArchive(archive) if archive else None
        yield TableBundle(path, name, replace(table, header=header), pictures)


def format_of(site_id: int, columns: list[str]) -> TableFormat:
    """Return the format of a site's table whose columns are about `columns`."""
    currency = db.session.scalars(select(Site.currency).where(Site.id == site_id)).one()
    kept = [target or f"{NOT_IMPORTED}#{place}" for place, target in enumerate(columns)]  # No two are the same.
    return TableFormat(kept, currency)


def attribute_names(site_id: int) -> dict[str, str]:
    """Return the names of the attributes of the active taxonomy, by id."""
    return {id: definitions[0].name for id, definitions in active_tree(site_id).attributes_by_id().items()}


def correction_lines(
    path: Path, name: str, table: TableFormat, refused: Sequence[Mapping[str, Any]]
) -> Iterator[list[str]]:
    """Yield the names of the columns, then every line of the products that a report's `refused` names, as they were
    sent. A further column says on the first line of each what is wrong with it."""
    found: dict[int, dict[str, None]] = {}
    for one in refused:
        if one["line"] is not None:
            found.setdefault(one["line"], {})[one["reason"]] = None
    reasons = {line: " ".join(found[line]) for line in found}
    with path.open("rb") as stream:
        lines = iter(Lines(stream, name))
        header = next(lines).cells
        keep = [place for place, column in enumerate(header) if column.strip() != PROBLEM]
        yield [*(header[place] for place in keep), PROBLEM]
        for begun, line in keyed_lines(table, lines):
            if begun in reasons:
                cells = [line.cells[place] if place < len(line.cells) else "" for place in keep]
                yield [*cells, reasons[begun] if begun == line.number else ""]


def export_table(site_id: int) -> Iterator[Sequence[str]]:
    """Yield the names of the columns, then the lines: of a product its own first, with its first variant, and one for
    each further variant."""
    currency, attribute_ids = currency_of(site_id), sorted(attribute_names(site_id))
    columns = [*PRODUCT_COLUMNS, *VARIANT_FIELDS, *(f"{ATTRIBUTE}{id}" for id in attribute_ids)]
    yield columns
    for row in export_rows(site_id):
        for cells in _lines_of_product(row, currency, attribute_ids):
            yield [cells.get(column, "") for column in columns]


def _lines_of_product(row: Row, currency: str, attribute_ids: Iterable[str]) -> Iterator[dict[str, str]]:
    first, *others = [_variant_cells(variant, currency) for variant in row["variants"]] or [{}]
    yield _product_cells(row, currency, attribute_ids) | first
    for variant in others:
        yield {"sku": row["sku"]} | variant


def _product_cells(row: Row, currency: str, attribute_ids: Iterable[str]) -> dict[str, str]:
    classified = row["taxonomy"] or {"levelId": "", "attributes": {}}
    texts = stored_texts(classified["attributes"])
    return {
        **{name: _text(row[name]) for name in PLAIN},
        **{name: _money(row[name], currency) for name in MONEY},
        **{name: "yes" if row[name] else "no" for name in FLAGS},
        "searchTerms": ", ".join(row["searchTerms"]),
        "level": classified["levelId"],
        **{f"{ATTRIBUTE}{id}": ", ".join(texts[id]) for id in attribute_ids if id in texts},
    }


def _variant_cells(variant: Row, currency: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for place, (name, value) in zip(OPTIONS, variant["options"].items(), strict=False):
        options |= {f"option{place}Name": name, f"option{place}Value": value}
    return {
        "variantSku": variant["sku"],
        "variantUpc": _text(variant["upc"]),
        "variantPrice": _money(variant["price"], currency),
        "variantStock": _text(variant["stock"]),
        **options,
    }


def _money(amount: int | None, currency: str) -> str:
    return "" if amount is None else decimal_text(amount, currency)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")  # Never with an exponent, which the import would not take.
    return "" if value is None else str(value)

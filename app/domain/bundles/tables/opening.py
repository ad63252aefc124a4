"""A table of products as a bundle that has nothing but products."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select

from app.domain.bundles.reading import FileRow, RowBundle
from app.domain.bundles.report import BrokenBundle
from app.domain.bundles.size_limits import MOST_ROWS
from app.domain.bundles.tables.columns import NOT_IMPORTED
from app.domain.bundles.tables.lines import Lines, header_and_samples
from app.domain.bundles.tables.products import TableFormat, product_rows
from app.domain.sites.models import Site
from app.domain.taxonomy.products.panel import path_label
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

PRODUCTS = "products.jsonl"


class TableBundle(RowBundle):
    """A table of products as a bundle. Each pass over the rows reads its file anew, so that a long one takes no more
    memory."""

    def __init__(self, path: Path, name: str, table: TableFormat) -> None:
        super().__init__({})
        self._path = path
        self._name = name
        self._table = table

    def find(self, name: str) -> str | None:
        return self._name if name == PRODUCTS else None

    def rows(self) -> Iterator[FileRow]:
        with self._path.open("rb") as stream:
            lines = iter(Lines(stream, self._name))
            next(lines, None)
            yield from product_rows(self._table, lines)

    def count(self) -> int:
        count = 0
        for count, _ in enumerate(self.rows(), start=1):
            if count > MOST_ROWS:
                raise BrokenBundle.at(self._name, f"A table has at most {MOST_ROWS:,} products. Import it in parts.")
        return count


@contextmanager
def open_table(path: Path, name: str, table: TableFormat) -> Iterator[TableBundle]:
    """Open a table. Raises BrokenBundle for a file that is none, or has another number of columns than were chosen."""
    header, _ = header_and_samples(path, name, 1)
    if len(header) != len(table.columns):
        raise BrokenBundle.at(name, f"The first line has {len(header)} columns; {len(table.columns)} were chosen.")
    yield TableBundle(path, name, replace(table, header=header))


def format_of(site_id: int, columns: list[str]) -> TableFormat:
    """Return the format of a site's table whose columns are about `columns`."""
    currency = db.session.scalars(select(Site.currency).where(Site.id == site_id)).one()
    kept = [target or f"{NOT_IMPORTED}#{place}" for place, target in enumerate(columns)]  # No two are the same.
    return TableFormat(kept, currency, _level_ids(active_tree(site_id)))


def _level_ids(tree: TaxonomyTree) -> dict[str, str]:
    by_path = {path_label(tree, level_id).casefold(): level_id for level_id in tree.levels}
    return by_path | {level_id: level_id for level_id in tree.levels}


def attribute_names(site_id: int) -> dict[str, str]:
    """Return the names of the attributes of the active taxonomy, by id."""
    return {id: definitions[0].name for id, definitions in active_tree(site_id).attributes_by_id().items()}

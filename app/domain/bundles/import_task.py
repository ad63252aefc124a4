"""The state that the parts of one import share, and what all of them need: progress, refusals, products by SKU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from sqlalchemy import select

from app.domain.bundles.archive import Bundle
from app.domain.bundles.parts import EVERYTHING, Importer, Part
from app.domain.bundles.picture_fetches import PictureFetches
from app.domain.bundles.reading import Document
from app.domain.bundles.report import BundleReport, Refusal
from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.paging import batched
from app.domain.shared.problems import Problem
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

NO_SITE = 0  # The id that stands for a site which a dry run did not make: no record has it.
AT_ONCE = 500  # SKUs in one query.

Transaction = Callable[[], AbstractContextManager[None]]
Watch = Callable[[str, int, int | None], None]  # Step, rows done and of how many; may raise to end the work.


def unwatched(_step: str, _done: int, _total: int | None) -> None: ...


@dataclass(slots=True)
class ImportTask:
    """The import of one bundle. `transaction` opens the transaction of a part, and is not used in a dry run.
    `documents` are the bundle's JSON files by their plain names, `categories` the paths of its categories that shoppers
    browse, `skus` the products of it that were taken, with their lines. `taxonomy_id` is the active
    taxonomy, of which `tree` has the levels, `wanted_taxonomy_id` one that the bundle would rather have active. `rows`
    are those of all its `.jsonl` files. `removes`: categories that a tree of the bundle lacks go from the site's;
    nothing else is ever removed. `fetches` gets pictures at addresses, None where none is fetched."""

    bundle: Bundle
    clock: Clock
    images: ImageStore
    transaction: Transaction
    report: BundleReport
    importer: Importer
    dry_run: bool = False
    parts: frozenset[Part] = EVERYTHING
    removes: bool = True
    name: str = "a bundle"
    watch: Watch = unwatched
    rows: int | None = None
    rows_done: int = 0
    site_id: int = NO_SITE
    tree: TaxonomyTree = field(default_factory=TaxonomyTree)
    taxonomy_id: str | None = None
    wanted_taxonomy_id: str | None = None
    password_memory_kib: int = 0
    documents: dict[str, Document] = field(default_factory=dict)
    categories: set[str] = field(default_factory=set)
    skus: dict[str, int] = field(default_factory=dict)
    fetches: PictureFetches | None = None

    @property
    def author(self) -> Author:
        return Author(self.site_id, self.importer.name, self.clock, self.importer.origin)

    def step(self, name: str, rows: int = 0) -> None:
        """Report the progress to `watch`, between two transactions."""
        self.rows_done += rows
        self.watch(name, self.rows_done, self.rows)

    def writing(self) -> AbstractContextManager[None]:
        """Return the context around each part that is committed by itself."""
        return nullcontext() if self.dry_run else self.transaction()

    def refuse(self, kind: str, document: Document, problems: Iterable[Problem]) -> None:
        """Note a record of a JSON document that is left out, with the lines of its problems."""
        self.report.refuse(
            kind,
            [_refusal(document.name, document.line_of(problem.pointer), problem) for problem in problems],
        )

    def refuse_line(self, kind: str, file: str, line: int, problems: Iterable[Problem]) -> None:
        """Note a record of a file of lines, or a part of one, that is left out."""
        self.report.refuse(kind, [_refusal(file, line, problem) for problem in problems])


def _refusal(file: str, line: int, problem: Problem) -> Refusal:
    """Return the refusal for a problem. Its field is the JSON pointer as people read it: `#/variants/0/price` is
    `variants/0/price`."""
    field = problem.pointer.removeprefix("#").removeprefix("/").replace("~1", "/").replace("~0", "~")
    return Refusal(file, line, field, problem.message, problem.code)


def problems_at(at: str, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems of a record as problems of a document that holds it at the pointer `at`."""
    return [Problem(one.code, one.message, f"{at}{one.pointer.removeprefix('#')}") for one in problems]


def ids_by_sku(task: ImportTask, skus: Sequence[str]) -> dict[str, int]:
    """Return the ids of products by SKU; in a dry run also of the products that it would add, with an id that no record
    has."""
    found: dict[str, int] = {}
    for part in batched(skus, AT_ONCE):
        query = select(Product.sku, Product.id).where(Product.site_id == task.site_id, Product.sku.in_(part))
        found.update(db.session.execute(query).all())
    if task.dry_run:
        found.update({sku: NO_SITE for sku in skus if sku not in found and sku in task.skus})
    return found

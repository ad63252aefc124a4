"""The state that the parts of one import share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from app.domain.bundles.archive import Bundle
from app.domain.bundles.parts import EVERYTHING, Importer, Part
from app.domain.bundles.reading import Document
from app.domain.bundles.report import BundleReport, Refusal
from app.domain.catalogue.pictures import ImageStore
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Problem
from app.domain.taxonomy.tree import TaxonomyTree

NO_SITE = 0  # The id that stands for a site which a dry run did not make: no record has it.

Transaction = Callable[[], AbstractContextManager[None]]
Watch = Callable[[str, int, int | None], None]  # Step, rows done and of how many; may raise to end the work.


def unwatched(_step: str, _done: int, _total: int | None) -> None: ...


@dataclass(slots=True)
class ImportTask:
    """The import of one bundle. `transaction` opens the transaction of a part, and is not used in a dry run.
    `documents` are the bundle's JSON files by their plain names, `skus` the products of the bundle that were taken,
    with their lines. `taxonomy_id` is the active taxonomy, of which `tree` has the levels, `wanted_taxonomy_id` one
    that the bundle would rather have active. `rows` are those of all its `.jsonl` files. `removes`: categories that a
    tree of the bundle lacks go from the site's; nothing else is ever removed."""

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
    skus: dict[str, int] = field(default_factory=dict)

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
            [refusal_of(document.name, document.line_of(problem.pointer), problem) for problem in problems],
        )


def refusal_of(file: str, line: int, problem: Problem) -> Refusal:
    return Refusal(file, line, field_of(problem.pointer), problem.message, problem.code)


def field_of(pointer: str) -> str:
    """A JSON pointer as people read it: `#/variants/0/price` is `variants/0/price`."""
    return pointer.removeprefix("#").removeprefix("/").replace("~1", "/").replace("~0", "~")

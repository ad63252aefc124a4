"""The import of a bundle's products into the shop, batch by batch, each batch in a transaction of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from app.domain.bundles.bundle_pictures import (
    STEP,
    keep_pictures,
    limit_pictures,
    picture_notes,
    variants_with_pictures,
)
from app.domain.bundles.import_task import ImportTask
from app.domain.bundles.product_changes import (
    Change,
    CheckedRow,
    Picture,
    StoredProduct,
    addition,
    difference,
    hold_products,
    needed_fields,
    seo_names,
    stored_products,
    variant_options,
    variant_owners,
    with_stored,
    write_changes,
)
from app.domain.bundles.product_rows import ImportedProduct, read_product
from app.domain.bundles.reading import FileRow, read_rows
from app.domain.bundles.report import shorten_value
from app.domain.catalogue.product_rules import seo_name_of, variants_problems
from app.domain.shared.paging import batched
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.taxonomy.level_paths import LevelPaths
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import UNCLASSIFIED, UNKNOWN_LEVEL, classification
from app.domain.taxonomy.taxonomies import CurrentTree, has_engine, lock_active_id, with_former_words
from app.domain.taxonomy.values import NOTHING_STORED
from app.extensions import db

KIND = "products"
PARTS = "parts of products"
FILE = "products.jsonl"
BATCH = 500
LARGEST_BATCH = 8 * 1024**2  # Bytes of rows.
MOST_ADDRESSES = 50  # Pictures at addresses in a batch: what was fetched for one that is not committed is lost.
LOOKED_UP = 100  # Rows that are completed at once.
NEEDED = frozenset(("name", "price"))  # Fields that every row of a product needs.
TAXONOMY_PAGE = "Catalogue › Taxonomy"
AGAIN = "then import the same again: only the levels are added"


def import_products(task: ImportTask) -> None:
    """Import the products of the bundle. A row that breaks a rule is reported and left out; attribute values that do
    are dropped from their product."""
    name = task.bundle.find(FILE)
    if name is None:
        return
    task.report.of(KIND)
    ProductImport(task, name).run()
    for note in picture_notes(task):
        task.report.note(note)
    explain_missing_levels(task, task.report.count_of(PARTS, UNKNOWN_LEVEL))


class ProductImport:
    """The import of one file of products, with the SEO names and variant SKUs that are taken so far. A bundle may have
    former words of values that were renamed since it was made."""

    def __init__(self, task: ImportTask, file: str) -> None:
        self._task = task
        self._file = file
        self._tree = with_former_words(task.clock, task.site_id, task.taxonomy_id, task.tree)
        self._paths = LevelPaths.of(self._tree)
        self._current = CurrentTree(task.site_id)
        self._names = SeoNames(seo_names(task.site_id), _requested_names(task, file))
        self._variant_skus: dict[str, str] = {}

    def run(self) -> None:
        for batch in _batches(self._check_row(row) for row in self._read_rows()):
            with self._task.writing():
                self._import_batch(batch)
            self._task.step(STEP, len(batch))

    def _read_rows(self) -> Iterator[ImportedProduct]:
        for raw in self._complete(read_rows(self._task.bundle, self._file)):
            try:
                row = read_product(raw, self._task.site_id)
                self._check_first_of_its_sku(row)
            except Invalid as refused:
                self._refuse(raw.line, refused.problems)
            else:
                yield row

    def _complete(self, rows: Iterator[FileRow]) -> Iterator[FileRow]:
        """Yield the rows. Those of a table that lack fields which every product needs get the stored ones."""
        for batch in batched(rows, LOOKED_UP):
            some = [*self._with_options(batch)]
            skus = [str(raw.fields.get("sku")) for raw in some if raw.is_partial and not raw.fields.keys() >= NEEDED]
            known = needed_fields(self._task.site_id, skus) if skus else {}
            for raw in some:
                yield raw.filled_from(known.get(str(raw.fields.get("sku")), {})) if known else raw

    def _with_options(self, rows: Sequence[FileRow]) -> Iterator[FileRow]:
        """Yield the rows. Variants of a table without options get the stored ones; a product that may as well be a
        variant becomes one where its SKU is that of a stored variant."""
        skus = {sku for row in rows for sku in row.variants_without_options}
        skus |= {variant["sku"] for row in rows if row.as_variant for variant in row.as_variant["variants"]}
        known = variant_options(self._task.site_id, skus) if skus else {}
        for row in rows:
            if row.as_variant and row.as_variant["variants"][0]["sku"] in known:
                row = row._replace(fields=row.as_variant)
            yield row.with_options(known) if row.variants_without_options else row

    def _check_first_of_its_sku(self, row: ImportedProduct) -> None:
        earlier = self._task.skus.get(row.sku)
        if earlier is not None:
            raise Invalid.one("duplicate_sku", f"The SKU “{row.sku}” is already on line {earlier}.", "#/sku")
        self._task.skus[row.sku] = row.line

    def _check_row(self, row: ImportedProduct) -> CheckedRow:
        candidate = CheckedRow(row)
        if row.images is not None:
            kept, complaints = keep_pictures(self._task, row)
            row.complaints += complaints
            # Where none of them can be taken, those that the product has stay.
            candidate.images = kept if kept or not row.images else None
        if row.variants is not None:
            row.variants, complaints = variants_with_pictures(row, candidate.images or ())
            row.complaints += complaints
        return candidate

    def _import_batch(self, batch: Sequence[CheckedRow]) -> None:
        site_id = self._task.site_id
        skus = [candidate.row.sku for candidate in batch]
        if not self._task.dry_run:
            self._hold_taxonomy()
            hold_products(site_id, skus)
        known = stored_products(site_id, skus)
        for candidate in batch:
            self._classify(candidate, known.get(candidate.row.sku))
            limit_pictures(candidate, known.get(candidate.row.sku))
        owners = variant_owners(site_id, [v.sku for c in batch for v in c.row.variants or ()])
        additions: list[Change] = []
        changes: list[Change] = []
        for candidate in batch:
            own = known.get(candidate.row.sku)
            if problems := self._conflicts(candidate.row, own, owners):
                self._refuse(candidate.row.line, problems)
            else:
                self._add_change(candidate, own, additions, changes)
        if not self._task.dry_run and (additions or changes):
            write_changes(site_id, additions, changes, self._task.clock.now(), self._task.importer.name)

    def _hold_taxonomy(self) -> None:
        """Lock the active taxonomy until the batch is committed, and its tree, by which the batch is classified:
        another structure may have been saved since the import began. Raises Conflict."""
        site_id, taxonomy_id = self._task.site_id, self._task.taxonomy_id
        of_task = Taxonomy.site_id == site_id, Taxonomy.id == taxonomy_id
        db.session.execute(select(Taxonomy.id).where(*of_task).with_for_update(read=True))
        if lock_active_id(site_id) != taxonomy_id:
            raise Conflict("Another taxonomy became the active one during the import. Import the bundle again.")
        if has_engine(site_id):
            _, tree = self._current.read(self._task.clock)
            if tree is not self._tree:
                self._tree, self._paths = tree, LevelPaths.of(tree)

    def _classify(self, candidate: CheckedRow, own: StoredProduct | None) -> None:
        """Classify the product of a row. A value that breaks a rule leaves the stored one in place, so that the same
        bundle changes nothing again."""
        row = candidate.row
        if row.level_id is None:
            return
        try:
            level_id = self._paths.find(row.level_id) if row.level_id else ""
            held = own.values_held(self._tree) if own else NOTHING_STORED
            kept = self._applicable(level_id, held) if row.keeps_values else {}
            values = {**kept, **row.attributes}
            found = classification(self._tree, level_id, values, held) if level_id else UNCLASSIFIED
        except Invalid as refused:
            row.complaints += [Problem(p.code, p.message, "#/taxonomy/levelId") for p in refused.problems]
            return
        candidate.classification = found
        for dropped in found.dropped:
            example = {
                "line": row.line,
                "sku": row.sku,
                "value": shorten_value(dropped.value),
                "reason": dropped.reason,
            }
            self._task.report.drop_value(dropped.attribute_id, dropped.code, dropped.reason, example)

    def _applicable(self, level_id: str, held: Mapping[str, Any]) -> dict[str, Any]:
        applicable = self._tree.applicable_attributes(level_id)
        return {name: value for name, value in held.items() if name in applicable}

    def _add_change(
        self, candidate: CheckedRow, own: StoredProduct | None, additions: list[Change], changes: list[Change]
    ) -> None:
        counts = self._task.report.of(KIND)
        if candidate.row.complaints:
            self._refuse(candidate.row.line, candidate.row.complaints, kind=PARTS)
        if own is None:
            name = candidate.row.columns.get("seo_name") or self._names.make(seo_name_of(candidate.row.columns["name"]))
            additions.append(addition(candidate, self._task.site_id, name, self._task.clock.now()))
            counts.note("added", _label(candidate))
            self._count_pictures(candidate.images or (), ())
            return
        change = difference(candidate, own)
        if change.is_empty:
            counts.note("unchanged", "")
        else:
            changes.append(change)
            counts.note("changed", _label(candidate))
            self._count_pictures(change.images or (), own.images)

    def _count_pictures(self, pictures: Sequence[Picture], earlier: Sequence[Picture]) -> None:
        if not self._task.dry_run:  # A preview fetches none.
            new = {one.image.file for one in pictures} - {one.image.file for one in earlier}
            self._task.report.pictures_added += len(new)

    def _conflicts(self, row: ImportedProduct, own: StoredProduct | None, owners: dict[str, int]) -> list[Problem]:
        problems = variants_problems(with_stored(row, own) or ()) if own and row.keeps_others else []
        for index, variant in enumerate(row.variants or ()):
            owner = owners.get(variant.sku)
            holder = self._variant_skus.setdefault(variant.sku, row.sku)
            if holder != row.sku or (owner is not None and (own is None or owner != own.id)):
                message = f"The SKU “{variant.sku}” belongs to a variant of another product."
                problems.append(Problem("taken", message, f"#/variants/{index}/sku"))
        requested = row.columns.get("seo_name")
        if requested and not problems and not self._names.claim(requested, own.columns["seo_name"] if own else None):
            message = f"The SEO name “{requested}” belongs to another product of this site."
            problems.append(Problem("taken", message, "#/seoName"))
        return problems

    def _refuse(self, line: int, problems: Sequence[Problem], kind: str = KIND) -> None:
        self._task.refuse_line(kind, self._file, line, problems)


def _batches(candidates: Iterable[CheckedRow]) -> Iterator[list[CheckedRow]]:
    """Yield the rows in batches: fewer at once where they are long, which would take much memory, or have pictures at
    addresses, which takes much time."""
    batch: list[CheckedRow] = []
    size = addresses = 0
    for candidate in candidates:
        batch.append(candidate)
        size += candidate.row.size
        addresses += sum(picture.source is not None for picture in candidate.images or ())
        if len(batch) == BATCH or size > LARGEST_BATCH or addresses > MOST_ADDRESSES:
            yield batch
            batch, size, addresses = [], 0, 0
    if batch:
        yield batch


def _label(candidate: CheckedRow) -> str:
    return f"{candidate.row.sku}: {candidate.row.columns['name']}"


def _requested_names(task: ImportTask, file: str) -> Iterator[str]:
    for row in read_rows(task.bundle, file):
        name = row.fields.get("seoName")
        if isinstance(name, str) and name:
            yield name.strip()


class SeoNames:
    """The SEO names of a site during an import. `taken` are the names in use, `requested` those in rows of the bundle,
    which no generated name may take."""

    def __init__(self, taken: Iterable[str], requested: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._requested = set(requested)
        self._next: dict[str, int] = {}

    def claim(self, name: str, instead_of: str | None = None) -> bool:
        """Take a name for a record that had `instead_of`; False when another has it."""
        if name == instead_of:
            return True
        if name in self._taken:
            return False
        self._taken.discard(instead_of or "")
        self._taken.add(name)
        return True

    def make(self, wanted: str) -> str:
        """Return `wanted`, or the first free one with a number behind it."""
        name = wanted
        number = self._next.get(wanted, 2)
        while name in self._taken or name in self._requested:
            name = f"{wanted}-{number}"
            number += 1
            self._next[wanted] = number
        self._taken.add(name)
        return name


def explain_missing_levels(task: ImportTask, count: int) -> None:
    """Put a note before all others that `count` products come without their level, and why; none for 0."""
    if not count:
        return
    who = "1 product comes without its level" if count == 1 else f"{count:,} products come without their level"
    task.report.note_first(f"{who}: {_reason_without_level(task)}")


def _reason_without_level(task: ImportTask) -> str:
    active, wanted = task.taxonomy_id, task.wanted_taxonomy_id
    if task.site_id and not has_engine(task.site_id):
        return "the plan of this site has no taxonomies."
    if active is None and not task.tree.levels:
        return f"no taxonomy is active on this site. Make theirs active in {TAXONOMY_PAGE}, {AGAIN}."
    if wanted is not None:
        advice = f"{'Carry this out, make' if task.dry_run else 'Make'} “{wanted}” active in {TAXONOMY_PAGE}, {AGAIN}."
        return f"“{active}” is active on this site, while theirs is “{wanted}”. {advice}"
    return (
        f"the active taxonomy does not have it. Add these levels to it, or make the taxonomy that has them active, "
        f"in {TAXONOMY_PAGE}, {AGAIN}."
    )

"""Import of a bundle into a site. Everything is read once before anything is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from app.domain.bundles.appearance_file import import_appearance
from app.domain.bundles.archive import MEDIA, Bundle, open_bundle
from app.domain.bundles.content_files import COLLECTIONS, PAGES, import_content
from app.domain.bundles.delivery_file import import_delivery
from app.domain.bundles.import_task import ImportTask, Transaction, Watch, unwatched
from app.domain.bundles.judgements_file import import_judgements
from app.domain.bundles.merchandising_file import import_orders, import_trees
from app.domain.bundles.parts import EVERYTHING, FILES, Importer, Part, is_chosen
from app.domain.bundles.picture_fetches import PictureFetches
from app.domain.bundles.pos_file import import_pos
from app.domain.bundles.product_importer import import_products
from app.domain.bundles.product_tables import open_table
from app.domain.bundles.reading import RowBundle, check_size, read_document, read_rows
from app.domain.bundles.redirects_file import import_redirects
from app.domain.bundles.report import BrokenBundle, BundleReport
from app.domain.bundles.search_files import import_goldens, import_rules, import_synonyms
from app.domain.bundles.site_files import host_of, import_site, import_users
from app.domain.bundles.table_rows import TableFormat
from app.domain.bundles.taxonomy_file import import_taxonomies
from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.picture_source import PictureSource
from app.domain.shared.clock import Clock
from app.domain.sites import activity

# The shape of each document: an object with only the list of this name in it, a plain list, or an object.
DOCUMENTS: Mapping[str, str | type] = {
    "site.json": dict,
    "appearance.json": dict,
    "delivery.json": dict,
    "users.json": list,
    "taxonomy.json": "taxonomies",
    "merchandising.json": "trees",
    "synonyms.json": list,
    "rules.json": list,
    "goldens.json": list,
    "judgements.json": list,
    "pos.json": dict,
}
ROWS = ("products.jsonl", "collections.jsonl", "pages.jsonl", "redirects.jsonl")
REBUILD_ADVISED = 2_000
ADVICE = "Many products changed: a rebuild of the search index is quicker than the single updates."
FOLLOWED = "Many products change, so the search index is rebuilt afterwards."
READING = "Reading the files"
IMPORTED = "bundle.import"  # The last line of every import in the activity log.


def import_bundle(
    path: Path,
    host: str | None,
    clock: Clock,
    images: ImageStore,
    transaction: Transaction,
    actor: str | Importer,
    password_memory_kib: int,
    dry_run: bool = False,
    *,
    parts: frozenset[Part] = EVERYTHING,
    removes: bool = True,
    watch: Watch = unwatched,
    name: str | None = None,
    table: TableFormat | None = None,
    pictures: PictureSource | None = None,
) -> BundleReport:
    """Import a folder or .zip, or with `table` a table of products, into the site of `host`, or of the primary domain
    in site.json, which is added where there is none. `removes` as in ImportTask, `name` as in open_bundle. `watch` is
    called between the parts and batches, and ends the work by raising. `pictures` fetches those that a table names by
    their addresses. Raises BrokenBundle before anything is written,
    and Invalid when no site is named."""
    with open_table(path, name or path.name, table) if table else open_bundle(path, name) as bundle:
        watch(READING, 0, None)
        chosen = [name for name in (*DOCUMENTS, *ROWS) if is_chosen(name, parts)]
        rows = check_size(bundle, filter(None, map(bundle.find, chosen)))
        documents = {name: found for name in DOCUMENTS if name in chosen and (found := _read_document(bundle, name))}
        _check_rows(bundle, chosen)
        host = host_of(documents.get("site.json"), host)
        task = ImportTask(
            bundle=bundle,
            clock=clock,
            images=images,
            transaction=transaction,
            report=BundleReport(host, dry_run),
            importer=Importer(actor) if isinstance(actor, str) else actor,
            dry_run=dry_run,
            parts=parts,
            removes=removes,
            name=name or "a bundle",
            watch=watch,
            rows=rows,
            password_memory_kib=password_memory_kib,
            documents=documents,
            fetches=PictureFetches(pictures, clock) if table and pictures else None,
        )
        _report_skipped_files(task)
        _import_parts(task, chosen)
        return task.report


def _read_document(bundle: Bundle, name: str) -> Any:
    """Return the content of a file; None without the file. Raises BrokenBundle for the wrong shape."""
    file = bundle.find(name)
    if file is None:
        return None
    document = read_document(bundle, file)
    shape, content = DOCUMENTS[name], document.content
    if isinstance(shape, str):
        if not isinstance(content, dict) or set(content) != {shape} or not isinstance(content[shape], list):
            raise BrokenBundle.at(file, f"The file must be an object with one field, the list “{shape}”.")
    elif not isinstance(content, shape):
        raise BrokenBundle.at(file, "The file must be a list." if shape is list else "The file must be an object.")
    return document


def _check_rows(bundle: Bundle, chosen: Collection[str]) -> None:
    if isinstance(bundle, RowBundle):
        return  # Counting has read them.
    for name in ROWS:
        file = bundle.find(name) if name in chosen else None
        for _ in read_rows(bundle, file) if file else ():
            pass


def _report_skipped_files(task: ImportTask) -> None:
    for file in task.bundle.files:
        name = file.removesuffix(".gz")
        if file.startswith(MEDIA):
            continue
        if name not in FILES:
            task.report.skip(file, "Unknown file.")
        elif not is_chosen(name, task.parts):
            task.report.skip(file, "This part was not chosen.")


def _import_parts(task: ImportTask, chosen: Collection[str]) -> None:
    task.step("Settings, users and locations")
    import_site(task, task.report.host)
    import_appearance(task)
    import_delivery(task)
    import_users(task)
    import_pos(task)
    task.step("Taxonomies and categories")
    import_taxonomies(task)
    orders = import_trees(task)
    if "products.jsonl" in chosen:
        import_products(task)
        import_content(task, COLLECTIONS)
    if "pages.jsonl" in chosen:
        import_content(task, PAGES)
    task.step("Search")
    import_orders(task, orders)
    import_synonyms(task)
    import_rules(task)
    import_goldens(task)
    import_judgements(task)
    if "redirects.jsonl" in chosen:
        import_redirects(task)
    if task.report.of("products").added + task.report.of("products").changed > REBUILD_ADVISED:
        task.report.note(ADVICE if task.importer.user_id is None else FOLLOWED)
    if task.report.changes and not task.dry_run:
        _log_import(task)


def _log_import(task: ImportTask) -> None:
    counts = {kind: counts.as_json() for kind, counts in task.report.counts.items()}
    with task.transaction():
        summary = f"Imported {task.name} into {task.report.host}"
        activity.record(task.author, IMPORTED, ("site", str(task.site_id)), summary, after=counts)

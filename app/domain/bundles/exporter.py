"""The export of a site as a bundle that, imported into an empty site, gives the same shop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import func, select

from app.domain.bundles.appearance_file import appearance_document, appearance_files
from app.domain.bundles.archive import MEDIA, BundleTarget, open_target, write_document, write_rows
from app.domain.bundles.content_files import COLLECTIONS, PAGES, content_rows
from app.domain.bundles.delivery_file import delivery_document
from app.domain.bundles.import_task import Watch, unwatched
from app.domain.bundles.judgements_file import judgements_document
from app.domain.bundles.merchandising_file import category_files, trees_document
from app.domain.bundles.parts import EVERYTHING, Part, is_chosen
from app.domain.bundles.pos_file import pos_document
from app.domain.bundles.product_rows import export_rows, picture_files
from app.domain.bundles.redirects_file import redirect_rows
from app.domain.bundles.search_files import goldens_document, rules_document, synonyms_document
from app.domain.bundles.site_files import site_document, users_document
from app.domain.bundles.taxonomy_file import taxonomies_document
from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.models import Product, ProductImage
from app.domain.shared.problems import NotFound
from app.domain.sites.models import Site
from app.extensions import db

T = TypeVar("T")
BETWEEN_STEPS = 500  # Records.
DOCUMENTS: Mapping[str, Callable[[int, frozenset[Part]], Any]] = {
    "site.json": site_document,
    "users.json": lambda site_id, _: users_document(site_id),
    "taxonomy.json": lambda site_id, _: taxonomies_document(site_id),
    "merchandising.json": lambda site_id, _: trees_document(site_id),
    "synonyms.json": lambda site_id, _: synonyms_document(site_id),
    "rules.json": lambda site_id, _: rules_document(site_id),
    "goldens.json": lambda site_id, _: goldens_document(site_id),
    "judgements.json": lambda site_id, _: judgements_document(site_id),
    "pos.json": lambda site_id, _: pos_document(site_id),
}
COUNTED = {
    "users.json": "users",
    "synonyms.json": "synonyms",
    "rules.json": "rules",
    "goldens.json": "golden searches",
    "judgements.json": "judgement lists",
}


def export_bundle(
    path: Path,
    site: Site,
    images: ImageStore,
    parts: frozenset[Part] = EVERYTHING,
    watch: Watch = unwatched,
) -> dict[str, int]:
    """Export a site into a new folder or .zip at `path`, and return the number of records of each kind. `watch` ends
    the work by raising. Raises Conflict when something is there already."""
    site_id = site.id
    counts: dict[str, int] = {}
    with open_target(path) as target:
        watch("Settings, search and categories", 0, None)
        counts |= _write_documents(target, site_id, parts)
        _write_files(target, images, site_id, sorted(_files_beside_products(site_id, parts)))
        if Part.CATALOGUE in parts:
            counts |= _write_catalogue(target, images, site_id, watch)
        if Part.PAGES in parts:
            counts["pages"] = write_rows(target, "pages.jsonl", content_rows(PAGES, site_id))
        if Part.REDIRECTS in parts:
            counts["redirects"] = write_rows(target, "redirects.jsonl", redirect_rows(site_id))
    return counts


def _write_documents(target: BundleTarget, site_id: int, parts: frozenset[Part]) -> dict[str, int]:
    """Write what is one document each, and return the number of records of those that are lists."""
    counts: dict[str, int] = {}
    for name, make in DOCUMENTS.items():
        if is_chosen(name, parts):
            document = make(site_id, parts)
            write_document(target, name, document)
            if name == "pos.json":
                counts |= {kind: len(document[kind]) for kind in document}
            elif name in COUNTED:
                counts[COUNTED[name]] = len(document)
    if Part.SETTINGS in parts and (appearance := appearance_document(site_id)):
        write_document(target, "appearance.json", appearance)
    if Part.SETTINGS in parts and (delivery := delivery_document(site_id)):
        write_document(target, "delivery.json", delivery)
    return counts


def _files_beside_products(site_id: int, parts: frozenset[Part]) -> set[str]:
    """Return the pictures of categories and of the appearance, but for those that are written with the products."""
    files = set(category_files(site_id)) if Part.MERCHANDISING in parts else set()
    files |= set(appearance_files(site_id)) if Part.SETTINGS in parts else set()
    return files - set(picture_files(site_id)) if files and Part.CATALOGUE in parts else files


def _write_catalogue(target: BundleTarget, images: ImageStore, site_id: int, watch: Watch) -> dict[str, int]:
    total = db.session.scalar(select(func.count()).where(Product.site_id == site_id)) or 0
    rows = _report_steps(export_rows(site_id), lambda done: watch("Products", done, total))
    return {
        "products": write_rows(target, "products.jsonl", rows),
        "collections": write_rows(target, "collections.jsonl", content_rows(COLLECTIONS, site_id)),
        "pictures": _write_pictures(target, images, site_id, watch),
    }


def _report_steps(rows: Iterable[T], note: Callable[[int], None]) -> Iterator[T]:
    for done, row in enumerate(rows):
        if done % BETWEEN_STEPS == 0:
            note(done)
        yield row


def _write_pictures(target: BundleTarget, images: ImageStore, site_id: int, watch: Watch) -> int:
    """Write the files of the products' pictures, and return their number. A picture whose file is gone is left out; its
    product keeps the rest."""
    total = db.session.scalar(select(func.count(ProductImage.file.distinct())).where(ProductImage.site_id == site_id))
    files = _report_steps(picture_files(site_id), lambda done: watch("Pictures", done, total))
    return _write_files(target, images, site_id, files)


def _write_files(target: BundleTarget, images: ImageStore, site_id: int, files: Iterable[str]) -> int:
    written = 0
    for file in files:
        try:
            data = images.read(site_id, file)
        except NotFound:
            continue
        with target.open(f"{MEDIA}{file}") as out:
            out.write(data)
        written += 1
    return written

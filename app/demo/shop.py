"""Makes the demo shop: writes its bundle and takes it in like any other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.demo.categories import MERCHANDISING
from app.demo.content import COLLECTIONS, PAGES
from app.demo.products import demo_products
from app.demo.taxonomy import TAXONOMY
from app.domain.bundles.importing import IMPORTED, import_bundle
from app.domain.bundles.report import Report
from app.domain.bundles.task import Transaction
from app.domain.catalogue.image_store import ImageStore
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Forbidden
from app.domain.sites import audit, sites
from app.domain.sites.passwords import DEMO_PASSWORD

HOST = "localhost"
SITE = {
    "name": "Demo shop",
    "domains": [{"host": HOST, "primary": True}, {"host": "127.0.0.1", "primary": False}],
    "currency": "gbp",
    "timeZone": "Europe/London",
    "staging": False,
    "capabilities": ["TAXONOMY_ENGINE"],
    "settings": {"search-default-filters": ["manufacturer", "colour", "price", "inStock", "onSale"]},
}
USERS = [
    {"email": "super@demo.test", "displayName": "Susan Super", "roles": ["SUPERADMIN"]},
    {"email": "admin@demo.test", "displayName": "Adam Admin", "roles": ["ADMIN"]},
    {"email": "merch@demo.test", "displayName": "Merle Merchandiser", "roles": ["MERCHANDISER"]},
    {"email": "agent@demo.test", "displayName": "Agnes Agent", "roles": ["POS_AGENT"]},
]


def create_demo(
    clock: Clock, images: ImageStore, transaction: Transaction, actor: str, password_memory_kib: int, production: bool
) -> Report | None:
    """The report of the import; None when a shop stands at the host, whose owner may have changed it since. One that
    was broken off is finished. Raises Forbidden in production, where nobody may sign in with a password that stands
    in a manual."""
    if production:
        raise Forbidden("The demo shop has passwords that everybody knows; it is not made in production.")
    site = sites.site_by_host(HOST)
    if site is not None and (site.name != SITE["name"] or audit.has_entry(site.id, IMPORTED)):
        return None
    with TemporaryDirectory(prefix="demo-shop-") as folder:
        write_demo_bundle(Path(folder))
        return import_bundle(Path(folder), HOST, clock, images, transaction, actor, password_memory_kib)


def write_demo_bundle(folder: Path) -> None:
    """The files of the demo shop's bundle in an empty folder."""
    _document(folder / "site.json", SITE)
    _document(folder / "users.json", [{**user, "password": DEMO_PASSWORD} for user in USERS])
    _document(folder / "taxonomy.json", {"taxonomies": [TAXONOMY]})
    _document(folder / "merchandising.json", MERCHANDISING)
    _rows(folder / "products.jsonl", demo_products())
    _rows(folder / "collections.jsonl", COLLECTIONS)
    _rows(folder / "pages.jsonl", PAGES)


def _document(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")


def _rows(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

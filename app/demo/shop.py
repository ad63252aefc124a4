"""Create the demo shop by importing its bundle."""

from __future__ import annotations

from pathlib import Path

from app.domain.bundles.importing import IMPORTED, import_bundle
from app.domain.bundles.report import BundleReport
from app.domain.bundles.task import Transaction
from app.domain.catalogue.image_store import ImageStore
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Forbidden
from app.domain.sites import audit, sites

BUNDLE = Path(__file__).parent / "bundle"
HOST = "localhost"
NAME = "Demo shop"  # As in the bundle's site.json.


def create_demo(
    clock: Clock, images: ImageStore, transaction: Transaction, actor: str, password_memory_kib: int, production: bool
) -> BundleReport | None:
    """The report of the import; None when a shop stands at the host, whose owner may have changed it since. An import
    that was interrupted is completed. Raises Forbidden in production: the passwords of the demo shop are published."""
    if production:
        raise Forbidden("The demo shop has passwords that everybody knows; it is not made in production.")
    site = sites.site_by_host(HOST)
    if site is not None and (site.name != NAME or audit.has_entry(site.id, IMPORTED)):
        return None
    return import_bundle(BUNDLE, HOST, clock, images, transaction, actor, password_memory_kib)

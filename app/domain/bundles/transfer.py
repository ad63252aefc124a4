"""Parts of a shop from one site to another of the same installation: what the one exports, the other imports."""

from __future__ import annotations

from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.exporter import export_bundle
from app.domain.bundles.importer import import_bundle
from app.domain.bundles.parts import Importer, Part
from app.domain.bundles.report import BundleReport
from app.domain.catalogue.image_store import ImageStore
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.work.context import WorkContext

TRANSFERRED_TO = "bundle.transfer_to"
TRANSFERRED_FROM = "bundle.transfer_from"


def transfer(
    context: WorkContext,
    folder: BundleFolder,
    images: ImageStore,
    importer: Importer,
    source: Site,
    target: Site,
    parts: frozenset[Part],
    dry_run: bool,
    removes: bool,
) -> BundleReport:
    """Transfer parts of one site to another at once, and return the report. The file between them is gone afterwards;
    it lies in the folder of bundles, since the system's folder of temporary files is often memory, and the file holds
    the whole shop with its pictures. Raises Invalid."""
    check_sites(source.id, target.id)
    check_parts(parts)
    of_source, of_target = (source.id, source.primary_host), (target.id, target.primary_host)
    file = folder.new_name()
    try:
        export_bundle(folder.path(file), source, images, parts)
        taken = context.clock, images, context.transaction, importer, 0, dry_run
        report = import_bundle(folder.path(file), of_target[1], *taken, parts=parts, removes=removes)
    finally:
        folder.drop(file)
    if not dry_run:
        context.commit(lambda: note_transfer(importer, context.clock, of_source, of_target, report))
    return report


def check_sites(source_id: int, target_id: int) -> None:
    """Check that a transfer has two sites. Raises Invalid."""
    if source_id == target_id:
        raise Invalid.one("same_site", "A site cannot be transferred to itself. Choose two sites.", "#/source")


def check_parts(parts: frozenset[Part]) -> None:
    """Check that a transfer has parts, and none that belong to the site itself, such as its hosts. Raises Invalid."""
    if Part.SITE in parts:
        raise Invalid.one("part_not_transferable", "Name, hosts and staging stay with each site.", "#/parts")
    if not parts:
        raise Invalid.one("no_parts", "Choose at least one part.", "#/parts")


def note_transfer(
    importer: Importer, clock: Clock, source: tuple[int, str], target: tuple[int, str], report: BundleReport
) -> None:
    """Write into the activity log of both sites, each given by its id and host, what came over. Call it in a
    transaction."""
    counts = {kind: counts.as_json() for kind, counts in report.counts.items()}
    for (site_id, _), (_, other_host), action, summary in (
        (source, target, TRANSFERRED_TO, "Transferred parts of this site to"),
        (target, source, TRANSFERRED_FROM, "Took parts over from"),
    ):
        author = Author(site_id, importer.name, clock, importer.origin)
        activity.record(author, action, ("site", str(site_id)), f"{summary} {other_host}", after=counts)

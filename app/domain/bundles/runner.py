"""The work of a requested import, export or transfer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.exporter import export_bundle
from app.domain.bundles.import_task import Watch
from app.domain.bundles.importer import REBUILD_ADVISED, import_bundle
from app.domain.bundles.models import BundleRun
from app.domain.bundles.parts import Importer, Part
from app.domain.bundles.product_tables import format_of
from app.domain.bundles.report import BundleReport
from app.domain.bundles.runs import BUNDLE_RUN, CANCELLED, FILE_KEPT, Action, ended_files, live_files
from app.domain.bundles.transfer import note_transfer
from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.picture_source import NoPictureSource, PictureSource
from app.domain.search.engine import SearchContext
from app.domain.search.index.runs import Scope, request_rebuild
from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import Conflict, DomainError, Invalid
from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.domain.work.leases import Claim, perform
from app.domain.work.step_notes import StepNotes
from app.extensions import db

UNCLAIMED = 3_600.0  # Seconds that a file without a run may be there: its upload is under way.
MAY_IMPORT = (Role.ADMIN, Role.SUPERADMIN)
MAY_IMPORT_PRODUCTS = (Role.MERCHANDISER, *MAY_IMPORT)


class Cancelled(Conflict):
    """Raised when a user cancels the work."""


@dataclass(frozen=True, slots=True)
class BundleSettings:
    """What a run needs besides its context."""

    folder: BundleFolder
    images: ImageStore
    password_memory_kib: int
    pictures: PictureSource = field(default_factory=NoPictureSource)


@dataclass(frozen=True, slots=True)
class _Order:
    """A run as its worker reads it, once."""

    run_id: str
    action: Action
    is_dry_run: bool
    parts: frozenset[Part]
    removes: bool
    importer: Importer
    site_id: int
    source_site_id: int | None
    follows_preview: bool
    file: str
    name: str
    columns: list[str] | None

    @property
    def keeps_file(self) -> bool:
        """Whether the file is kept after the work: for the download of an export, the import after a dry run, or the
        correction of a table."""
        return self.is_dry_run or self.action is Action.EXPORT or self.columns is not None


def _end_cancelled(run: BundleRun) -> None:
    if run.is_cancelled:
        raise Cancelled(CANCELLED)


def perform_run(context: SearchContext, settings: BundleSettings, run_id: str) -> bool:
    """Do a requested run, from its beginning where an earlier worker broke off, and return True; False when another
    worker holds it, its file is on another machine or the lease was lost. The outcome is in the row: a refused bundle
    is a result, no failure."""
    sweep_folder(context, settings.folder)
    which = BundleRun.id == run_id, BUNDLE_RUN.may_run_on(context.machine)
    claim = context.commit(lambda: leases.claim(BUNDLE_RUN, context.clock, *which))
    return claim is not None and perform(context, claim, lambda: _perform(context, settings, claim))


def sweep_folder(context: SearchContext, folder: BundleFolder) -> int:
    """Remove the files that are no longer needed, and return their number."""
    read_afresh()
    live, ended = frozenset(live_files(context.clock)), frozenset(ended_files(context.clock))
    return folder.sweep(live, ended, context.clock.now().timestamp() - UNCLAIMED)


def _perform(context: SearchContext, settings: BundleSettings, claim: Claim[BundleRun]) -> None:
    """Run a claimed export or import. Raises LeaseLost."""
    order = context.commit(lambda: _read_order(context, settings, claim))
    try:
        report = _carry_out(context, settings, order, StepNotes(context, claim, _end_cancelled))
    except DomainError as refused:
        problems = refused.problems if isinstance(refused, Invalid) else []
        reason = " ".join(problem.message for problem in problems) or refused.message
        context.commit(lambda: leases.finish(context.clock, claim, error=reason))
        if order.is_dry_run or order.action is Action.EXPORT:
            settings.folder.drop(order.file)
        return
    context.commit(lambda: _finish_run(context, claim, order, report))
    if not order.keeps_file:
        settings.folder.drop(order.file)


def _read_order(context: SearchContext, settings: BundleSettings, claim: Claim[BundleRun]) -> _Order:
    row = leases.hold(context.clock, claim)
    row.file, row.machine = row.file or settings.folder.new_name(), row.machine or context.machine
    roles = accounts.roles_of(row.user_id, row.site_id) if row.user_id is not None else frozenset()
    return _Order(
        run_id=row.id,
        action=Action(row.action),
        is_dry_run=row.is_dry_run,
        parts=frozenset(map(Part, row.parts)),
        removes=row.removes,
        importer=Importer(row.requested_by, row.user_id or 0, Origin.ADMIN, roles),
        site_id=row.site_id,
        source_site_id=row.source_site_id,
        follows_preview=row.follows is not None,
        file=row.file,
        name=row.name,
        columns=row.columns,
    )


def _carry_out(context: SearchContext, settings: BundleSettings, order: _Order, watch: Watch) -> dict[str, Any]:
    """Carry out an order and return its report. Raises DomainError."""
    _check_rights(order)
    if order.action is Action.EXPORT:
        return {"counts": _export(settings, order, order.site_id, watch)}
    if order.action is Action.TRANSFER and not order.follows_preview:
        assert order.source_site_id is not None
        _export(settings, order, order.source_site_id, watch)
    report = import_bundle(
        settings.folder.existing(order.file),
        _host_of(order.site_id),
        context.clock,
        settings.images,
        context.transaction,
        order.importer,
        settings.password_memory_kib,
        order.is_dry_run,
        parts=order.parts,
        removes=order.removes,
        watch=watch,
        name=order.name,
        table=format_of(order.site_id, order.columns) if order.columns is not None else None,
        pictures=settings.pictures,
    )
    if not order.is_dry_run:
        context.commit(lambda: _complete_import(context, order, report))
    return report.as_json()


def _check_rights(order: _Order) -> None:
    """Check the rights of the importer as they are now: the request may be old. Raises Conflict."""
    sites = {order.site_id, order.source_site_id} - {None}
    for site_id in sites:
        held = accounts.roles_of(order.importer.user_id or 0, site_id or 0)
        if held.isdisjoint(MAY_IMPORT if order.columns is None else MAY_IMPORT_PRODUCTS):
            raise Conflict(f"{order.importer.name} no longer has permission to do this.")


def _export(settings: BundleSettings, order: _Order, site_id: int, watch: Watch) -> dict[str, int]:
    path = settings.folder.path(order.file)
    path.unlink(missing_ok=True)  # Of a worker that broke off.
    site = db.session.get_one(Site, site_id)
    return export_bundle(path, site, settings.images, order.parts, watch)


def _host_of(site_id: int) -> str:
    return db.session.get_one(Site, site_id).primary_host


def _complete_import(context: SearchContext, order: _Order, report: BundleReport) -> None:
    """Log a transfer on both sites, and rebuild the index where single updates would take longer."""
    if order.source_site_id is not None:
        source, target = ((site_id, _host_of(site_id)) for site_id in (order.source_site_id, order.site_id))
        note_transfer(order.importer, context.clock, source, target, report)
    request_reindex(context, order.importer, order.site_id, report)


def request_reindex(context: SearchContext, importer: Importer, site_id: int, report: BundleReport) -> bool:
    """Request a rebuild where so many products changed that it is quicker than the single updates, which are done
    anyway; return whether it was requested. Call it in a transaction."""
    products = report.of("products")
    if products.added + products.changed <= REBUILD_ADVISED:
        return False
    author = Author(site_id, importer.name, context.clock, importer.origin)
    try:
        request_rebuild(author, context.engine, context.locks, Scope.ALL)
    except Conflict as refused:
        report.note(refused.message)
        return False
    return True


def _finish_run(context: SearchContext, claim: Claim[BundleRun], order: _Order, report: dict[str, Any]) -> None:
    is_kept = order.keeps_file
    kept_until = context.clock.now() + FILE_KEPT if is_kept else None
    row = leases.hold(context.clock, claim)
    columns = {"report": report, "kept_until": kept_until, "step": "", "done": row.total or row.done}
    leases.finish(context.clock, claim, **columns, **({} if is_kept else {"file": None}))

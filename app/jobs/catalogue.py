"""The catalogue: taxonomy tasks on many products, uploaded pictures, imports and exports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from flask import current_app

from app.config import Config
from app.domain.bundles import runner
from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.runner import BundleSettings
from app.domain.catalogue import product_images
from app.domain.taxonomy.tasks.queue import TASK
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.work.models import WorkRequested
from app.events import dispatch
from app.jobs.purging import is_clock_trusted
from app.operations.work_context import work_context
from app.ports import clock, images, picture_source

BETWEEN_SWEEPS = 3_600.0  # Seconds.
SLICE = timedelta(seconds=3)  # Then other jobs get their turn: a save waits no longer than that to be found.


def work_off_tasks(site_id: int) -> None:
    """Work on a site's taxonomy tasks for SLICE, and request the rest."""
    if work_off(work_context(), site_id, SLICE):
        dispatch([WorkRequested(TASK.name, site_id)])


def work_off_all_tasks(site_id: int) -> None:
    """Work on all taxonomy tasks of a site, however long it takes."""
    work_off(work_context(), site_id)


def prepare_picture(upload_id: str) -> bool:
    return product_images.prepare_upload(work_context(), images(), upload_id)


def run_bundle(run_id: str) -> bool:
    """Do an import, export or transfer that the admin requested."""
    config: Config = current_app.config["SHOP"]
    folder = BundleFolder(config.bundle_folder)
    settings = BundleSettings(folder, images(), config.password_memory_kib, picture_source())
    return runner.perform_run(work_context(), settings, run_id)


def sweep_bundles() -> int:
    """Remove files of bundles that are no longer needed from this machine, and return their number."""
    config: Config = current_app.config["SHOP"]
    return runner.sweep_folder(work_context(), BundleFolder(config.bundle_folder))


@dataclass
class BundleSweep:
    """The sweep of this machine's files of bundles, each hour; none while the clock is in doubt."""

    _swept_at: float | None = None

    def look(self) -> None:
        now = clock().monotonic()
        if self._swept_at is None or now - self._swept_at >= BETWEEN_SWEEPS:
            self._swept_at = now
            if is_clock_trusted():
                sweep_bundles()

"""Imports, exports and transfers that the admin requested."""

from __future__ import annotations

from flask import current_app

from app.config import Config
from app.domain.bundles import runner
from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.runner import BundleSettings
from app.operations.work_context import work_context
from app.ports import images


def run(run_id: str) -> bool:
    config: Config = current_app.config["SHOP"]
    settings = BundleSettings(BundleFolder(config.bundle_folder), images(), config.password_memory_kib)
    return runner.perform_run(work_context(), settings, run_id)


def sweep() -> int:
    """Remove files of bundles that are no longer needed, and return their number."""
    config: Config = current_app.config["SHOP"]
    return runner.sweep_folder(work_context(), BundleFolder(config.bundle_folder))

"""A site as a bundle."""

from __future__ import annotations

from app.domain.bundles.exporting.export import export_bundle

__all__ = ["export_bundle"]

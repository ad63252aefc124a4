"""Taxonomies as JSON, for every surface that serves them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.shared.times import rfc3339
from app.domain.taxonomy.lifecycle.activation import ActivationImpact
from app.domain.taxonomy.lifecycle.counts import level_counts
from app.domain.taxonomy.lifecycle.saving import SavedTaxonomy
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import is_active, taxonomy_of


def view_of(taxonomy: Taxonomy) -> dict[str, Any]:
    """The taxonomy with its tree."""
    return {
        "id": taxonomy.id,
        "name": taxonomy.name,
        "description": taxonomy.description,
        "catalogueId": taxonomy.catalogue_id,
        "revision": taxonomy.revision,
        "rootLevels": taxonomy.root_levels,
        "createdAt": rfc3339(taxonomy.created_at),
        "updatedAt": rfc3339(taxonomy.updated_at),
    }


def data_view(site_id: int, taxonomy_id: str) -> dict[str, Any]:
    """Return the data that an editor loads: the taxonomy, whether it is the active one, and products by level. Raises
    NotFound."""
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    counts = level_counts(site_id, taxonomy)
    return {
        "taxonomy": view_of(taxonomy),
        "active": is_active(taxonomy),
        "counts": {
            level_id: {"direct": count.direct, "rolledUp": count.rolled_up} for level_id, count in counts.items()
        },
    }


def saved_view(saved: SavedTaxonomy) -> Mapping[str, Any]:
    """The taxonomy as it was stored, and which ids new records got."""
    taxonomy = saved.taxonomy
    return {"taxonomy": view_of(taxonomy), "revision": taxonomy.revision, "ids": dict(saved.ids)}


def activation_view(impact: ActivationImpact) -> dict[str, Any]:
    former = {"id": impact.from_id, "name": impact.from_name} if impact.switches else None
    return {"switches": impact.switches, "from": former, "productsCleared": impact.products_cleared}

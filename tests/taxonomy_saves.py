"""Saving a taxonomy in one go, for tests that are not about who waits meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.saves import SavedTaxonomy, prepare, prepare_earlier, store


def save_structure(
    clock: Clock,
    site_id: int,
    taxonomy_id: str,
    revision: int | None,
    name: str,
    description: str,
    raw_levels: Sequence[Any],
    actor: str,
    note: str = "",
    renames: Sequence[ValueRename] = (),
    known_ids: Collection[str] = (),
) -> SavedTaxonomy:
    texts = name, description
    prepared = prepare(site_id, taxonomy_id, revision, *texts, raw_levels, note, renames, known_ids)
    return store(Author(site_id, actor, clock), prepared)


def bring_back(
    clock: Clock, site_id: int, taxonomy_id: str, wanted: int, revision: int, actor: str, note: str = ""
) -> SavedTaxonomy:
    prepared = prepare_earlier(site_id, taxonomy_id, wanted, revision, note)
    return store(Author(site_id, actor, clock), prepared)

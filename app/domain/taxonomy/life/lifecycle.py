"""The life of a taxonomy: listing a site's, making one blank, from the sample or as a copy, and deleting one."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.shared.addresses import free_slug, slug
from app.domain.shared.clock import Clock
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.text import one_line
from app.domain.sites import audit
from app.domain.taxonomy.levels.stored_levels import made_once
from app.domain.taxonomy.life.revisions import record_revision
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import has_engine
from app.domain.taxonomy.structure.checking import check_structure
from app.domain.taxonomy.structure.sample import SAMPLE_LEVELS
from app.domain.taxonomy.taxonomies import active_id, name_problems, taxonomy_of
from app.extensions import db

LONGEST_GENERATED_ID = 80
RESERVED_IDS = frozenset(("new", "create", "activate", "tasks", "worklist"))  # Their addresses are pages.


@dataclass(frozen=True, slots=True)
class TaxonomyRow:
    """`products` carry a level; only the active taxonomy's can. `revision` counts the writes, from 1."""

    id: str
    name: str
    description: str
    is_active: bool
    levels: int
    products: int
    revision: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TaxonomyList:
    """`has_engine`: the plan of the shop includes the engine, without which the shop uses no taxonomy. `lost_id` is the
    id that is set as the active one while there is no such taxonomy. `incomplete` products lack mandatory values."""

    rows: list[TaxonomyRow]
    has_engine: bool
    lost_id: str | None
    incomplete: int

    @property
    def active(self) -> TaxonomyRow | None:
        return next((row for row in self.rows if row.is_active), None)


def taxonomy_list(site_id: int) -> TaxonomyList:
    rows, active = list_taxonomies(site_id), active_id(site_id)
    lost = None if any(row.is_active for row in rows) else active
    return TaxonomyList(rows, has_engine(site_id), lost, _incomplete(site_id))


def _incomplete(site_id: int) -> int:
    query = select(func.count()).where(Product.site_id == site_id, Product.completeness_score < 100)
    return db.session.scalar(query) or 0


def list_taxonomies(site_id: int) -> list[TaxonomyRow]:
    """The active one first, then by name."""
    active = active_id(site_id)
    found = db.session.scalars(select(Taxonomy).where(Taxonomy.site_id == site_id)).all()
    classified = _classified(site_id) if active is not None else 0
    rows = [_row(taxonomy, taxonomy.id == active, classified) for taxonomy in found]
    return sorted(rows, key=lambda row: (not row.is_active, row.name.casefold(), row.id))


def _classified(site_id: int) -> int:
    query = select(func.count()).where(Product.site_id == site_id, Product.taxonomy_level_id.is_not(None))
    return db.session.scalar(query) or 0


def _row(taxonomy: Taxonomy, is_active: bool, classified: int) -> TaxonomyRow:
    return TaxonomyRow(
        id=taxonomy.id,
        name=taxonomy.name,
        description=taxonomy.description,
        is_active=is_active,
        levels=count_levels(taxonomy.root_levels),
        products=classified if is_active else 0,
        revision=taxonomy.revision,
        updated_at=taxonomy.updated_at,
    )


@made_once
def count_levels(root_levels: Sequence[Mapping[str, Any]]) -> int:
    return sum(1 + count_levels(level.get("children") or ()) for level in root_levels)


def clean_texts(name: str, description: str) -> tuple[str, str]:
    """Name and description as they are stored, trimmed. Raises Invalid."""
    name, description = one_line(name), description.strip()
    if problems := name_problems(name, description):
        raise Invalid(problems)
    return name, description


def create(clock: Clock, site_id: int, name: str, description: str, sample: bool, actor: str) -> Taxonomy:
    """A new taxonomy at revision 1: without levels, or with those of the sample. Raises Invalid."""
    name, description = clean_texts(name, description)
    levels = check_structure(SAMPLE_LEVELS).levels if sample else []
    made = _keep(clock, site_id, name, description, levels)
    told = "Made from the sample." if sample else "Made without levels."
    record_revision(clock, made, [told], "", actor)
    audit.record(clock, site_id, actor, "taxonomy.create", ("taxonomy", made.id), f"Added the taxonomy {name}")
    return made


def duplicate(clock: Clock, site_id: int, taxonomy_id: str, name: str, actor: str) -> Taxonomy:
    """A copy under another name, at revision 1 and not active. Raises NotFound, Invalid."""
    source = taxonomy_of(site_id, taxonomy_id)
    name, description = clean_texts(name, source.description)
    made = _keep(clock, site_id, name, description, copy.deepcopy(source.root_levels))
    record_revision(clock, made, [f"Copied from “{source.name}”, revision {source.revision}."], "", actor)
    summary = f"Copied the taxonomy {source.name} as {name}"
    audit.record(clock, site_id, actor, "taxonomy.copy", ("taxonomy", made.id), summary)
    return made


def _keep(clock: Clock, site_id: int, name: str, description: str, levels: list[dict[str, Any]]) -> Taxonomy:
    made = Taxonomy(
        site_id=site_id,
        id=_free_id(site_id, name),
        catalogue_id=str(site_id),
        name=name,
        description=description,
        root_levels=levels,
        revision=1,
        created_at=clock.now(),
        updated_at=clock.now(),
    )
    db.session.add(made)
    flush_or_conflict("Somebody else added a taxonomy of this name at the same moment. Nothing was saved; try again.")
    return made


def namesakes(site_id: int, name: str) -> list[str]:
    """The ids of the taxonomies of this name, whatever the case of its letters."""
    known = db.session.execute(select(Taxonomy.id, Taxonomy.name).where(Taxonomy.site_id == site_id))
    wanted = one_line(name).casefold()
    return sorted(found_id for found_id, found in known if found.casefold() == wanted)


def _free_id(site_id: int, name: str) -> str:
    taken = set(db.session.scalars(select(Taxonomy.id).where(Taxonomy.site_id == site_id)))
    return free_slug(slug(name, "taxonomy")[:LONGEST_GENERATED_ID].rstrip("-"), taken | RESERVED_IDS)


def delete(clock: Clock, site_id: int, taxonomy_id: str, actor: str) -> str:
    """Remove a taxonomy with its revisions and drafts; its name. Raises NotFound, and Conflict for the active one."""
    taxonomy = taxonomy_of(site_id, taxonomy_id, to_change=True)
    if active_id(site_id) == taxonomy.id:
        raise Conflict(f"“{taxonomy.name}” is the active taxonomy. Activate another one before you delete it.")
    name = taxonomy.name
    before = {"name": name, "levels": count_levels(taxonomy.root_levels), "revision": taxonomy.revision}
    db.session.delete(taxonomy)
    db.session.flush()
    summary = f"Deleted the taxonomy {name}"
    audit.record(clock, site_id, actor, "taxonomy.delete", ("taxonomy", taxonomy_id), summary, before=before)
    return name

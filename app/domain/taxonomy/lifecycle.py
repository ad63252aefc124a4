"""The life of a taxonomy: the list of a site's taxonomies, creating, copying and deleting one, and activating one; and
what of that is written as JSON.

Switching from another active taxonomy puts every product's classification into its archive slot and clears it, in one
statement: products are never classified by two taxonomies at once.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, delete, exists, func, or_, select, update

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product, ProductAttributeValue
from app.domain.shared.addresses import free_slug, slug
from app.domain.shared.author import Author
from app.domain.shared.clock import rfc3339
from app.domain.shared.problems import Conflict, Forbidden, Invalid
from app.domain.shared.records import JsonValue, flush_or_conflict
from app.domain.shared.text import one_line
from app.domain.sites import activity, stored_events
from app.domain.sites.models import Setting, Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.queries import level_counts
from app.domain.taxonomy.products.worklist import incomplete_products
from app.domain.taxonomy.revisions import record_revision
from app.domain.taxonomy.sample import SAMPLE_LEVELS
from app.domain.taxonomy.saves import SavedTaxonomy
from app.domain.taxonomy.stored_tree import count_levels
from app.domain.taxonomy.tasks import Kind, request
from app.domain.taxonomy.taxonomies import (
    ACTIVE,
    ENGINE_CAPABILITY,
    active_id,
    has_engine,
    is_active,
    name_problems,
    taxonomy_of,
)
from app.domain.taxonomy.validation.structure import check_structure
from app.extensions import db

LONGEST_GENERATED_ID = 80
RESERVED_IDS = frozenset(("new", "create", "activate", "tasks", "worklist"))  # Their addresses are pages.
CHANGED_EVENT = "ActiveTaxonomyChangedEvent"  # Its payload: the ids `from` and `to`.


@dataclass(frozen=True, slots=True)
class TaxonomyRow:
    """A taxonomy in the list. `products` is the number of products with a level, which only the active taxonomy has.
    `revision` counts the writes, from 1."""

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
    """The taxonomies of a site. `has_engine`: the plan of the shop includes the engine, without which the shop uses no
    taxonomy. `lost_id` is the id that is set as the active one while there is no such taxonomy. `incomplete` products
    lack mandatory values."""

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
    return TaxonomyList(rows, has_engine(site_id), lost, incomplete_products(site_id))


def list_taxonomies(site_id: int) -> list[TaxonomyRow]:
    """Return the taxonomies of a site, the active one first, then by name."""
    active = active_id(site_id)
    found = db.session.scalars(select(Taxonomy).where(Taxonomy.site_id == site_id)).all()
    with_level = select(func.count()).where(Product.site_id == site_id, Product.taxonomy_level_id.is_not(None))
    classified = (db.session.scalar(with_level) or 0) if active is not None else 0
    rows = [_taxonomy_row(taxonomy, taxonomy.id == active, classified) for taxonomy in found]
    return sorted(rows, key=lambda row: (not row.is_active, row.name.casefold(), row.id))


def _taxonomy_row(taxonomy: Taxonomy, is_active: bool, classified: int) -> TaxonomyRow:
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


def clean_texts(name: str, description: str) -> tuple[str, str]:
    """Name and description as they are stored, trimmed. Raises Invalid."""
    name, description = one_line(name), description.strip()
    if problems := name_problems(name, description):
        raise Invalid(problems)
    return name, description


def create_taxonomy(author: Author, name: str, description: str, sample: bool) -> Taxonomy:
    """Add a taxonomy at revision 1, without levels or with those of the sample, and return it. Raises Invalid,
    Conflict."""
    name, description = clean_texts(name, description)
    levels = check_structure(SAMPLE_LEVELS).levels if sample else []
    made = _add_taxonomy(author, name, description, levels)
    change = "Made from the sample." if sample else "Made without levels."
    record_revision(author, made, [change])
    activity.record(author, "taxonomy.create", ("taxonomy", made.id), f"Added the taxonomy {name}")
    return made


def duplicate_taxonomy(author: Author, taxonomy_id: str, name: str) -> Taxonomy:
    """Copy a taxonomy under another name, at revision 1 and not active. Raises NotFound, Invalid, Conflict."""
    source = taxonomy_of(author.site_id, taxonomy_id)
    name, description = clean_texts(name, source.description)
    made = _add_taxonomy(author, name, description, copy.deepcopy(source.root_levels))
    record_revision(author, made, [f"Copied from “{source.name}”, revision {source.revision}."])
    summary = f"Copied the taxonomy {source.name} as {name}"
    activity.record(author, "taxonomy.copy", ("taxonomy", made.id), summary)
    return made


def _add_taxonomy(author: Author, name: str, description: str, levels: list[dict[str, Any]]) -> Taxonomy:
    taken = set(db.session.scalars(select(Taxonomy.id).where(Taxonomy.site_id == author.site_id)))
    made = Taxonomy(
        site_id=author.site_id,
        id=free_slug(slug(name, "taxonomy")[:LONGEST_GENERATED_ID].rstrip("-"), taken | RESERVED_IDS),
        catalogue_id=str(author.site_id),
        name=name,
        description=description,
        root_levels=levels,
        revision=1,
        created_at=author.now(),
        updated_at=author.now(),
    )
    db.session.add(made)
    flush_or_conflict("Another user added a taxonomy of this name at the same moment. Nothing was saved; try again.")
    return made


def namesakes(site_id: int, name: str) -> list[str]:
    """The ids of the taxonomies of this name, whatever the case of its letters."""
    known = db.session.execute(select(Taxonomy.id, Taxonomy.name).where(Taxonomy.site_id == site_id))
    wanted = one_line(name).casefold()
    return sorted(found_id for found_id, found in known if found.casefold() == wanted)


def delete_taxonomy(author: Author, taxonomy_id: str) -> str:
    """Delete a taxonomy with its revisions and drafts, and return its name. Raises NotFound, and Conflict for the
    active one."""
    taxonomy = taxonomy_of(author.site_id, taxonomy_id, to_change=True)
    if active_id(author.site_id) == taxonomy.id:
        raise Conflict(f"“{taxonomy.name}” is the active taxonomy. Activate another one before you delete it.")
    name = taxonomy.name
    before = {"name": name, "levels": count_levels(taxonomy.root_levels), "revision": taxonomy.revision}
    db.session.delete(taxonomy)
    db.session.flush()
    summary = f"Deleted the taxonomy {name}"
    activity.record(author, "taxonomy.delete", ("taxonomy", taxonomy_id), summary, before=before)
    return name


@dataclass(frozen=True, slots=True)
class ActivationImpact:
    """The effects of activating a taxonomy. `switches`: another taxonomy is active, whose name (its id, where it is
    gone) is `from_name`. Products that carry a classification would lose it to their archive slot; `slots_overwritten`
    of them hold an older one there, which would be gone for good."""

    switches: bool
    from_id: str | None
    from_name: str | None
    products_cleared: int
    slots_overwritten: int


def activation_impact(site_id: int, taxonomy_id: str) -> ActivationImpact:
    """Return the effects that activating would have. Raises NotFound."""
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    current = active_id(site_id)
    if current is None or current == taxonomy.id:
        return ActivationImpact(False, None, None, 0, 0)
    held = _is_classified(site_id)
    cleared = db.session.scalar(select(func.count(Product.id)).where(held)) or 0
    overwriting = and_(held, Product.archived_taxonomy_data.is_not(None))
    overwritten = db.session.scalar(select(func.count(Product.id)).where(overwriting)) or 0
    return ActivationImpact(True, current, _name_of(site_id, current), cleared, overwritten)


def _name_of(site_id: int, taxonomy_id: str) -> str:
    query = select(Taxonomy.name).where(Taxonomy.site_id == site_id, Taxonomy.id == taxonomy_id)
    return db.session.scalar(query) or taxonomy_id


def activate_taxonomy(author: Author, taxonomy_id: str, confirm_name: object) -> bool:
    """Make a taxonomy the active one, and return whether that switched from another. A switch needs its name in
    `confirm_name`, to the letter; it is compared in the same transaction, so that the taxonomy is not renamed in
    between. Raises NotFound, Forbidden when the plan lacks the engine, Invalid for a wrong name."""
    taxonomy = taxonomy_of(author.site_id, taxonomy_id, to_change=True)
    _lock_site(author.site_id)
    current = active_id(author.site_id)
    if current == taxonomy.id:
        return False
    if current is None:
        _activate_first(author, taxonomy)
        return False
    if type(confirm_name) is not str or confirm_name != taxonomy.name:
        message = f"The name is not “{taxonomy.name}” to the letter."
        raise Invalid.one("wrong_confirm_name", message, "#/confirmName")
    _switch(author, taxonomy, current)
    return True


def _lock_site(site_id: int) -> None:
    """Lock the site and its setting: activations of a site come one after the other, and after the classifications that
    are being written: these hold the setting. Raises Forbidden."""
    site = select(Site.capabilities).where(Site.id == site_id).with_for_update(key_share=True)
    if ENGINE_CAPABILITY not in (db.session.scalar(site) or ()):
        raise Forbidden("The plan of this shop does not include the taxonomy engine, so no taxonomy can be activated.")
    setting = select(Setting).where(Setting.site_id == site_id, Setting.key == ACTIVE)
    db.session.scalar(setting.with_for_update().execution_options(populate_existing=True))


def _activate_first(author: Author, taxonomy: Taxonomy) -> None:
    """Activate the first taxonomy: nothing was classified by another, so nothing is cleared or published. Products that
    have levels already, from a time before or an import, are indexed without them until a rebuild."""
    change_settings(taxonomy.site_id, {ACTIVE: taxonomy.id})
    if db.session.scalar(select(exists().where(_is_classified(taxonomy.site_id)))):
        taxonomy.rebuild_needed_at = author.now()
    request(author, Kind.RECOMPUTE, {})
    _record_activation(author, taxonomy, f"Activated the taxonomy {taxonomy.name}", None, 0)


def _switch(author: Author, taxonomy: Taxonomy, current: str) -> None:
    site_id = author.site_id
    change_settings(site_id, {ACTIVE: taxonomy.id})
    db.session.flush()
    cleared = _archive_and_clear(author, current)
    values = delete(ProductAttributeValue).where(ProductAttributeValue.site_id == site_id)
    db.session.execute(values, execution_options={"synchronize_session": False})
    stored_events.store(author.clock, site_id, CHANGED_EVENT, {"from": current, "to": taxonomy.id})
    former = _name_of(site_id, current)
    _record_activation(author, taxonomy, f"Switched from the taxonomy {former} to {taxonomy.name}", current, cleared)


def _archive_and_clear(author: Author, taxonomy_id: str) -> int:
    """Archive and clear the classification of all products; return how many had one. Their revision rises, so that an
    editor that was opened before cannot save the old classification again. The rebuild that follows the event updates
    the index."""
    statement = (
        update(Product)
        .where(_is_classified(author.site_id))
        .values(
            archived_taxonomy_data=_archive_slot(taxonomy_id, rfc3339(author.now())),
            taxonomy_level_id=None,
            completeness_score=None,
            taxonomy_attributes={},
            revision=Product.revision + 1,
            updated_at=author.now(),
        )
    )
    done = db.session.execute(statement, execution_options={**INDEXED_SEPARATELY, "synchronize_session": False})
    db.session.expire_all()
    return int(done.rowcount)  # type: ignore[attr-defined]


def _is_classified(site_id: int) -> ColumnElement[bool]:
    has_values = cast(Product.taxonomy_attributes, Text) != "{}"
    return and_(Product.site_id == site_id, or_(Product.taxonomy_level_id.is_not(None), has_values))


def _archive_slot(taxonomy_id: str, archived_at: str) -> ColumnElement[Any]:
    """Return the expression of a product's classification as one JSON object, for its archive slot."""
    on_postgresql = db.session.get_bind().dialect.name == "postgresql"
    make = func.jsonb_build_object if on_postgresql else func.json_object
    attributes = Product.taxonomy_attributes if on_postgresql else func.json(Product.taxonomy_attributes)
    return make(
        "taxonomyId",
        cast(taxonomy_id, Text),
        "levelId",
        Product.taxonomy_level_id,
        "completenessScore",
        Product.completeness_score,
        "attributes",
        attributes,
        "archivedAt",
        cast(archived_at, Text),
        type_=JsonValue,
    )


def _record_activation(
    author: Author, taxonomy: Taxonomy, summary: str, former: str | None, products_cleared: int
) -> None:
    activity.record(
        author,
        "taxonomy.activate",
        ("taxonomy", taxonomy.id),
        summary,
        before={"active": former},
        after={"active": taxonomy.id, "productsCleared": products_cleared},
    )


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

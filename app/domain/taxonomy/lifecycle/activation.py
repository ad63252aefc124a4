"""The choice of the active taxonomy. Switching from another puts every product's classification into its archive slot
and clears it, in one statement: products are never classified by two taxonomies at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, delete, func, or_, select, update

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product, ProductAttributeValue
from app.domain.shared.author import Author
from app.domain.shared.columns import JsonValue
from app.domain.shared.problems import Forbidden, Invalid
from app.domain.shared.times import rfc3339
from app.domain.sites import audit, stored_events
from app.domain.sites.models import Setting, Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import ENGINE_CAPABILITY
from app.domain.taxonomy.tasks import Kind, request
from app.domain.taxonomy.taxonomies import ACTIVE, active_id, taxonomy_of
from app.extensions import db

CHANGED_EVENT = "ActiveTaxonomyChangedEvent"  # Its payload: the ids `from` and `to`.


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
    held = _classified(site_id)
    cleared = db.session.scalar(select(func.count(Product.id)).where(held)) or 0
    overwriting = and_(held, Product.archived_taxonomy_data.is_not(None))
    overwritten = db.session.scalar(select(func.count(Product.id)).where(overwriting)) or 0
    return ActivationImpact(True, current, _name_of(site_id, current), cleared, overwritten)


def _name_of(site_id: int, taxonomy_id: str) -> str:
    query = select(Taxonomy.name).where(Taxonomy.site_id == site_id, Taxonomy.id == taxonomy_id)
    return db.session.scalar(query) or taxonomy_id


def activate(author: Author, taxonomy_id: str, confirm_name: object) -> bool:
    """Make a taxonomy the active one, and return whether that switched from another. A switch needs its name in
    `confirm_name`, to the letter; it is compared in the same transaction, so that the taxonomy is not renamed in
    between. Raises NotFound, Forbidden when the plan lacks the engine, Invalid for a wrong name."""
    taxonomy = taxonomy_of(author.site_id, taxonomy_id, to_change=True)
    _hold_site(author.site_id)
    current = active_id(author.site_id)
    if current == taxonomy.id:
        return False
    if current is None:
        _begin(author, taxonomy)
        return False
    if type(confirm_name) is not str or confirm_name != taxonomy.name:
        message = f"The name is not “{taxonomy.name}” to the letter."
        raise Invalid.one("wrong_confirm_name", message, "#/confirmName")
    _switch(author, taxonomy, current)
    return True


def _hold_site(site_id: int) -> None:
    """Lock the site and its setting: activations of a site come one after the other, and after the classifications that
    are being written: these hold the setting. Raises Forbidden."""
    site = select(Site.capabilities).where(Site.id == site_id).with_for_update(key_share=True)
    if ENGINE_CAPABILITY not in (db.session.scalar(site) or ()):
        raise Forbidden("The plan of this shop does not include the taxonomy engine, so no taxonomy can be activated.")
    setting = select(Setting).where(Setting.site_id == site_id, Setting.key == ACTIVE)
    db.session.scalar(setting.with_for_update().execution_options(populate_existing=True))


def _begin(author: Author, taxonomy: Taxonomy) -> None:
    """Activate the first taxonomy: nothing was classified by another, so nothing is cleared or published."""
    change_settings(taxonomy.site_id, {ACTIVE: taxonomy.id})
    request(author, Kind.RECOMPUTE, {})
    _record(author, taxonomy, f"Activated the taxonomy {taxonomy.name}", None, 0)


def _switch(author: Author, taxonomy: Taxonomy, current: str) -> None:
    site_id = author.site_id
    change_settings(site_id, {ACTIVE: taxonomy.id})
    db.session.flush()
    cleared = _archive_and_clear(author, current)
    values = delete(ProductAttributeValue).where(ProductAttributeValue.site_id == site_id)
    db.session.execute(values, execution_options={"synchronize_session": False})
    stored_events.store(author.clock, site_id, CHANGED_EVENT, {"from": current, "to": taxonomy.id})
    former = _name_of(site_id, current)
    _record(author, taxonomy, f"Switched from the taxonomy {former} to {taxonomy.name}", current, cleared)


def _archive_and_clear(author: Author, taxonomy_id: str) -> int:
    """Archive and clear the classification of all products; return how many had one. Their revision rises, so that an
    editor that was opened before cannot save the old classification again. The rebuild that follows the event updates
    the index."""
    statement = (
        update(Product)
        .where(_classified(author.site_id))
        .values(
            archived_taxonomy_data=_slot(taxonomy_id, rfc3339(author.now())),
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


def _classified(site_id: int) -> ColumnElement[bool]:
    has_values = cast(Product.taxonomy_attributes, Text) != "{}"
    return and_(Product.site_id == site_id, or_(Product.taxonomy_level_id.is_not(None), has_values))


def _slot(taxonomy_id: str, archived_at: str) -> ColumnElement[Any]:
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


def _record(author: Author, taxonomy: Taxonomy, summary: str, former: str | None, products_cleared: int) -> None:
    audit.record(
        author,
        "taxonomy.activate",
        ("taxonomy", taxonomy.id),
        summary,
        before={"active": former},
        after={"active": taxonomy.id, "productsCleared": products_cleared},
    )

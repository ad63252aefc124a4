"""The restoring of classifications that were archived when another taxonomy became active.

Its preview, the request for its task, and the work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, func, select

from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict
from app.domain.taxonomy.models import Kind, Taxonomy, TaxonomyTask
from app.domain.taxonomy.tasks import queue
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.summary import add_count, note_loss
from app.domain.taxonomy.taxonomies import active_taxonomy, taxonomy_of, with_former_words
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.values import restore_from_slot
from app.extensions import db

READ_AT_ONCE = 2_000
MOST_NAMED = 20  # Levels, and attributes, that a preview names.


@dataclass(frozen=True, slots=True)
class Source:
    """A taxonomy that archived classifications come from; `name` is its id where it is gone."""

    id: str
    name: str
    products: int


@dataclass(frozen=True, slots=True)
class Gone:
    """A level or an attribute that archived data names; `name` is its id where no taxonomy that the data comes from has
    it."""

    id: str
    name: str
    products: int


@dataclass(frozen=True, slots=True)
class RestorePreview:
    """The effects of restoring. `restorable` products get level and values back, `with_data_loss` of them not all
    values: `values_left` are the attributes of the values left, most products first, and `more_attributes` the number
    of further ones. `levels_gone` are the levels that the active taxonomy lacks, and `more_levels` the number of
    further ones; their `unrestorable` products keep everything in the archive. `classified` products have an archived
    classification and a new one, which they keep."""

    sources: tuple[Source, ...]
    restorable: int
    with_data_loss: int
    unrestorable: int
    classified: int
    levels_gone: tuple[Gone, ...]
    more_levels: int
    values_left: tuple[Gone, ...]
    more_attributes: int

    @property
    def is_empty(self) -> bool:
        return not (self.restorable or self.unrestorable or self.classified)


def restore_preview(clock: Clock, site_id: int, taxonomy_id: str) -> RestorePreview:
    """Return the effects that restoring would have now; nothing is changed. Raises NotFound, Conflict when it is not
    the active one."""
    stored = taxonomy_to_restore(site_id, taxonomy_id).tree
    tree = with_former_words(clock, site_id, taxonomy_id, stored)
    levels = _products_by_level(site_id)
    gone = {level_id: products for level_id, products in levels.items() if level_id not in tree.levels}
    lossy, left = _data_loss(site_id, tree) if len(gone) < len(levels) else (0, Counter())
    sources = _count_by_source(site_id)
    level_names, attribute_names = _names(site_id, sources) if gone or left else ({}, {})
    return RestorePreview(
        sources=sources,
        restorable=sum(levels.values()) - sum(gone.values()),
        with_data_loss=lossy,
        unrestorable=sum(gone.values()),
        classified=_count_classified(site_id),
        levels_gone=_gone_by_products({level_id or "(no level)": n for level_id, n in gone.items()}, level_names),
        more_levels=max(0, len(gone) - MOST_NAMED),
        values_left=_gone_by_products(left, attribute_names),
        more_attributes=max(0, len(left) - MOST_NAMED),
    )


def can_restore(site_id: int, taxonomy_id: str) -> bool:
    """Whether the active taxonomy has the level of any archived classification. Raises what restore_preview raises."""
    tree = taxonomy_to_restore(site_id, taxonomy_id).tree
    return any(level_id in tree.levels for level_id in _products_by_level(site_id))


def restorable_products(site_id: int) -> int:
    """Return the number of products without a level whose archived level the active taxonomy has."""
    products = _products_by_level(site_id)
    taxonomy = active_taxonomy(site_id) if products else None
    if taxonomy is None:
        return 0
    levels = taxonomy.tree.levels
    return sum(number for archived, number in products.items() if archived in levels)


def restore(author: Author, taxonomy_id: str) -> TaxonomyTask:
    """Request the task that restores archived classifications, and return it; an unfinished one of the same taxonomy is
    returned instead. Call it in a transaction. Raises NotFound, Conflict when the taxonomy is not the active one."""
    taxonomy_to_restore(author.site_id, taxonomy_id)
    parameters = {"taxonomyId": taxonomy_id}
    for task in queue.unfinished(author.site_id):
        if task.kind == Kind.RESTORE and task.parameters == parameters:
            return task
    return queue.request(author, Kind.RESTORE, parameters)


def taxonomy_to_restore(site_id: int, taxonomy_id: str) -> Taxonomy:
    """The taxonomy. Raises NotFound, Conflict when it is not the active one."""
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    active = active_taxonomy(site_id)
    if active is None or active.id != taxonomy.id:
        raise Conflict(f"“{taxonomy.name}” is not the active taxonomy. Only the active one can take products back.")
    return taxonomy


def _is_archived(site_id: int) -> ColumnElement[bool]:
    return and_(Product.site_id == site_id, Product.archived_taxonomy_data.is_not(None))


def _can_be_restored(site_id: int) -> ColumnElement[bool]:
    return and_(_is_archived(site_id), Product.taxonomy_level_id.is_(None))


def _count_classified(site_id: int) -> int:
    query = select(func.count(Product.id)).where(_is_archived(site_id), Product.taxonomy_level_id.is_not(None))
    return db.session.scalar(query) or 0


def _products_by_level(site_id: int) -> dict[str | None, int]:
    level_id = Product.archived_taxonomy_data["levelId"].as_string()
    rows = db.session.execute(select(level_id, func.count()).where(_can_be_restored(site_id)).group_by(level_id))
    return {found: products for found, products in rows}


def _count_by_source(site_id: int) -> tuple[Source, ...]:
    taxonomy_id = Product.archived_taxonomy_data["taxonomyId"].as_string()
    query = select(taxonomy_id, func.count()).where(_can_be_restored(site_id)).group_by(taxonomy_id)
    known = select(Taxonomy.id, Taxonomy.name).where(Taxonomy.site_id == site_id)
    names: dict[str, str] = {found_id: name for found_id, name in db.session.execute(known)}
    found = [Source(key or "", names.get(key, key or "?"), products) for key, products in db.session.execute(query)]
    return tuple(sorted(found, key=lambda source: (-source.products, source.id)))


def _names(site_id: int, sources: Sequence[Source]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of levels and of attributes, by id, in the taxonomies that the archived data comes from."""
    ids = [source.id for source in sources]
    query = select(Taxonomy.root_levels).where(Taxonomy.site_id == site_id, Taxonomy.id.in_(ids))
    trees = [TaxonomyTree.parse(root_levels) for root_levels in db.session.scalars(query)]
    attributes = {key: name for tree in trees for key, name in tree.attribute_names().items()}
    return {level.id: level.name for tree in trees for level in tree.levels.values()}, attributes


def _data_loss(site_id: int, tree: TaxonomyTree) -> tuple[int, Counter[str]]:
    """Return how many products would leave values behind, in all and by attribute."""
    products, by_attribute = 0, Counter[str]()
    slots = (
        select(Product.archived_taxonomy_data)
        .where(_can_be_restored(site_id))
        .execution_options(yield_per=READ_AT_ONCE)
    )
    for slot in db.session.scalars(slots):
        found = restore_from_slot(tree, slot)
        if found is not None and found.left_values:
            products += 1
            by_attribute.update(found.left_values.keys())
    return products, by_attribute


def _gone_by_products(counts: dict[str, int] | Counter[str], names: dict[str, str]) -> tuple[Gone, ...]:
    most = sorted(counts.items(), key=lambda found: (-found[1], found[0]))[:MOST_NAMED]
    return tuple(Gone(key, names.get(key, key), products) for key, products in most)


def restore_candidates(task: Task) -> Select[int]:
    """Select the products without a level that have an archived classification. Those that were classified since keep
    both."""
    return select(Product.id).where(_can_be_restored(task.site_id))


def restore_batch(batch: Batch) -> None:
    """Restore the level and values that fit the active taxonomy to the products. What does not fit stays in the slot,
    so nothing is lost."""
    task = batch.task
    names = task.tree.attribute_names()
    changed = []
    for product in batch.products():
        found = restore_from_slot(task.tree, product.archived_taxonomy_data or {})
        if found is None or product.taxonomy_level_id is not None:
            add_count(batch.report, "skipped")
            continue
        product.taxonomy_level_id, product.taxonomy_attributes = found.level_id, found.values
        product.completeness_score, product.archived_taxonomy_data = found.score, found.left
        note_loss(batch.report, "dropped", (product.id, product.sku), found.left_values, names)
        changed.append(product)
    batch.note_changed(changed)
    add_count(batch.report, "changed", len(changed))

"""Another level and other values for one product, by callers that send typed values and no form. The rules are those of
the product form: the level must exist in the active taxonomy, only applicable attributes are kept, and a value that
breaks its rules is dropped and reported, what is stored in its place stays, and the rest is saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.catalogue.models import Product
from app.domain.catalogue.products import note_changes, product_of, snapshot
from app.domain.catalogue.revisions import check_revision
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.levels.values import DroppedValue
from app.domain.taxonomy.products.classification import (
    UNCLASSIFIED,
    Classification,
    classification,
    hold,
    hold_active,
    values_held,
)
from app.domain.taxonomy.products.saving import LEVEL_IS_GONE, NO_LEVEL, ActiveTaxonomy, active_with_tree

NO_TAXONOMY = "No taxonomy is active on this site, so products cannot be classified. Activate one first."
LEVEL_WANTED = "The product has no level yet. Name one."


@dataclass(frozen=True, slots=True)
class ClassificationChange:
    """A requested change of level and values. A `level_id` of None keeps the level, an empty one takes the
    classification away. Attributes that `values` leaves out keep what the product holds; None takes a value away."""

    level_id: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangedProduct:
    """A product with its classification before and after a change, which may be a preview."""

    product: Product
    taxonomy: ActiveTaxonomy
    before: Classification
    after: Classification

    @property
    def is_changed(self) -> bool:
        return (self.before.level_id, self.before.values) != (self.after.level_id, self.after.values)


def taxonomy_in_use(clock: Clock, site_id: int) -> ActiveTaxonomy:
    """Return the active taxonomy. Raises Conflict where none is, or the plan lacks the taxonomy engine."""
    taxonomy = active_with_tree(clock, site_id)
    if taxonomy is None:
        raise Conflict(NO_TAXONOMY, "no_active_taxonomy")
    return taxonomy


def preview_classification(
    clock: Clock, site_id: int, product_id: int, change: ClassificationChange | None
) -> ChangedProduct:
    """Return the product as it would be after a change, or as it is where `change` is None. Raises NotFound, Conflict,
    Invalid."""
    product, taxonomy = product_of(site_id, product_id), taxonomy_in_use(clock, site_id)
    before = stored_classification(taxonomy.tree, product)
    after = before if change is None else _changed(taxonomy.tree, product, change)
    return ChangedProduct(product, taxonomy, before, after)


def set_classification(
    author: Author, product_id: int, change: ClassificationChange, revision: int | None = None
) -> ChangedProduct:
    """Change the classification of a product; return the product with its classification before and after. Call it
    within a transaction. `revision` is that of the product as the author read it, if it matters. Raises NotFound,
    Conflict, StaleRevision, Invalid."""
    hold_active(author.site_id)
    product = product_of(author.site_id, product_id, to_change=True)
    if revision is not None:
        check_revision(author.site_id, ("product", product.id), product.revision, revision)
    taxonomy, as_it_was = taxonomy_in_use(author.clock, author.site_id), snapshot(product)
    before = stored_classification(taxonomy.tree, product)
    after = _changed(taxonomy.tree, product, change)
    hold(product, after)
    note_changes(author, product, as_it_was)
    return ChangedProduct(product, taxonomy, before, after)


def stored_classification(tree: TaxonomyTree, product: Product) -> Classification:
    """Return the stored classification of a product, with the values that it misses; none are missing at a level that
    is gone."""
    level_id = product.taxonomy_level_id
    values = dict(product.taxonomy_attributes)
    if level_id is None or level_id not in tree.levels:
        return Classification(level_id, values, product.completeness_score)
    found = classification(tree, level_id, values)
    return Classification(level_id, values, found.score, (), found.missing)


def _changed(tree: TaxonomyTree, product: Product, change: ClassificationChange) -> Classification:
    level_id = product.taxonomy_level_id if change.level_id is None else change.level_id
    if change.level_id == "":
        given = {name: value for name, value in change.values.items() if value is not None}
        dropped = tuple(DroppedValue(name, value, "no_level", NO_LEVEL) for name, value in given.items())
        return Classification(dropped=dropped) if dropped else UNCLASSIFIED
    if level_id is None:
        raise Invalid.one("required", LEVEL_WANTED, "#/levelId")
    if change.level_id is None and level_id not in tree.levels:
        raise Invalid.one("unknown_level", LEVEL_IS_GONE, "#/levelId")
    held = values_held(tree, product.taxonomy_level_id, product.taxonomy_attributes)
    return classification(tree, level_id, held | dict(change.values), held)

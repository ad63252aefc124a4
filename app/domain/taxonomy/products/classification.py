"""The classification of a product: its level, its checked values and how complete they are.

The product form and callers that send typed values give it by the same rules: the level must exist in the active
taxonomy, and only applicable attributes are kept. A value that breaks its rules is dropped and reported, what is stored
in its place stays, and the rest is saved. Call what writes within a transaction; a save is one revision of the product
and one line in the activity log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import delete, insert

from app.domain.catalogue import products
from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.catalogue.product_rules import ProductDraft
from app.domain.catalogue.products import Saved, note_changes, product_of, snapshot
from app.domain.catalogue.revisions import check_revision
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid
from app.domain.taxonomy.products.panel import Dropped, Texts, dropped_values, raw_values
from app.domain.taxonomy.taxonomies import (
    ActiveTaxonomy,
    active_with_tree,
    lock_active_id,
    taxonomy_in_use,
)
from app.domain.taxonomy.tree import Attribute, TaxonomyTree
from app.domain.taxonomy.values import (
    NOTHING_STORED,
    DroppedValue,
    Value,
    check_values,
    completeness,
    in_current_words,
    missing_attributes,
    value_texts,
)
from app.extensions import db

UNKNOWN_LEVEL = "unknown_level"
LONGEST_COUNTED_VALUE = 500  # Characters of a text that the index of values holds.
NO_LEVEL = "The product has no level any more."
ANOTHER_TAXONOMY = (
    "Another taxonomy was made the active one while you worked, so level and attributes were not saved. "
    "Reload the page to see what holds now."
)
TAXONOMY_IS_GONE = (
    "No taxonomy is active any more, so level and attributes were not saved. The product keeps what it has."
)
LEVEL_IS_GONE = (
    "The product’s level is no longer in the taxonomy. It keeps its level and values until you choose another level."
)
LEVEL_WANTED = "The product has no level yet. Name one."


@dataclass(frozen=True, slots=True)
class Classification:
    """The level of a product with its checked values. `score` is the completeness in per cent, None without a level;
    `missing` are the mandatory attributes that have no value."""

    level_id: str | None = None
    values: dict[str, Value] = field(default_factory=dict)
    score: int | None = None
    dropped: tuple[DroppedValue, ...] = ()
    missing: tuple[Attribute, ...] = ()


UNCLASSIFIED = Classification()


def check_level(tree: TaxonomyTree, level_id: str) -> None:
    """Check that the taxonomy has a level. Raises Invalid."""
    if level_id not in tree.levels:
        raise Invalid.one(UNKNOWN_LEVEL, f"The active taxonomy has no level “{level_id[:80]}”.", "#/levelId")


def classification(
    tree: TaxonomyTree, level_id: str, raw_values: Mapping[str, Any], stored: Mapping[str, Any] = NOTHING_STORED
) -> Classification:
    """Return the classification by a level and raw values. Values that break rules are dropped and reported, and those
    that are `stored` in their places stay. Raises Invalid when the taxonomy has no such level."""
    check_level(tree, level_id)
    attributes = tree.applicable_attributes(level_id)
    values, dropped = check_values(attributes, raw_values, stored)
    score = completeness(attributes, values)
    gaps = missing_attributes(attributes, values) if score < 100 else []
    return Classification(level_id, values, score, tuple(dropped), tuple(gaps))


def classify(
    product: Product, tree: TaxonomyTree, level_id: str | None, raw_values: Mapping[str, Any]
) -> Classification:
    """Give a product its level and values, and update the index of values; None as level takes the classification away.
    A value that breaks a rule leaves the stored one in place. The product must have its id. Raises Invalid for an
    unknown level."""
    stored = values_held(tree, product.taxonomy_level_id, product.taxonomy_attributes)
    found = UNCLASSIFIED if level_id is None else classification(tree, level_id, raw_values, stored)
    write_classification(product, found)
    return found


def values_held(tree: TaxonomyTree, level_id: str | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a product of a level in their current words."""
    return in_current_words(tree.applicable_attributes(level_id or ""), values)


def write_classification(product: Product, found: Classification) -> None:
    """Write a classification to its product and to the index of values."""
    if (found.level_id, found.values) != (product.taxonomy_level_id, product.taxonomy_attributes):
        product.taxonomy_level_id = found.level_id
        product.taxonomy_attributes = found.values
        index_values([product])
    if found.score != product.completeness_score:
        product.completeness_score = found.score


def counted_values(values: Mapping[str, Value]) -> set[tuple[str, str]]:
    """The (attribute id, text) pairs under which a product is counted."""
    return {
        (attribute_id, text[:LONGEST_COUNTED_VALUE])
        for attribute_id, value in values.items()
        for text in value_texts(value)
    }


def keep_values(product: Product, tree: TaxonomyTree, values: dict[str, Value]) -> None:
    """Set the values of a product unchecked, and its completeness by them; its level stays. The caller calls
    `index_values` afterwards."""
    product.taxonomy_attributes = values
    level_id = product.taxonomy_level_id
    if level_id is not None and level_id in tree.levels:
        product.completeness_score = completeness(tree.applicable_attributes(level_id), values)


def index_values(products: Sequence[Product]) -> None:
    """Replace the products' rows in the index of values by their present values, in two statements."""
    if not products:
        return
    held = ProductAttributeValue.product_id.in_([product.id for product in products])
    db.session.execute(delete(ProductAttributeValue).where(held))
    rows = [
        {"product_id": product.id, "site_id": product.site_id, "attribute_id": attribute_id, "value": text}
        for product in products
        for attribute_id, text in sorted(counted_values(product.taxonomy_attributes))
    ]
    if rows:
        db.session.execute(insert(ProductAttributeValue), rows)


@dataclass(frozen=True, slots=True)
class PanelForm:
    """The part of a product form that classifies. `taxonomy_id` is the taxonomy for which the inputs were made, empty
    where the sender did not say; an empty `level_id` takes the classification away."""

    taxonomy_id: str
    level_id: str
    texts: Texts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SavedProduct:
    """A product after a save. `dropped` are values that were not kept, one by one; `not_applied` says why the whole
    classification was left as it was."""

    saved: Saved
    dropped: tuple[Dropped, ...] = ()
    not_applied: str | None = None


def create_product(
    author: Author, draft: ProductDraft, terms: Sequence[object], panel: PanelForm | None
) -> SavedProduct:
    """Add a product with its classification. Raises Invalid, also for a level that the active taxonomy does not
    have."""
    lock_active_id(author.site_id)
    taxonomy = active_with_tree(author.clock, author.site_id)
    refusal = _why_not_applied(taxonomy, panel, None)
    saved = products.create(author, draft, terms)
    if panel is None or taxonomy is None or refusal:
        return SavedProduct(saved, not_applied=refusal)
    return SavedProduct(saved, _classify_by_form(saved.product, taxonomy.tree, panel))


def save_product(
    author: Author,
    product_id: int,
    revision: int,
    draft: ProductDraft,
    terms: Sequence[object] | None,
    panel: PanelForm | None,
) -> SavedProduct:
    """Save a product with its classification. Without a panel the classification stays as it is, so that a page made
    without an active taxonomy clears nothing. Raises NotFound, StaleRevision, Invalid; values that break rules are
    dropped and the rest is saved."""
    lock_active_id(author.site_id)
    dropped: list[Dropped] = []
    refusals: list[str | None] = []

    def apply(product: Product) -> None:
        # Read once the product is locked: a structure that was saved until then is the one that holds.
        taxonomy = active_with_tree(author.clock, author.site_id)
        refusals.append(_why_not_applied(taxonomy, panel, product))
        if panel is not None and taxonomy is not None and not refusals[-1]:
            dropped.extend(_classify_by_form(product, taxonomy.tree, panel))

    saved = products.save(author, product_id, revision, draft, terms, further=apply)
    return SavedProduct(saved, tuple(dropped), refusals[0])


def fill_gaps(
    author: Author, product_id: int, revision: int, texts: Texts
) -> tuple[Classification, tuple[Dropped, ...]]:
    """Give a product values of some attributes and leave all its others alone; what breaks rules is not kept and
    reported. Raises NotFound, StaleRevision, and Invalid for a product whose level is gone."""
    lock_active_id(author.site_id)
    product = product_of(author.site_id, product_id, to_change=True)
    check_revision(author.site_id, ("product", product.id), product.revision, revision)
    taxonomy = active_with_tree(author.clock, author.site_id)
    tree = taxonomy.tree if taxonomy else TaxonomyTree()
    level_id = product.taxonomy_level_id
    if level_id is None or level_id not in tree.levels:
        raise Invalid.one("unknown_level", LEVEL_IS_GONE, "#/levelId")
    before = snapshot(product)
    attributes = tree.applicable_attributes(level_id)
    kept, dropped = check_values(attributes, raw_values(attributes, texts))
    found = _with_more_values(product, attributes, kept, dropped)
    write_classification(product, found)
    note_changes(author, product, before)
    return found, dropped_values(tree, level_id, dropped)


def _with_more_values(
    product: Product, attributes: Mapping[str, Attribute], more: Mapping[str, object], dropped: Sequence[DroppedValue]
) -> Classification:
    values = product.taxonomy_attributes | dict(more)
    gaps = tuple(missing_attributes(attributes, values))
    return Classification(product.taxonomy_level_id, values, completeness(attributes, values), tuple(dropped), gaps)


def _why_not_applied(taxonomy: ActiveTaxonomy | None, panel: PanelForm | None, product: Product | None) -> str | None:
    """Return the reason why a panel is not applied though the rest of the form is, or None."""
    if panel is None:
        return None
    if taxonomy is None:
        return TAXONOMY_IS_GONE
    if panel.taxonomy_id and panel.taxonomy_id != taxonomy.id:
        return ANOTHER_TAXONOMY
    if product is None or not panel.level_id or panel.level_id != product.taxonomy_level_id:
        return None
    return None if panel.level_id in taxonomy.tree.levels else LEVEL_IS_GONE


def _classify_by_form(product: Product, tree: TaxonomyTree, panel: PanelForm) -> tuple[Dropped, ...]:
    values = raw_values(tree.applicable_attributes(panel.level_id), panel.texts)
    found = classify(product, tree, panel.level_id or None, values)
    if panel.level_id:
        return dropped_values(tree, panel.level_id, found.dropped)
    return dropped_values(tree, None, [DroppedValue(name, text, "no_level", NO_LEVEL) for name, text in values.items()])


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


def preview_classification(
    clock: Clock, site_id: int, product_id: int, change: ClassificationChange | None
) -> ChangedProduct:
    """Return the product as it would be after a change, or as it is where `change` is None. Raises NotFound, Conflict,
    Invalid."""
    product, taxonomy = product_of(site_id, product_id), taxonomy_in_use(clock, site_id)
    before = stored_classification(taxonomy.tree, product)
    after = before if change is None else _after_change(taxonomy.tree, product, change)
    return ChangedProduct(product, taxonomy, before, after)


def set_classification(
    author: Author, product_id: int, change: ClassificationChange, revision: int | None = None
) -> ChangedProduct:
    """Change the classification of a product; return the product with its classification before and after. Call it
    within a transaction. `revision` is that of the product as the author read it, if it matters. Raises NotFound,
    Conflict, StaleRevision, Invalid."""
    lock_active_id(author.site_id)
    product = product_of(author.site_id, product_id, to_change=True)
    if revision is not None:
        check_revision(author.site_id, ("product", product.id), product.revision, revision)
    taxonomy, as_it_was = taxonomy_in_use(author.clock, author.site_id), snapshot(product)
    before = stored_classification(taxonomy.tree, product)
    after = _after_change(taxonomy.tree, product, change)
    write_classification(product, after)
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


def _after_change(tree: TaxonomyTree, product: Product, change: ClassificationChange) -> Classification:
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

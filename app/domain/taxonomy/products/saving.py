"""Saving a product together with its classification: one revision, one line in the activity log. Call within a
transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.catalogue import products
from app.domain.catalogue.models import Product
from app.domain.catalogue.product_rules import ProductDraft
from app.domain.catalogue.products import Saved, note_changes, product_of, snapshot
from app.domain.catalogue.revisions import check_revision
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid
from app.domain.taxonomy.levels.attribute import Attribute
from app.domain.taxonomy.levels.completeness import completeness, missing
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.levels.values import DroppedValue, check_values
from app.domain.taxonomy.products.classification import Classification, active_taxonomy, classify, hold, hold_active
from app.domain.taxonomy.products.former_words import with_former_words
from app.domain.taxonomy.products.panel import Dropped, Texts, dropped_values, raw_values

NO_LEVEL = "The product has no level any more."
ANOTHER_TAXONOMY = (
    "Another taxonomy was made the active one while you worked, so level and attributes were not saved. "
    "Reload the page to see what holds now."
)
NO_TAXONOMY = "No taxonomy is active any more, so level and attributes were not saved. The product keeps what it has."
LEVEL_IS_GONE = (
    "The product’s level is no longer in the taxonomy. It keeps its level and values until you choose another level."
)


@dataclass(frozen=True, slots=True)
class ActiveTaxonomy:
    id: str
    name: str
    tree: TaxonomyTree


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


def active_with_tree(clock: Clock, site_id: int) -> ActiveTaxonomy | None:
    """The active taxonomy, its tree read once, with the former words of its values; None without one."""
    taxonomy = active_taxonomy(site_id)
    if taxonomy is None:
        return None
    tree = with_former_words(clock, site_id, taxonomy.id, TaxonomyTree.parse(taxonomy.root_levels))
    return ActiveTaxonomy(taxonomy.id, taxonomy.name, tree)


def create_product(
    author: Author, draft: ProductDraft, terms: Sequence[object], panel: PanelForm | None
) -> SavedProduct:
    """Add a product with its classification. Raises Invalid, also for a level that the active taxonomy does not
    have."""
    hold_active(author.site_id)
    taxonomy = active_with_tree(author.clock, author.site_id)
    refusal = _refusal(taxonomy, panel, None)
    saved = products.create(author, draft, terms)
    if panel is None or taxonomy is None or refusal:
        return SavedProduct(saved, not_applied=refusal)
    return SavedProduct(saved, _classify(saved.product, taxonomy.tree, panel))


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
    hold_active(author.site_id)
    dropped: list[Dropped] = []
    refusals: list[str | None] = []

    def apply(product: Product) -> None:
        # Read once the product is locked: a structure that was saved until then is the one that holds.
        taxonomy = active_with_tree(author.clock, author.site_id)
        refusals.append(_refusal(taxonomy, panel, product))
        if panel is not None and taxonomy is not None and not refusals[-1]:
            dropped.extend(_classify(product, taxonomy.tree, panel))

    saved = products.save(author, product_id, revision, draft, terms, further=apply)
    return SavedProduct(saved, tuple(dropped), refusals[0])


def fill_gaps(
    author: Author, product_id: int, revision: int, texts: Texts
) -> tuple[Classification, tuple[Dropped, ...]]:
    """Give a product values of some attributes and leave all its others alone; what breaks rules is not kept and
    reported. Raises NotFound, StaleRevision, and Invalid for a product whose level is gone."""
    hold_active(author.site_id)
    product = product_of(author.site_id, product_id, to_change=True)
    check_revision(author.site_id, ("product", product.id), product.revision, revision)
    taxonomy = active_with_tree(author.clock, author.site_id)
    tree = taxonomy.tree if taxonomy else TaxonomyTree()
    if product.taxonomy_level_id not in tree.levels:
        raise Invalid.one("unknown_level", LEVEL_IS_GONE, "#/levelId")
    before = snapshot(product)
    attributes = tree.applicable_attributes(product.taxonomy_level_id)
    kept, dropped = check_values(attributes, raw_values(attributes, texts))
    found = _with(product, attributes, kept, dropped)
    hold(product, found)
    note_changes(author, product, before)
    return found, dropped_values(tree, product.taxonomy_level_id, dropped)


def _with(
    product: Product, attributes: Mapping[str, Attribute], more: Mapping[str, object], dropped: Sequence[DroppedValue]
) -> Classification:
    values = product.taxonomy_attributes | dict(more)
    gaps = tuple(missing(attributes, values))
    return Classification(product.taxonomy_level_id, values, completeness(attributes, values), tuple(dropped), gaps)


def _refusal(taxonomy: ActiveTaxonomy | None, panel: PanelForm | None, product: Product | None) -> str | None:
    """Return the reason why a panel is not applied though the rest of the form is, or None."""
    if panel is None:
        return None
    if taxonomy is None:
        return NO_TAXONOMY
    if panel.taxonomy_id and panel.taxonomy_id != taxonomy.id:
        return ANOTHER_TAXONOMY
    if product is None or not panel.level_id or panel.level_id != product.taxonomy_level_id:
        return None
    return None if panel.level_id in taxonomy.tree.levels else LEVEL_IS_GONE


def _classify(product: Product, tree: TaxonomyTree, panel: PanelForm) -> tuple[Dropped, ...]:
    values = raw_values(tree.applicable_attributes(panel.level_id), panel.texts)
    found = classify(product, tree, panel.level_id or None, values)
    if panel.level_id:
        return dropped_values(tree, panel.level_id, found.dropped)
    return dropped_values(tree, None, [DroppedValue(name, text, "no_level", NO_LEVEL) for name, text in values.items()])

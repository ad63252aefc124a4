"""The work on products that follows a saved taxonomy: their completeness recomputed, and their values renamed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, false, select, update

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product, ProductAttributeValue
from app.domain.sites.models import AuditEntry
from app.domain.taxonomy.products.classification import LONGEST_COUNTED_VALUE, keep_values
from app.domain.taxonomy.renames import replace_words, words_of_save
from app.domain.taxonomy.tasks.batch import Batch, Task
from app.domain.taxonomy.tasks.summary import add_count
from app.domain.taxonomy.tree import Renames, Words
from app.domain.taxonomy.values import completeness
from app.extensions import db


def recompute_candidates(task: Task) -> Select[int]:
    """Select all products of the site, or none without an active taxonomy: each keeps its completeness then."""
    every = select(Product.id).where(Product.site_id == task.site_id)
    return every.where(false()) if task.taxonomy_id is None else every


def recompute_batch(batch: Batch) -> None:
    """Store the scores that changed. The index does not hold the score, so it needs no update; nor does a user edit it,
    so the revisions stay."""
    changed = [{"id": product_id, "completeness_score": score} for product_id, score in _other_scores(batch)]
    if changed:
        db.session.execute(update(Product), changed, execution_options=INDEXED_SEPARATELY)
    add_count(batch.report, "changed", len(changed))
    add_count(batch.report, "unchanged", len(batch.ids) - len(changed))


def _other_scores(batch: Batch) -> Iterator[tuple[int, int | None]]:
    columns = Product.id, Product.taxonomy_level_id, Product.taxonomy_attributes, Product.completeness_score
    query = select(*columns).where(Product.id.in_(batch.ids)).order_by(Product.id)
    for product_id, level_id, values, known in db.session.execute(query.with_for_update()):
        score = _score(batch.task, level_id, values)
        if score != known:
            yield product_id, score


def _score(task: Task, level_id: str | None, values: dict[str, Any]) -> int | None:
    if level_id is None or level_id not in task.tree.levels:
        return None
    return completeness(task.tree.applicable_attributes(level_id), values)


def rename_candidates(task: Task) -> Select[int]:
    """Select the products that hold a renamed value, on any level; `change` looks at which definition counts there."""
    renames = task.parameters["renames"]
    holding = select(ProductAttributeValue.product_id).where(
        ProductAttributeValue.site_id == task.site_id,
        ProductAttributeValue.attribute_id.in_({rename["attributeId"] for rename in renames}),
        ProductAttributeValue.value.in_({rename["value"][:LONGEST_COUNTED_VALUE] for rename in renames}),
    )
    return select(Product.id).where(Product.site_id == task.site_id, Product.id.in_(holding))


def rename_batch(batch: Batch) -> None:
    """Rename the values of the products. Whether the new word is still allowed does not matter: a later task may rename
    it again."""
    renames, products = words_of_save(batch.task.parameters), batch.products()
    earlier = _EarlierWords(batch, products, renames)
    changed = []
    for product in products:
        values = _renamed_values(product, renames, earlier)
        if values != product.taxonomy_attributes:
            keep_values(product, batch.task.tree, values)
            changed.append(product)
    batch.note_changed(changed)
    add_count(batch.report, "changed", len(changed))
    add_count(batch.report, "unchanged", len(batch.ids) - len(changed))


def _renamed_values(product: Product, renames: Renames, earlier: _EarlierWords) -> dict[str, Any]:
    level_id, held = product.taxonomy_level_id or "", product.taxonomy_attributes
    return {
        attribute_id: replace_words(
            value, earlier.applicable(product, attribute_id, renames.get((level_id, attribute_id)))
        )
        for attribute_id, value in held.items()
    }


class _EarlierWords:
    """The words that products had before the save, as distinct from those they got since, which stay. That matters
    where a renamed word is allowed for another value: two words that change places, or one that is given anew. The
    activity log has the words of every product that a user saved since."""

    def __init__(self, batch: Batch, products: Sequence[Product], renames: Renames) -> None:
        self._tree = batch.task.tree
        self._since = datetime.fromisoformat(batch.task.parameters["since"])
        self._renames = renames
        concerned = [product for product in products if any(self._doubtful_attributes(product))]
        self._before = _values_before(batch.task.site_id, concerned, self._since) if concerned else {}

    def applicable(self, product: Product, attribute_id: str, words: Words | None) -> Words:
        """Return those of the renames that apply to the product."""
        if not words or attribute_id not in set(self._doubtful_attributes(product)):
            return words or {}
        allowed = self._allowed_values(product, attribute_id)
        if product.created_at > self._since:
            return {word: renamed for word, renamed in words.items() if word not in allowed}
        if (product.id, attribute_id) not in self._before:
            return words
        before = self._before[product.id, attribute_id]
        had = before if isinstance(before, list) else [before]
        return {word: renamed for word, renamed in words.items() if word not in allowed or word in had}

    def _doubtful_attributes(self, product: Product) -> Iterator[str]:
        for attribute_id in product.taxonomy_attributes:
            words = self._renames.get((product.taxonomy_level_id or "", attribute_id), {})
            if words and not words.keys().isdisjoint(self._allowed_values(product, attribute_id)):
                yield attribute_id

    def _allowed_values(self, product: Product, attribute_id: str) -> Sequence[str]:
        attribute = self._tree.applicable_attributes(product.taxonomy_level_id or "").get(attribute_id)
        return attribute.allowed_values if attribute else ()


def _values_before(site_id: int, products: Sequence[Product], since: datetime) -> dict[tuple[int, str], Any]:
    """Return the values, by product and attribute, from before the first change after `since`."""
    query = select(AuditEntry.subject_id, AuditEntry.before, AuditEntry.after).where(
        AuditEntry.site_id == site_id,
        AuditEntry.subject_type == "product",
        AuditEntry.subject_id.in_([str(product.id) for product in products]),
        AuditEntry.at > since,
    )
    found: dict[tuple[int, str], Any] = {}
    for subject_id, *sides in db.session.execute(query.order_by(AuditEntry.id)):
        before, after = ((side or {}).get("taxonomy_attributes") or {} for side in sides)
        for attribute_id in {**before, **after}:
            found.setdefault((int(subject_id), attribute_id), before.get(attribute_id))
    return found

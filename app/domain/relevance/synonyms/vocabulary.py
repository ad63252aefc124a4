"""The vocabulary of a site's catalogue, read from its tables."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from sqlalchemy import func, select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.relevance.synonyms.mining import CatalogueWords
from app.domain.search.text import MAX_WORD_LENGTH, tokens
from app.extensions import db

AT_ONCE = 2_000  # Names are read in portions: a large catalogue does not fit into memory twice.
MOST_VALUES = 5_000  # The commonest; a rare value is rarely what many shoppers miss.
SEEN_TOGETHER = 2  # Names that have two words side by side before they count as a pair.


def vocabulary_of(site_id: int) -> CatalogueWords:
    """Return the words of the products that are for sale, in three statements."""
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    shown = Product.site_id == site_id, Product.enabled
    for name in db.session.scalars(select(Product.name).where(*shown).execution_options(yield_per=AT_ONCE)):
        found = [token[:MAX_WORD_LENGTH] for token in tokens(name)]
        words.update(found)
        pairs.update(set(pairwise(found)))
    neighbours = frozenset(pair for pair, times in pairs.items() if times >= SEEN_TOGETHER)
    brands = db.session.scalars(select(Product.manufacturer).where(*shown, Product.manufacturer != "").distinct())
    return CatalogueWords(words, neighbours, tuple(brands), _values(site_id))


def _values(site_id: int) -> tuple[str, ...]:
    """Return the commonest attribute values that have a letter: numbers mean nothing alone."""
    value = ProductAttributeValue.value
    query = select(value).where(ProductAttributeValue.site_id == site_id).group_by(value)
    commonest = query.order_by(func.count().desc(), value).limit(MOST_VALUES)
    return tuple(text for text in db.session.scalars(commonest) if any(c.isalpha() for c in text))

"""The active taxonomy for work on many products, batch by batch, during which people may save another structure."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from app.domain.shared.clock import Clock
from app.domain.taxonomy.levels.renamed_words import Renames
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.former_words import former_words
from app.domain.taxonomy.taxonomies import active_id
from app.extensions import db


class CurrentTree:
    """The active taxonomy of a site, read again only for another revision or when values were renamed. A plan that
    lacks the engine for a while does not matter: products keep their classification, so changes must still reach
    them."""

    def __init__(self, site_id: int) -> None:
        self._site_id = site_id
        self._known: tuple[str, int, datetime] | None = None
        self._words: Renames = {}
        self._stored = self._tree = TaxonomyTree()

    def read(self, clock: Clock) -> tuple[str | None, TaxonomyTree]:
        """Return the active taxonomy's id, and its tree as it is now with the former words of its values; without an
        active taxonomy, None and a tree without levels."""
        this = Taxonomy.site_id == self._site_id, Taxonomy.id == active_id(self._site_id)
        row = db.session.execute(select(Taxonomy.id, Taxonomy.revision, Taxonomy.updated_at).where(*this)).one_or_none()
        if row is None:
            return None, TaxonomyTree()
        if self._known != (known := (row.id, row.revision, row.updated_at)):
            self._stored = TaxonomyTree.parse(db.session.scalar(select(Taxonomy.root_levels).where(*this)) or [])
            self._known, self._words, self._tree = known, {}, self._stored
        words = former_words(clock, self._site_id, row.id)
        if words != self._words:
            self._words, self._tree = words, self._stored.knowing(words)
        return row.id, self._tree

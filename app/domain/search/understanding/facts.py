"""The vocabulary of a site, made from its active taxonomy, and the facts of its levels, counted by the index when a
search first names the level. A process caches both for as long as the shop and its index stay as they are."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cachetools import LRUCache

from app.domain.merchandising.facets import shared_definition
from app.domain.search.engine import IndexName, Searching, SearchRequest, SearchUnavailable, ValueFilter
from app.domain.search.understanding.parts import Understanding
from app.domain.search.understanding.understand import understand
from app.domain.search.understanding.vocabulary import (
    LEVEL,
    MANUFACTURER,
    Counts,
    LevelFacts,
    Vocabulary,
    countable,
    facts_of_level,
)
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import Attribute, TaxonomyTree

DEFAULT_FILTERS = "search-default-filters"
MOST_SITES = 100
FRESH = timedelta(minutes=1)  # What was counted holds at least so long, however often the index changes.


@dataclass(slots=True)
class QueryReader:
    """Understands the searches of one site. `shown` are the filters beside all results. What the index counts for a
    level is kept; two threads may count the same level at once."""

    site_id: int
    tree: TaxonomyTree
    vocabulary: Vocabulary
    shown: tuple[str, ...] = ()
    _facts: dict[str | None, LevelFacts] = field(default_factory=dict)

    @classmethod
    def of(cls, site_id: int, tree: TaxonomyTree, currency: str, shown: tuple[str, ...] = ()) -> QueryReader:
        return cls(site_id, tree, Vocabulary.of(tree, currency), shown)

    def understand(self, engine: Searching, words: str) -> Understanding:
        """Return what a search means; nothing while the engine does not answer."""
        try:
            return understand(words, self.vocabulary, lambda level_id: self._facts_of(engine, level_id))
        except SearchUnavailable:
            return Understanding(words)

    def _facts_of(self, engine: Searching, level_id: str | None) -> LevelFacts:
        known = self._facts.get(level_id)
        if known is None:
            known = self._facts[level_id] = read_facts(engine, self.site_id, self.tree, level_id, self.shown)
        return known


def reader_of_site(site_id: int) -> QueryReader:
    """Return a reader made from the database, for reports and previews."""
    shown = settings_of(site_id)[DEFAULT_FILTERS]
    return QueryReader.of(site_id, active_tree(site_id), currency_of(site_id), tuple(shown))


def read_facts(
    engine: Searching, site_id: int, tree: TaxonomyTree, level_id: str | None, shown: tuple[str, ...] = ()
) -> LevelFacts:
    """Return the facts of a level, or of all products by the `shown` filters, in one call to the engine. Raises
    SearchUnavailable."""
    attributes = _attributes(tree, level_id, shown)
    values, numbers = countable(attributes.values())
    request = SearchRequest(
        scope=(ValueFilter(LEVEL, (level_id,)),) if level_id is not None else (),
        facets=(*values, MANUFACTURER),
        range_facets=numbers,
        per_page=0,
    )
    result = engine.search(site_id, IndexName.PRODUCTS, request)
    name = tree.levels[level_id].name if level_id is not None else ""
    return facts_of_level(
        level_id, name, attributes, Counts(result.total, result.facets, result.ranges), frozenset(shown)
    )


def _attributes(tree: TaxonomyTree, level_id: str | None, shown: tuple[str, ...]) -> Mapping[str, Attribute]:
    if level_id is not None:
        return tree.applicable_attributes(level_id)
    definitions = tree.attributes_by_id()
    return {id: shared_definition(definitions[id]) for id in shown if id in definitions}


@dataclass(frozen=True, slots=True)
class _Made:
    reader: QueryReader
    shop_version: int
    index_version: int
    at: datetime

    def holds(self, shop_version: int, index_version: int, now: datetime) -> bool:
        is_new = self.index_version == index_version or abs(now - self.at) < FRESH
        return self.shop_version == shop_version and is_new


class QueryReaderCache:
    """Caches the reader of each site by the versions of the shop and of its index. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: LRUCache[int, _Made] = LRUCache(MOST_SITES)

    def reader(
        self,
        site_id: int,
        versions: tuple[int, int],
        now: datetime,
        tree: TaxonomyTree,
        currency: str,
        shown: tuple[str, ...],
    ) -> QueryReader:
        """Return the reader of a site. `versions` are those of the shop and of its index."""
        with self._lock:
            known = self._made.get(site_id)
        if known is not None and known.holds(*versions, now):
            return known.reader
        reader = QueryReader.of(site_id, tree, currency, shown)
        with self._lock:
            self._made[site_id] = _Made(reader, *versions, now)
        return reader

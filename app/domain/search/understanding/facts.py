"""The vocabulary of a site, made from its active taxonomy, and the facts of its levels, counted by the index when a
search first says something of an attribute. A process caches both for as long as the shop and its index stay as they
are, and for an hour at least."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cachetools import LRUCache

from app.domain.merchandising.facets import shared_definition
from app.domain.search.engine import IndexName, RangeCount, Searching, SearchRequest, SearchUnavailable, ValueFilter
from app.domain.search.text import MAX_CHARACTERS
from app.domain.search.understanding.parts import Understanding
from app.domain.search.understanding.quantities import Quantity, Token, read_quantities, read_tokens
from app.domain.search.understanding.understand import understand
from app.domain.search.understanding.vocabulary import (
    LEVEL,
    MANUFACTURER,
    Counts,
    LevelFacts,
    Phrasebook,
    Vocabulary,
    facts_of_level,
    mentioned_attributes,
    value_names,
)
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree

DEFAULT_FILTERS = "search-default-filters"
MOST_SITES = 100
NO_NUMBERS = RangeCount(None, None, 0)
MOST_FACTS = 2_000  # Of a site: levels with the attributes that searches said something of.
FRESH = timedelta(hours=1)  # What was counted holds at least so long, however often the index changes.


@dataclass(frozen=True, slots=True)
class _LevelNames:
    """The attributes of a level, and the words that name their values."""

    name: str
    attributes: Mapping[str, Attribute]
    values: Phrasebook[str]


@dataclass(slots=True)
class QueryReader:
    """Understands the searches of one site. `shown` are the filters beside all results. What the index counts is kept:
    for each level the attributes that searches said something of. Two threads may count the same at once."""

    site_id: int
    tree: TaxonomyTree
    vocabulary: Vocabulary
    shown: tuple[str, ...] = ()
    _names: dict[str | None, _LevelNames] = field(default_factory=dict)
    _counts: dict[str | None, Counts] = field(default_factory=dict)
    _facts: dict[tuple[str | None, frozenset[str]], LevelFacts] = field(default_factory=dict)

    @classmethod
    def of(cls, site_id: int, tree: TaxonomyTree, currency: str, shown: tuple[str, ...] = ()) -> QueryReader:
        return cls(site_id, tree, Vocabulary.of(tree, currency), shown)

    def understand(self, engine: Searching, words: str) -> Understanding:
        """Return what a search means; nothing while the engine does not answer."""
        tokens = read_tokens(words[:MAX_CHARACTERS])
        quantities = read_quantities(tokens, self.vocabulary.currency)
        try:
            return understand(words, self.vocabulary, lambda level: self._facts_of(engine, level, tokens, quantities))
        except SearchUnavailable:
            return Understanding(words)

    def _facts_of(
        self, engine: Searching, level_id: str | None, tokens: Sequence[Token], quantities: Sequence[Quantity]
    ) -> LevelFacts:
        names = self._names_of(level_id)
        said = mentioned_attributes(tokens, quantities, names.attributes, names.values, names.name)
        known = self._facts.get((level_id, said))
        if known is not None:
            return known
        attributes = {id: attribute for id, attribute in names.attributes.items() if id in said}
        counts = self._count(engine, level_id, attributes)
        made = facts_of_level(level_id, names.name, attributes, counts, frozenset(self.shown))
        if len(self._facts) < MOST_FACTS:
            self._facts[level_id, said] = made
        return made

    def _names_of(self, level_id: str | None) -> _LevelNames:
        known = self._names.get(level_id)
        if known is None:
            attributes = _attributes(self.tree, level_id, self.shown)
            name = self.tree.levels[level_id].name if level_id is not None else ""
            known = self._names[level_id] = _LevelNames(name, attributes, value_names(attributes))
        return known

    def _count(self, engine: Searching, level_id: str | None, attributes: Mapping[str, Attribute]) -> Counts:
        """Return the counts of a level with those of some attributes, in at most one call to the engine. Raises
        SearchUnavailable."""
        known = self._counts.get(level_id)
        counted = {*known.values, *known.ranges} if known else set()
        missing = [one for one in attributes.values() if one.id not in counted]
        if known is not None and not missing:
            return known
        request = SearchRequest(
            scope=(ValueFilter(LEVEL, (level_id,)),) if level_id is not None else (),
            facets=(
                *(one.id for one in missing if one.type is not AttributeType.NUMBER),
                *(() if known else (MANUFACTURER,)),
            ),
            range_facets=tuple(one.id for one in missing if one.type is AttributeType.NUMBER),
            per_page=0,
        )
        result = engine.search(self.site_id, IndexName.PRODUCTS, request)
        values: dict[str, Sequence[tuple[str, int]]] = {name: result.facets.get(name, ()) for name in request.facets}
        ranges = {name: result.ranges.get(name, NO_NUMBERS) for name in request.range_facets}
        if known is not None:
            values, ranges = {**known.values, **values}, {**known.ranges, **ranges}
        made = self._counts[level_id] = Counts(result.total, values, ranges)
        return made


def reader_of_site(site_id: int) -> QueryReader:
    """Return a reader made from the database, for reports and previews."""
    shown = settings_of(site_id)[DEFAULT_FILTERS]
    return QueryReader.of(site_id, active_tree(site_id), currency_of(site_id), tuple(shown))


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

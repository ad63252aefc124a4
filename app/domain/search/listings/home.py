"""The home page: its sections in the order that the shop chose, each with the products that it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.appearance.sections import ProductRule, Section, SectionKind
from app.domain.merchandising.shop import CollectionRow, Shop, collection_rows
from app.domain.search.document_ids import product_document_id
from app.domain.search.engine import (
    Hit,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchResult,
    SearchUnavailable,
    Sort,
    ValueFilter,
)

IN_A_ROW = 8
LOOKED_AT = 3 * IN_A_ROW  # Products of a row, some of which another row may show or nobody can buy.
ALL = SearchRequest(per_page=0)
LISTS_PRODUCTS = (SectionKind.PRODUCTS, SectionKind.NEWEST, SectionKind.SALE, SectionKind.COLLECTION)


@dataclass(frozen=True, slots=True)
class HomeSection:
    """A section as the page shows it. `hits` are its products, `collection_path` the address of its collection, `place`
    its number among the sections of the appearance."""

    section: Section
    title: str = ""
    hits: tuple[Hit, ...] = ()
    collection_path: str | None = None
    place: int = 0

    @property
    def kind(self) -> SectionKind:
        return self.section.kind

    @property
    def name(self) -> str:
        """Its title, as `shelves` call it."""
        return self.title


@dataclass(frozen=True, slots=True)
class HomePage:
    """`products` counts all that are for sale, None while search does not answer."""

    sections: tuple[HomeSection, ...] = ()
    products: int | None = None

    @property
    def shelves(self) -> list[HomeSection]:
        """The rows of products, for themes with a home page of their own."""
        return [shown for shown in self.sections if shown.hits]

    @property
    def has_hero(self) -> bool:
        return any(shown.kind is SectionKind.HERO for shown in self.sections)


def home_page(engine: SearchEngine, shop: Shop) -> HomePage:
    """Return the home page, by one call of the engine. No product is in two rows, but for collections, which are whole;
    a row without products is left out, and all rows while search does not answer."""
    sections = shop.appearance.sections
    collections = _collections(shop, sections)
    wanted = [section for section in sections if _is_row(section, collections)]
    requests = [_request(section, collections) for section in wanted]
    # The newest products are counted among all; without that row, all are counted by a request of its own.
    of_all = next((at for at, section in enumerate(wanted) if section.kind is SectionKind.NEWEST), len(wanted))
    try:
        found = engine.search_many(shop.site_id, IndexName.PRODUCTS, [*requests, ALL][: max(len(wanted), of_all + 1)])
    except SearchUnavailable:
        texts = [(place, each) for place, each in enumerate(sections) if each.kind not in LISTS_PRODUCTS]
        return HomePage(tuple(HomeSection(each, each.title, place=place) for place, each in texts))
    rows = iter(_show_each_once(wanted, found[: len(wanted)]))
    shown = []
    for place, section in enumerate(sections):
        if section.kind not in LISTS_PRODUCTS:
            shown.append(HomeSection(section, section.title, place=place))
        elif _is_row(section, collections) and (hits := next(rows)):
            shown.append(replace(_row(section, hits, collections), place=place))
    return HomePage(tuple(shown), found[of_all].total)


def _collections(shop: Shop, sections: Iterable[Section]) -> Mapping[str, CollectionRow]:
    """Return the collections that sections show, by their SEO names; one that is gone or hidden is left out."""
    names = {section.collection for section in sections if section.kind is SectionKind.COLLECTION}
    return collection_rows(shop.site_id, names, LOOKED_AT)


def _is_row(section: Section, collections: Mapping[str, CollectionRow]) -> bool:
    if section.kind is SectionKind.COLLECTION:
        return section.collection in collections
    return section.kind in LISTS_PRODUCTS


def _request(section: Section, collections: Mapping[str, CollectionRow]) -> SearchRequest:
    if section.kind is SectionKind.NEWEST:
        return SearchRequest(sort=Sort.NEWEST, per_page=LOOKED_AT)
    if section.kind is SectionKind.COLLECTION:
        collection = collections[section.collection]
        scope = ValueFilter("collection", (str(collection.id),))
        first = tuple(map(product_document_id, collection.product_ids))
        return SearchRequest(scope=(scope,), sort=Sort.FEATURED, first=first, per_page=IN_A_ROW)
    field, value = _scope_of(section)
    return SearchRequest(scope=(ValueFilter(field, (value,)),), sort=Sort.FEATURED, per_page=LOOKED_AT)


def _scope_of(section: Section) -> tuple[str, str]:
    if section.kind is SectionKind.SALE:
        return "onSale", "true"
    if section.rule is ProductRule.FEATURED:
        return "featured", "true"
    return str(section.rule), section.rule_value


def _show_each_once(sections: Sequence[Section], results: Sequence[SearchResult]) -> list[tuple[Hit, ...]]:
    """Return the products of each row, at most IN_A_ROW. One of several rows stays in that with the lowest total."""
    seen: set[str] = set()
    rows: list[tuple[Hit, ...]] = [()] * len(results)
    for place in sorted(range(len(results)), key=lambda place: results[place].total):
        hits = results[place].hits
        if sections[place].kind is SectionKind.COLLECTION:
            rows[place] = hits[:IN_A_ROW]
            continue
        rows[place] = tuple([hit for hit in hits if hit.id not in seen][:IN_A_ROW])
        seen.update(hit.id for hit in rows[place])
    return rows


def _row(section: Section, hits: tuple[Hit, ...], collections: Mapping[str, CollectionRow]) -> HomeSection:
    if section.kind is not SectionKind.COLLECTION:
        return HomeSection(section, section.title, hits)
    title = section.heading or collections[section.collection].name
    return HomeSection(section, title, hits, f"/collections/{section.collection}")

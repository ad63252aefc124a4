"""The shops of a process: everything that a page needs besides products, cached until the configuration changes; and
the collections and pages of a shop as shoppers see them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import and_, func, select
from sqlalchemy.exc import OperationalError

from app.domain.appearance.appearances import appearance_of
from app.domain.appearance.declaration import UNCHANGED, Appearance
from app.domain.catalogue.content import COLLECTION, PAGE, ContentKind
from app.domain.catalogue.models import Collection, CollectionEntry, Page
from app.domain.delivery.declaration import COLLECTION_ONLY, Delivery
from app.domain.delivery.deliveries import delivery_of
from app.domain.merchandising.facets import shared_definition
from app.domain.merchandising.membership import buried_products, hand_made_order
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.tree import NUMBER_FACETS, VALUE_FACETS, Facet, ShopNode, ShopTree
from app.domain.shared.clock import Clock
from app.domain.shared.problems import NotFound
from app.domain.shared.records import existing
from app.domain.sites.models import Domain, Site
from app.domain.sites.settings import SiteSettings, settings_of
from app.domain.sites.versioning import own_changes
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree
from app.extensions import db

FRESH = timedelta(seconds=0.25)
MOST_LINKS = 12  # Pages and collections that are linked from every page.


@dataclass(frozen=True, slots=True)
class Shop:
    """A site as its shoppers meet it. `attributes` are those of the active taxonomy, by id (the first definition where
    several levels have one, with the unit that they agree on); `value_facets` and `number_facets` name everything that
    a listing can be filtered by, price apart. `burials` has the ids of the products that end a category's own order, by
    category, also of those in its hand-made order. `orders` caches the hand-made orders by category, `drawn` what
    surfaces rendered of this state of the shop."""

    site_id: int
    version: int
    name: str
    currency: str
    time_zone: str
    primary_host: str
    staging: bool
    settings: SiteSettings
    tree: ShopTree
    taxonomy: TaxonomyTree
    attributes: Mapping[str, Attribute]
    value_facets: frozenset[str]
    number_facets: frozenset[str]
    pages: tuple[ContentLink, ...]
    collections: tuple[ContentLink, ...]
    index_version: int = 0
    appearance: Appearance = UNCHANGED
    delivery: Delivery = COLLECTION_ONLY
    burials: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    orders: dict[int, tuple[int, ...]] = field(default_factory=dict)
    drawn: dict[str, str] = field(default_factory=dict)

    def hand_made_order(self, node_id: int) -> tuple[int, ...]:
        """Ids of the products that lead a category's own order."""
        if node_id not in self.orders:
            self.orders[node_id] = tuple(hand_made_order(self.site_id, node_id))
        return self.orders[node_id]


@dataclass(frozen=True, slots=True)
class _Directory:
    """The site of each host, and the number of changes of each site's configuration and indexes. `was_kept`: the
    database did not answer when it was to be read again, which may take seconds; one request at a time waits for it."""

    read_at: datetime
    own_changes: int
    hosts: Mapping[str, int]
    versions: Mapping[int, int]
    index_versions: Mapping[int, int]
    was_kept: bool = False

    def site_of(self, host: str) -> int:
        if host not in self.hosts:
            raise NotFound("There is no shop at this address.")
        return self.hosts[host]


class ShopWindow:
    """Cache of the shops by host. Reads the versions of all configurations four times a second at most, or when this
    process changed one, and a shop when its version is newer; while the database is away, cached shops are served. Safe
    to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._directory: _Directory | None = None
        self._shops: dict[int, Shop] = {}

    def check_host(self, clock: Clock, host: str) -> None:
        """Refuse a host (lower case, no port) that no shop answers to; reads no shop. Raises NotFound."""
        self._current(clock.now()).site_of(host)

    def shop_at(self, clock: Clock, host: str) -> Shop:
        """Return the shop that answers to a host (lower case, no port). Raises NotFound."""
        directory = self._current(clock.now())
        site_id = directory.site_of(host)
        shop = self._shops.get(site_id)
        if shop is None or shop.version < directory.versions[site_id]:
            shop = self._shops[site_id] = read_shop(site_id)
        if shop.index_version != directory.index_versions[site_id]:
            shop = self._shops[site_id] = replace(shop, index_version=directory.index_versions[site_id])
        return shop

    def _current(self, now: datetime) -> _Directory:
        known = self._directory
        if known is not None and known.own_changes == own_changes():
            is_tried_again = known.was_kept and self._lock.locked()
            if is_tried_again or abs(now - known.read_at) < FRESH:
                return known
        with self._lock:
            latest = self._directory
            # What another thread read meanwhile may lack what this one has changed.
            if latest is None or latest is known or latest.own_changes != own_changes():
                latest = self._directory = _renew_directory(latest, now)
            return latest


def read_shop(site_id: int) -> Shop:
    """Read a shop from the database, in a handful of queries. Its version is read first, so that a change meanwhile
    shows as newer. Raises NotFound."""
    site = db.session.execute(
        select(Site.name, Site.currency, Site.time_zone, Site.staging, Site.config_version, Site.index_version).where(
            Site.id == site_id
        )
    ).one_or_none()
    if site is None:
        raise NotFound("There is no shop at this address.")
    hosts = select(Domain.host).where(Domain.site_id == site_id).order_by(Domain.primary.desc(), Domain.host)
    taxonomy = active_tree(site_id)
    attributes = {id: shared_definition(definitions) for id, definitions in taxonomy.attributes_by_id().items()}
    numbers = frozenset(id for id, attribute in attributes.items() if attribute.type is AttributeType.NUMBER)
    return Shop(
        site_id=site_id,
        version=site.config_version,
        name=site.name,
        currency=site.currency,
        time_zone=site.time_zone,
        primary_host=db.session.scalars(hosts.limit(1)).one(),
        staging=site.staging,
        settings=settings_of(site_id),
        tree=load_tree(site_id),
        taxonomy=taxonomy,
        attributes=attributes,
        value_facets=frozenset(attributes) - numbers | VALUE_FACETS,
        number_facets=numbers | NUMBER_FACETS,
        pages=content_links(PAGE, site_id, MOST_LINKS),
        collections=content_links(COLLECTION, site_id, MOST_LINKS),
        index_version=site.index_version,
        appearance=appearance_of(site_id),
        delivery=delivery_of(site_id),
        burials=buried_products(site_id),
    )


def _renew_directory(known: _Directory | None, now: datetime) -> _Directory:
    try:
        return _read_directory(now)
    except OperationalError:
        if known is None:
            raise
        db.session.rollback()
        return replace(known, read_at=now, own_changes=own_changes(), was_kept=True)


def _read_directory(now: datetime) -> _Directory:
    seen = own_changes()  # Counted before: a change meanwhile shows as newer.
    rows = db.session.execute(
        select(Domain.host, Site.id, Site.config_version, Site.index_version).join(Site, Site.id == Domain.site_id)
    ).all()
    return _Directory(
        read_at=now,
        own_changes=seen,
        hosts={row.host: row.id for row in rows},
        versions={row.id: row.config_version for row in rows},
        index_versions={row.id: row.index_version for row in rows},
    )


def load_tree(site_id: int) -> ShopTree:
    """Return all categories of a site, in two queries. Without a primary tree the oldest one takes its place."""
    trees = db.session.execute(
        select(Tree.id, Tree.facets, Tree.default_landing_rules)
        .where(Tree.site_id == site_id)
        .order_by(Tree.primary.desc(), Tree.id)
    ).all()
    nodes = db.session.scalars(
        select(Node).where(Node.site_id == site_id).order_by(Node.tree_id, Node.position, Node.id)
    ).all()
    return ShopTree(
        nodes=[_shop_node(node) for node in nodes],
        tree_facets={tree.id: tuple(map(Facet.read, tree.facets)) for tree in trees},
        primary_tree_id=trees[0].id if trees else None,
        default_landing_rules={tree.id: tuple(tree.default_landing_rules) for tree in trees},
    )


def _shop_node(node: Node) -> ShopNode:
    return ShopNode(
        id=node.id,
        tree_id=node.tree_id,
        parent_id=node.parent_id,
        name=node.name,
        slug=node.slug,
        path=node.path,
        visible=node.visible,
        description=node.description,
        picture=node.picture,
        canonical_override=node.canonical_override,
        exclude_from_sitemap=node.exclude_from_sitemap,
        meta_title=node.meta_title,
        meta_description=node.meta_description,
        updated_at=node.updated_at,
        own_landing_rules=None if node.landing_rules is None else tuple(node.landing_rules),
        own_facets=None if node.facets is None else tuple(map(Facet.read, node.facets)),
        source_levels=tuple(node.source_levels),
        source_manufacturers=tuple(node.source_manufacturers),
    )


@dataclass(frozen=True, slots=True)
class LevelCategory:
    """A category with a taxonomy level. `label` is the way to it, as in "Garden › Tools"; `path` is where shoppers
    reach it, None where they do not."""

    label: str
    path: str | None


def categories_by_level(site_id: int) -> list[LevelCategory]:
    """Return the categories with a taxonomy level, in the order of their labels."""
    tree = load_tree(site_id)
    found = [
        LevelCategory(
            label=tree.label(node.id),
            path=node.path if tree.at(node.path) is node else None,
        )
        for node in tree.nodes.values()
        if node.source_levels
    ]
    return sorted(found, key=lambda category: category.label.casefold())


@dataclass(frozen=True, slots=True)
class ShownCollection:
    """A collection as shoppers see it. `product_ids` in the collection's own order; some of them may not be for
    sale."""

    id: int
    name: str
    description: str
    canonical_url: str | None
    product_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page as shoppers see it. `body` is HTML that was sanitised when it was saved."""

    title: str
    body: str
    meta_description: str | None
    canonical_url: str | None


@dataclass(frozen=True, slots=True)
class ContentLink:
    name: str
    path: str


FOLDERS = {"page": "pages", "collection": "collections"}


def content_link(kind: str, name: str, seo_name: str) -> ContentLink:
    return ContentLink(name, f"/{FOLDERS[kind]}/{seo_name}")


def collection_at(site_id: int, seo_name: str) -> ShownCollection:
    """Return the enabled collection with an SEO name. Raises NotFound."""
    collection = db.session.execute(
        select(Collection.id, Collection.name, Collection.description, Collection.canonical_url).where(
            Collection.site_id == site_id, Collection.seo_name == seo_name, Collection.enabled
        )
    ).one_or_none()
    if collection is None:
        raise NotFound("This collection does not exist or has been removed.")
    entries = select(CollectionEntry.product_id).where(CollectionEntry.collection_id == collection.id)
    product_ids = db.session.scalars(entries.order_by(CollectionEntry.position))
    return ShownCollection(*collection, tuple(product_ids))


@dataclass(frozen=True, slots=True)
class CollectionRow:
    """A collection as a row of products. `product_ids` are its first ones in its own order; some of them may not be
    for sale."""

    id: int
    name: str
    product_ids: tuple[int, ...]


def collection_rows(site_id: int, seo_names: Set[str], most: int) -> dict[str, CollectionRow]:
    """Return the enabled ones of some collections by their SEO names, each with its first products, at most `most`, in
    one query."""
    if not seo_names:
        return {}
    wanted = (Collection.site_id == site_id, Collection.seo_name.in_(seo_names), Collection.enabled)
    place = func.row_number().over(
        partition_by=CollectionEntry.collection_id, order_by=(CollectionEntry.position, CollectionEntry.product_id)
    )
    placed = (
        select(CollectionEntry.collection_id, CollectionEntry.product_id, place.label("place"))
        .join(Collection, Collection.id == CollectionEntry.collection_id)
        .where(*wanted)
        .subquery()
    )
    query = (
        select(Collection.seo_name, Collection.id, Collection.name, placed.c.product_id)
        .outerjoin(placed, and_(placed.c.collection_id == Collection.id, placed.c.place <= most))
        .where(*wanted)
        .order_by(Collection.id, placed.c.place)
    )
    return {
        seo_name: CollectionRow(id, name, tuple(row.product_id for row in rows if row.product_id is not None))
        for (seo_name, id, name), rows in groupby(db.session.execute(query), lambda row: tuple(row[:3]))
    }


def page_at(site_id: int, seo_name: str) -> ShownPage:
    """Return the enabled page with an SEO name. Raises NotFound."""
    page = db.session.execute(
        select(Page.title, Page.body, Page.meta_description, Page.canonical_url).where(
            Page.site_id == site_id, Page.seo_name == seo_name, Page.enabled
        )
    ).one_or_none()
    return ShownPage(*existing(page, "This page does not exist or has been removed."))


def content_links(kind: ContentKind[Any, Any], site_id: int, most: int) -> tuple[ContentLink, ...]:
    """Return links to the enabled records of a kind, by title."""
    title = kind.title_column()
    query = select(title, kind.model.seo_name).where(kind.model.site_id == site_id, kind.model.enabled)
    rows = db.session.execute(query.order_by(title).limit(most))
    return tuple(content_link(kind.noun, name, seo_name) for name, seo_name in rows)

"""The shops of a process: everything that a page needs besides products, cached until the configuration changes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.catalogue.content import COLLECTION, PAGE
from app.domain.merchandising.content import ContentLink, content_links
from app.domain.merchandising.filters import shared_definition
from app.domain.merchandising.queries import hand_made_order, load_tree
from app.domain.merchandising.tree import NUMBER_FACETS, VALUE_FACETS, ShopTree
from app.domain.shared.clock import Clock
from app.domain.shared.problems import NotFound
from app.domain.sites.models import Domain, Site
from app.domain.sites.settings import SiteSettings, settings_of
from app.domain.sites.versioning import own_changes
from app.domain.taxonomy.levels.attribute import Attribute, AttributeType
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.products.classification import active_tree
from app.extensions import db

FRESH = timedelta(seconds=0.25)
MOST_LINKS = 12  # Pages and collections that are linked from every page.


@dataclass(frozen=True, slots=True)
class Shop:
    """A site as its shoppers meet it. `attributes` are those of the active taxonomy, by id (the first definition where
    several levels have one, with the unit that they agree on); `value_facets` and `number_facets` name everything that
    a listing can be filtered by, price apart. `orders` caches the hand-made orders by category, `drawn` what surfaces
    rendered of this state of the shop."""

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
    orders: dict[int, tuple[int, ...]] = field(default_factory=dict)
    drawn: dict[str, str] = field(default_factory=dict)

    def hand_made_order(self, node_id: int) -> tuple[int, ...]:
        """Ids of the products that lead a category's own order."""
        if node_id not in self.orders:
            self.orders[node_id] = tuple(hand_made_order(self.site_id, node_id))
        return self.orders[node_id]


@dataclass(frozen=True, slots=True)
class _Directory:
    """The site of each host, and the number of changes of each site's configuration and indexes."""

    read_at: datetime
    own_changes: int
    hosts: Mapping[str, int]
    versions: Mapping[int, int]
    index_versions: Mapping[int, int]

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
        """The shop that answers to a host (lower case, no port). Raises NotFound."""
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
        is_current = known is not None and known.own_changes == own_changes()
        if known is not None and is_current and abs(now - known.read_at) < FRESH:
            return known
        with self._lock:
            latest = self._directory
            # What another thread read meanwhile may lack what this one has changed.
            if latest is None or latest is known or latest.own_changes != own_changes():
                latest = self._directory = _next_directory(latest, now)
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
    )


def _next_directory(known: _Directory | None, now: datetime) -> _Directory:
    try:
        return _read_directory(now)
    except OperationalError:
        if known is None:
            raise
        db.session.rollback()
        return replace(known, read_at=now, own_changes=own_changes())


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

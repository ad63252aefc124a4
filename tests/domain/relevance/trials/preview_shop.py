"""A small shop with an index, for trying changes on."""

from __future__ import annotations

from functools import partial

from flask import current_app

from app.domain.catalogue.models import Product
from app.domain.relevance import publishing
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.search.engine import SearchContext
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.serving import configuration
from app.extensions import db
from app.transaction import transaction
from tests import searching
from tests.searching import WHEN
from tests.snapshots import built

NAMES = {
    "MUG-1": "Blue mug",
    "MUG-2": "Green mug",
    "CUP-1": "Travel cup",
    "CUP-2": "Tea cup",
    "JUG-1": "Water jug",
}


def shop(indexing: SearchContext, host: str = "shop.test", names: dict[str, str] | None = None) -> int:
    """The site's id; its products are named as in `NAMES`, or as given by SKU."""
    named = names or NAMES
    return built(current_app, partial(_built, indexing, host, named), (shop, host, *named.items()))


def _built(indexing: SearchContext, host: str, names: dict[str, str]) -> int:
    with transaction():
        site_id = searching.add_site(host).id
        for sku, name in names.items():
            searching.add_product(site_id, sku, name)
    assert rebuild(indexing, searching.request(indexing, site_id, "PRODUCTS"))
    return site_id


def product_id(site_id: int, sku: str) -> int:
    found: int = db.session.query(Product.id).filter_by(site_id=site_id, sku=sku).scalar()
    return found


def lower_price(indexing: SearchContext, site_id: int, sku: str) -> None:
    """To 3.00; every other product costs 10.00."""
    with transaction():
        db.session.get_one(Product, product_id(site_id, sku)).price = 300
    apply_waiting(indexing, site_id)


def save_synonym(indexing: SearchContext, site_id: int, *words: str, **more: object) -> int:
    """A group that is live at once."""
    with transaction():
        fields = {"type": "EQUIVALENT", "status": "LIVE", "fingerprint": "/".join(words)} | more
        row = Synonym(
            site_id=site_id,
            words=list(words),
            words_version=configuration.raise_version(site_id),
            created_at=WHEN,
            updated_at=WHEN,
            updated_by="tests",
            **fields,
        )
        db.session.add(row)
        db.session.flush()
        publishing.publish(indexing.clock, site_id)
        return row.id


def save_rule(indexing: SearchContext, site_id: int, term: str, **more: object) -> int:
    """A rule that is live at once."""
    with transaction():
        row = SearchRule(
            site_id=site_id,
            term=term,
            normalized_term=term,
            words_version=configuration.raise_version(site_id),
            created_at=WHEN,
            updated_at=WHEN,
            updated_by="tests",
            **more,
        )
        db.session.add(row)
        db.session.flush()
        publishing.publish(indexing.clock, site_id)
        return row.id

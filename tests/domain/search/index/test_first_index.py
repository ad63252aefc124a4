"""A new site has its index from the beginning, whichever way it came to be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import select

from app.adapters.null_engine import NullEngine
from app.domain.search.engine import EngineState, IndexName, SearchContext, SearchEngine
from app.domain.search.index import healing
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.models import RebuildRun
from app.domain.sites.models import Site
from app.domain.sites.sites import create_site
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.searching import add_page, add_product, add_site, found

pytestmark = pytest.mark.usefixtures("context")


def create(indexing: SearchContext) -> int:
    with transaction():
        return create_site(indexing.clock, "new.test", "New").id


def test_a_new_site_can_be_searched_at_once(indexing: SearchContext) -> None:
    site_id = create(indexing)
    assert found(indexing, site_id) == set()
    run = db.session.scalars(select(RebuildRun)).one()
    assert (run.state, run.done, run.requested_by) == ("done", 0, "the shop itself")


def test_its_saves_reach_search_without_a_rebuild(indexing: SearchContext) -> None:
    site_id = create(indexing)
    with transaction():
        add_product(site_id, "tent")
        add_page(site_id, "delivery")
    apply_waiting(indexing, site_id)
    assert found(indexing, site_id) == {"tent"}
    assert found(indexing, site_id, IndexName.CONTENT) == {"delivery"}


def test_a_site_that_was_not_saved_has_no_index(indexing: SearchContext) -> None:
    with pytest.raises(ZeroDivisionError), transaction():
        site_id = create_site(indexing.clock, "new.test", "New").id
        raise ZeroDivisionError
    assert indexing.engine.status(site_id, IndexName.PRODUCTS).state is EngineState.UNREACHABLE


class FullDisk:
    """The engine while it can write no new index."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def start_generation(self, *_index: object, by_meaning: bool) -> object:
        raise OSError("No space left on device")


def test_a_site_is_saved_though_its_first_index_cannot_be_made(app: Flask, indexing: SearchContext) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=FullDisk(indexing.engine))
    create(indexing)
    db.session.rollback()
    run = db.session.scalars(select(RebuildRun)).one()
    assert (run.state, db.session.query(Site).count()) == ("failed", 1)


def test_without_an_engine_there_is_none(indexing: SearchContext) -> None:
    with transaction():
        site_id = add_site().id
    healing.build_first_index(replace(indexing, engine=NullEngine()), site_id)
    assert db.session.scalars(select(RebuildRun)).all() == []


def test_an_index_lacks_products_only_while_some_are_on_their_way_into_an_empty_one(indexing: SearchContext) -> None:
    site_id = create(indexing)
    assert not healing.lacks_products(indexing.engine, site_id), "it has no products"
    with transaction():
        add_page(site_id, "delivery")
        add_product(site_id, "hidden").enabled = False
    assert not healing.lacks_products(indexing.engine, site_id), "it has none that shoppers see"
    with transaction():
        add_product(site_id, "tent")
    assert healing.lacks_products(indexing.engine, site_id)
    apply_waiting(indexing, site_id)
    assert not healing.lacks_products(indexing.engine, site_id)
    with transaction():
        add_product(site_id, "mug")
    assert not healing.lacks_products(indexing.engine, site_id), "the others are found"


def test_a_site_whose_first_index_was_never_built_lacks_its_products(indexing: SearchContext) -> None:
    with transaction():
        site_id = add_site().id
    assert not healing.lacks_products(indexing.engine, site_id)
    with transaction():
        add_product(site_id, "tent")
    assert healing.lacks_products(indexing.engine, site_id)


def test_small_indexes_that_lack_products_are_made_before_the_shop_is_ready(
    indexing: SearchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled, with_nothing = create(indexing), add_in_transaction("empty.test")
    with transaction():
        add_product(filled, "tent")
    large = add_in_transaction("large.test")
    with transaction():
        add_product(large, "mug")
        add_product(large, "cup")
    monkeypatch.setattr(healing, "SOON", 1)
    healing.build_missing_indexes(indexing)
    assert found(indexing, filled) == {"tent"}
    assert healing.lacks_products(indexing.engine, large), "that is for the workers"
    assert db.session.scalars(select(RebuildRun).where(RebuildRun.site_id == with_nothing)).all() == []


def add_in_transaction(host: str) -> int:
    with transaction():
        return add_site(host).id

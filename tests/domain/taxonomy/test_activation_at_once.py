"""Activations that meet each other, or products that are being classified."""

from __future__ import annotations

import threading

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.sites.models import Site, StoredEvent
from app.domain.taxonomy.lifecycle import activate_taxonomy
from app.domain.taxonomy.taxonomies import active_id, lock_active_id
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.lifecycle_shop import VALUES, add_classified, make_active, make_taxonomy
from tests.factories import make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.waiting import wait_until_one_waits

pytestmark = [pytest.mark.usefixtures("context"), pytest.mark.concurrent]


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        made = make_site()
        make_taxonomy(made, "camping", name="Camping")
        make_taxonomy(made, "garden-id", name="Garden")
    return made


@pytest.fixture
def switching(site: Site) -> Site:
    with transaction():
        make_active(site, "camping")
        add_classified(site, 3)
        make_product(site, "PLAIN", archived_taxonomy_data={"taxonomyId": "older", "levelId": "x", "attributes": {}})
    return site


def all_products(site: Site) -> list[Product]:
    db.session.rollback()
    return list(db.session.scalars(select(Product).where(Product.site_id == site.id).order_by(Product.sku)))


def test_two_activations_at_once_end_with_one_taxonomy_and_every_switch_told(
    app: Flask, switching: Site, clock: StoppedClock
) -> None:
    with transaction():
        make_taxonomy(switching, "third", name="Third")
    site_id = switching.id
    outcomes: list[object] = []
    start = threading.Barrier(2)

    def switch(taxonomy_id: str, name: str) -> None:
        with app.app_context():
            start.wait()
            with transaction():
                outcomes.append(activate_taxonomy(Author(site_id, "Mia", clock), taxonomy_id, name))

    threads = [threading.Thread(target=switch, args=pair) for pair in (("garden-id", "Garden"), ("third", "Third"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    db.session.rollback()
    assert outcomes == [True, True]
    counts = [
        (row["from"], row["to"]) for row in db.session.scalars(select(StoredEvent.payload).order_by(StoredEvent.id))
    ]
    assert counts[0][0] == "camping"
    assert counts[1][0] == counts[0][1]
    assert active_id(site_id) == counts[1][1]
    assert {product.archived_taxonomy_data["taxonomyId"] for product in all_products(switching)} == {"camping", "older"}


def test_two_first_activations_at_once_are_one_first_and_one_that_needs_the_name(
    app: Flask, site: Site, clock: StoppedClock
) -> None:
    site_id = site.id
    outcomes: list[object] = []
    start = threading.Barrier(2)

    def begin(taxonomy_id: str) -> None:
        with app.app_context():
            start.wait()
            try:
                with transaction():
                    outcomes.append(activate_taxonomy(Author(site_id, "Mia", clock), taxonomy_id, None))
            except Invalid:
                outcomes.append("needs the name")

    threads = [threading.Thread(target=begin, args=(taxonomy_id,)) for taxonomy_id in ("camping", "garden-id")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == ["False", "needs the name"]


def test_a_product_that_is_being_classified_at_that_moment_is_cleared_as_well(
    app: Flask, switching: Site, clock: StoppedClock
) -> None:
    """Its classification is not committed yet when the switch begins, and nobody else may see it."""
    site_id, outcomes = switching.id, []

    def switch() -> None:
        with app.app_context(), transaction():
            outcomes.append(activate_taxonomy(Author(site_id, "Mia", clock), "garden-id", "Garden"))

    other = threading.Thread(target=switch)
    with transaction():
        assert lock_active_id(site_id) == "camping"
        product = db.session.scalars(select(Product).where(Product.sku == "PLAIN")).one()
        other.start()
        wait_until_one_waits()
        product.taxonomy_level_id, product.taxonomy_attributes = "tents", VALUES
    other.join()
    assert outcomes == [True]
    plain = all_products(switching)[-1]
    assert (plain.taxonomy_level_id, plain.archived_taxonomy_data["levelId"]) == (None, "tents")

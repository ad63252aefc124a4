"""Activation: nothing or everything, and only by the name to the letter."""

from __future__ import annotations

import pytest
from sqlalchemy import event, func, select

from app.domain.catalogue import products
from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.author import Author
from app.domain.shared.problems import Forbidden, Invalid, NotFound, StaleRevision
from app.domain.sites.models import AuditEntry, Site, StoredEvent
from app.domain.taxonomy.lifecycle import activate_taxonomy, activation_impact
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.taxonomies import active_id
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.lifecycle_shop import VALUES, add_classified, make_active, make_taxonomy
from tests.factories import draft_of, make_product, make_site
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")

LOOK_ALIKES = (
    "Garden ",
    " Garden",
    "garden",
    "GARDEN",
    "Garden\u200b",
    "Gar\u00adden",
    "Garden\n",
    "Garden\t",
    "Garden\x00",
    "\u0413arden",
    "G\u0430rden",
    "Ｇarden",
    "Garden.",
    "Garde",
    "",
    " ",
    "garden-id",
    None,
    ["Garden"],
    {"confirmName": "Garden"},
    True,
    0,
)


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


def do(clock: StoppedClock, site: Site, taxonomy_id: str = "garden-id", name: object = "Garden") -> bool:
    with transaction():
        return activate_taxonomy(Author(site.id, "Mia", clock), taxonomy_id, name)


def all_products(site: Site) -> list[Product]:
    db.session.rollback()
    return list(db.session.scalars(select(Product).where(Product.site_id == site.id).order_by(Product.sku)))


def count(model: type) -> int:
    return db.session.scalar(select(func.count()).select_from(model)) or 0


def test_the_first_activation_needs_no_name_and_publishes_nothing_but_completeness_is_recomputed(
    site: Site, clock: StoppedClock
) -> None:
    assert activation_impact(site.id, "camping").switches is False
    assert do(clock, site, "camping", None) is False
    assert active_id(site.id) == "camping"
    assert count(StoredEvent) == 0
    assert db.session.scalars(select(TaxonomyTask.kind)).all() == ["RECOMPUTE"]


def test_activating_the_active_taxonomy_changes_nothing(switching: Site, clock: StoppedClock) -> None:
    assert activation_impact(switching.id, "camping").switches is False
    assert do(clock, switching, "camping", None) is False
    assert count(StoredEvent) == count(AuditEntry) == count(TaxonomyTask) == 0
    assert all_products(switching)[0].taxonomy_level_id == "tents"


def test_the_preview_says_from_what_and_how_many_products(switching: Site) -> None:
    found = activation_impact(switching.id, "garden-id")
    assert (found.switches, found.from_id, found.from_name) == (True, "camping", "Camping")
    assert (found.products_cleared, found.slots_overwritten) == (3, 0)


def test_a_switch_archives_and_clears_every_classification(switching: Site, clock: StoppedClock) -> None:
    version = switching.config_version
    assert do(clock, switching) is True
    assert active_id(switching.id) == "garden-id"
    *cleared, plain = all_products(switching)
    for product in cleared:
        assert (product.taxonomy_level_id, product.completeness_score, product.taxonomy_attributes) == (None, None, {})
        assert product.archived_taxonomy_data == {
            "taxonomyId": "camping",
            "levelId": "tents",
            "completenessScore": 50,
            "attributes": VALUES,
            "archivedAt": "2026-11-20T12:00:00Z",
        }
    assert plain.archived_taxonomy_data["taxonomyId"] == "older"
    assert plain.revision == 1
    assert count(ProductAttributeValue) == 0
    assert db.session.execute(select(StoredEvent.name, StoredEvent.payload)).all() == [
        ("ActiveTaxonomyChangedEvent", {"from": "camping", "to": "garden-id"})
    ]
    assert db.session.get_one(Site, switching.id).config_version > version


def test_other_shops_keep_their_classification(switching: Site, clock: StoppedClock) -> None:
    with transaction():
        other = make_site("other.localhost")
        add_classified(other, 2, prefix="O")
    do(clock, switching)
    assert all(product.taxonomy_level_id == "tents" for product in all_products(other))
    assert count(ProductAttributeValue) == 4


def test_coming_back_restores_nothing_and_a_second_switch_overwrites_the_slot(
    switching: Site, clock: StoppedClock
) -> None:
    do(clock, switching)
    with transaction():
        product = db.session.scalars(select(Product).where(Product.sku == "P0")).one()
        product.taxonomy_level_id, product.taxonomy_attributes, product.completeness_score = "beds", {"a": True}, 100
    assert activation_impact(switching.id, "camping").slots_overwritten == 1
    assert do(clock, switching, "camping", "Camping") is True
    first, second, *_ = all_products(switching)
    assert first.taxonomy_level_id is None
    assert first.archived_taxonomy_data["taxonomyId"] == "garden-id"
    assert first.archived_taxonomy_data["attributes"] == {"a": True}
    assert second.taxonomy_level_id is None
    assert second.archived_taxonomy_data["taxonomyId"] == "camping"


@pytest.mark.parametrize("name", LOOK_ALIKES, ids=repr)
def test_only_the_very_name_confirms(switching: Site, clock: StoppedClock, name: object) -> None:
    """T58."""
    with pytest.raises(Invalid) as refused:
        do(clock, switching, name=name)
    assert refused.value.problems[0].pointer == "#/confirmName"
    assert active_id(switching.id) == "camping"
    assert all_products(switching)[0].taxonomy_level_id == "tents"


def test_a_switch_from_a_taxonomy_that_is_gone_needs_the_name_as_well(site: Site, clock: StoppedClock) -> None:
    with transaction():
        make_active(site, "lost")
        add_classified(site, 1)
    assert activation_impact(site.id, "camping").from_name == "lost"
    with pytest.raises(Invalid):
        do(clock, site, "camping", None)
    assert do(clock, site, "camping", "Camping") is True
    assert all_products(site)[0].archived_taxonomy_data["taxonomyId"] == "lost"


def test_a_plan_without_the_engine_activates_nothing(switching: Site, clock: StoppedClock) -> None:
    with transaction():
        db.session.get_one(Site, switching.id).capabilities = []
    with pytest.raises(Forbidden):
        do(clock, switching)
    assert active_id(switching.id) == "camping"


def test_a_taxonomy_of_another_shop_is_not_found(switching: Site, clock: StoppedClock) -> None:
    with transaction():
        make_taxonomy(make_site("other.localhost"), "theirs")
    with pytest.raises(NotFound):
        do(clock, switching, "theirs", "Theirs")
    with pytest.raises(NotFound):
        activation_impact(switching.id, "theirs")


def test_an_editor_that_was_open_meets_a_newer_revision(switching: Site, clock: StoppedClock) -> None:
    product = all_products(switching)[0]
    product_id, revision, draft = product.id, product.revision, draft_of(product)
    do(clock, switching)
    with pytest.raises(StaleRevision), transaction():
        products.save(Author(switching.id, "Mia", clock), product_id, revision, draft, None)


def test_products_are_cleared_by_one_statement_however_many(switching: Site, clock: StoppedClock) -> None:
    statements = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        statements.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    try:
        do(clock, switching)
    finally:
        event.remove(db.engine, "before_cursor_execute", note)
    assert len([statement for statement in statements if statement.startswith("UPDATE products")]) == 1
    assert len(statements) <= 20


class Away(Exception):
    """The database, in the middle of something."""


def test_whichever_statement_fails_nothing_has_happened(switching: Site, clock: StoppedClock) -> None:
    """F31, on each database; tests/faults kills the process."""
    site_id, failed = switching.id, 0
    while fails_at(failed + 1, clock, site_id):
        failed += 1
        assert active_id(site_id) == "camping"
        assert count(StoredEvent) == count(AuditEntry) == 0
        assert count(ProductAttributeValue) == 6
        classified = select(func.count()).where(Product.taxonomy_level_id == "tents", Product.revision == 1)
        assert db.session.scalar(classified) == 3
    assert failed > 8
    assert active_id(site_id) == "garden-id"


def fails_at(number: int, clock: StoppedClock, site_id: int) -> bool:
    """Whether a switch has a statement of that number, which then fails."""
    statements = iter(range(1, 1_000))

    def fail(*_arguments: object) -> None:
        if next(statements) == number:
            raise Away

    event.listen(db.engine, "before_cursor_execute", fail)
    try:
        with transaction():
            activate_taxonomy(Author(site_id, "Mia", clock), "garden-id", "Garden")
    except Away:
        return True
    finally:
        event.remove(db.engine, "before_cursor_execute", fail)
    return False

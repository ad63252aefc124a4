"""Archived classifications go back as far as they fit; what does not fit stays where it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites.models import Site
from app.domain.taxonomy.lifecycle import activate_taxonomy
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.tasks.restore import restore, restore_preview
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.values import restore_from_slot
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.lifecycle_shop import (
    COLOUR,
    HEIGHT,
    VALUES,
    add_classified,
    level,
    make_active,
    make_taxonomy,
)
from tests.factories import make_product, make_site
from tests.fakes.clock import StoppedClock

POLES = {"attributeId": "poles", "name": "Poles", "type": "MULTI_SELECT", "allowedValues": ["Steel", "Carbon"]}
TREE = TaxonomyTree.parse([level("tents", COLOUR, HEIGHT, POLES)])


def slot(level_id: str | None = "tents", **values: Any) -> dict[str, Any]:
    return {"taxonomyId": "old", "levelId": level_id, "completenessScore": 50, "attributes": values}


def test_what_fits_goes_back_and_what_does_not_stays_in_the_slot() -> None:
    found = restore_from_slot(
        TREE, slot(colour="Green", height="tall", fabric="Nylon", poles=["Steel", "Wood", "Carbon"])
    )
    assert found is not None
    assert found.values == {"colour": "Green", "poles": ["Steel", "Carbon"]}
    assert found.left == slot(height="tall", fabric="Nylon", poles=["Wood"])


def test_a_slot_of_which_everything_fits_is_empty_afterwards() -> None:
    found = restore_from_slot(TREE, slot(colour="Green"))
    assert found is not None
    assert found.left is None


@pytest.mark.parametrize("level_id", ["beds", None])
def test_a_level_that_is_gone_leaves_the_slot_alone(level_id: str | None) -> None:
    assert restore_from_slot(TREE, slot(level_id, colour="Green")) is None


@given(
    st.dictionaries(
        st.sampled_from(["colour", "height", "poles", "fabric"]),
        st.one_of(
            st.text("ab ", min_size=1).filter(str.strip),
            st.integers(-5, 5),
            st.booleans(),
            st.lists(st.sampled_from(["Steel", "Wood", "Carbon", "Tin"]), min_size=1, unique=True),
        ),
    )
)
def test_no_archived_value_is_lost(values: dict[str, Any]) -> None:
    found = restore_from_slot(TREE, slot(**values))
    assert found is not None
    for attribute_id, value in values.items():
        kept, left = found.values.get(attribute_id), found.left_values.get(attribute_id)
        if isinstance(value, list) and attribute_id == "poles":
            assert sorted([*(kept or []), *(left or [])]) == sorted(value)
        else:
            assert kept is not None or left == value


@pytest.fixture
def site(context: None, clock: StoppedClock) -> Site:
    """Switched from camping, with 3 tents and 2 beds, to garden, which has no beds and takes no height."""
    with transaction():
        made = make_site()
        make_taxonomy(made, "camping", level("tents", COLOUR, HEIGHT), level("beds"), name="Camping")
        make_taxonomy(made, "garden", level("tents", COLOUR), name="Garden")
        make_active(made, "camping")
        add_classified(made, 3)
        add_classified(made, 2, "beds", prefix="B", taxonomy_attributes={})
        make_product(made, "PLAIN")
    with transaction():
        activate_taxonomy(Author(made.id, "Mia", clock), "garden", "Garden")
    return made


def products_of(site: Site) -> dict[str, Product]:
    db.session.rollback()
    return {product.sku: product for product in db.session.scalars(select(Product).where(Product.site_id == site.id))}


def do(clock: StoppedClock, site: Site) -> TaxonomyTask:
    with transaction():
        task_id = restore(Author(site.id, "Mia", clock), "garden").id
    work_off(WorkContext(clock, transaction), site.id)
    db.session.rollback()
    return db.session.get_one(TaxonomyTask, task_id)


def test_the_preview_tells_what_would_happen_and_changes_nothing(site: Site, clock: StoppedClock) -> None:
    found = restore_preview(clock, site.id, "garden")
    assert (found.restorable, found.with_data_loss, found.unrestorable, found.classified) == (3, 3, 2, 0)
    assert [(source.name, source.products) for source in found.sources] == [("Camping", 5)]
    assert [(gone.id, gone.name, gone.products) for gone in found.levels_gone] == [("beds", "Beds", 2)]
    assert [(left.id, left.name, left.products) for left in found.values_left] == [("height", "Height", 3)]
    assert products_of(site)["P0"].taxonomy_level_id is None


def test_products_get_their_level_and_the_values_that_fit(site: Site, clock: StoppedClock) -> None:
    task = do(clock, site)
    assert (task.state, task.report["changed"], task.report["skipped"]) == ("done", 3, 2)
    assert task.report["dropped"] == {"height": 3}
    found = products_of(site)
    assert (found["P0"].taxonomy_level_id, found["P0"].taxonomy_attributes) == ("tents", {"colour": VALUES["colour"]})
    assert found["P0"].completeness_score == 100
    assert found["P0"].archived_taxonomy_data["attributes"] == {"height": 12.5}
    assert found["B0"].taxonomy_level_id is None
    assert found["B0"].archived_taxonomy_data["levelId"] == "beds"
    counted = db.session.scalars(select(ProductAttributeValue.attribute_id)).all()
    assert counted == ["colour"] * 3


def test_doing_it_twice_does_nothing_more(site: Site, clock: StoppedClock) -> None:
    do(clock, site)
    revision = products_of(site)["P0"].revision
    assert do(clock, site).report.get("changed", 0) == 0
    assert products_of(site)["P0"].revision == revision
    after = restore_preview(clock, site.id, "garden")
    assert (after.restorable, after.unrestorable, after.classified) == (0, 2, 3)


def test_a_product_that_was_classified_since_keeps_that_and_its_slot(site: Site, clock: StoppedClock) -> None:
    with transaction():
        product = db.session.scalars(select(Product).where(Product.sku == "P0")).one()
        product.taxonomy_level_id, product.taxonomy_attributes = "tents", {"colour": "Red"}
    assert restore_preview(clock, site.id, "garden").classified == 1
    do(clock, site)
    found = products_of(site)["P0"]
    assert found.taxonomy_attributes == {"colour": "Red"}
    assert found.archived_taxonomy_data["attributes"] == VALUES


def test_a_switch_before_the_task_begins_ends_it_and_keeps_the_archive(site: Site, clock: StoppedClock) -> None:
    with transaction():
        task_id = restore(Author(site.id, "Mia", clock), "garden").id
    with transaction():
        activate_taxonomy(Author(site.id, "Mia", clock), "camping", "Camping")
    work_off(WorkContext(clock, transaction), site.id)
    task = db.session.get_one(TaxonomyTask, task_id)
    assert task.state == "failed"
    assert "Another taxonomy" in (task.error or "")
    assert products_of(site)["P0"].archived_taxonomy_data["attributes"] == VALUES


def test_asking_twice_is_one_task(site: Site, clock: StoppedClock) -> None:
    with transaction():
        first, second = (restore(Author(site.id, "Mia", clock), "garden").id for _ in range(2))
    assert first == second


def test_only_the_active_taxonomy_takes_products_back(site: Site, clock: StoppedClock) -> None:
    with pytest.raises(Conflict):
        restore_preview(clock, site.id, "camping")
    with pytest.raises(Conflict), transaction():
        restore(Author(site.id, "Mia", clock), "camping")
    with pytest.raises(NotFound):
        restore_preview(clock, site.id, "nothing")


def test_a_task_for_another_taxonomy_is_not_joined(site: Site, clock: StoppedClock) -> None:
    """That one ends as soon as it begins, since its taxonomy is not the active one any more."""
    with transaction():
        restore(Author(site.id, "Mia", clock), "garden")
    with transaction():
        activate_taxonomy(Author(site.id, "Mia", clock), "camping", "Camping")
    with transaction():
        second = restore(Author(site.id, "Mia", clock), "camping")
    assert second.parameters == {"taxonomyId": "camping"}
    work_off(WorkContext(clock, transaction), site.id)
    db.session.rollback()
    assert second.state == "done"
    assert products_of(site)["P0"].taxonomy_level_id == "tents"

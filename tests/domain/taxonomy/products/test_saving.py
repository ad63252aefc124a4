"""Saving a product together with its classification."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, StaleRevision
from app.domain.sites.models import AuditEntry, Site
from app.domain.taxonomy.products.classification import (
    ANOTHER_TAXONOMY,
    LEVEL_IS_GONE,
    NO_LEVEL,
    TAXONOMY_IS_GONE,
    PanelForm,
    SavedProduct,
    create_product,
    fill_gaps,
    save_product,
)
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.classified_shop import add_taxonomy, make_classified, make_shop
from tests.factories import WHEN, draft_of
from tests.fakes.clock import StoppedClock

CLOCK = StoppedClock(WHEN)
HELD = {"sleeps": 2, "colour": ["Moss"]}


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        return make_shop()


@pytest.fixture
def tent(site: Site) -> Product:
    with transaction():
        return make_classified(site, values=HELD, name="Ridge tent")


def save(product: Product, panel: PanelForm | None, **more: object) -> SavedProduct:
    draft = draft_of(product)
    with transaction():
        return save_product(Author(product.site_id, "Mia", CLOCK), product.id, product.revision, draft, None, panel)


def panel(level_id: str, taxonomy_id: str = "outdoor", **texts: object) -> PanelForm:
    return PanelForm(taxonomy_id, level_id, {n: (t,) if isinstance(t, str) else t for n, t in texts.items()})


def test_level_and_values_are_saved_coerced_and_scored(tent: Product):
    done = save(tent, panel("tents", sleeps="3", free="no", colour=("Clay", "Moss")))
    assert tent.taxonomy_attributes == {"sleeps": 3, "free": False, "colour": ["Clay", "Moss"]}
    assert (tent.completeness_score, done.dropped) == (100, ())


def test_one_revision_and_one_line_in_the_log_tell_what_it_was_before(tent: Product):
    save(tent, panel("stoves", fuel="Gas"))
    assert tent.revision == 2
    entry = db.session.scalars(select(AuditEntry)).one()
    assert entry.before == {"taxonomy_level_id": "tents", "taxonomy_attributes": HELD}
    assert entry.after == {"taxonomy_level_id": "stoves", "taxonomy_attributes": {"fuel": "Gas"}}


def test_the_log_tells_only_the_values_that_changed(tent: Product):
    save(tent, panel("tents", sleeps="2", colour=("Clay",), free="yes"))
    entry = db.session.scalars(select(AuditEntry)).one()
    assert entry.before == {"taxonomy_attributes": {"colour": ["Moss"]}}
    assert entry.after == {"taxonomy_attributes": {"colour": ["Clay"], "free": True}}


def test_the_same_again_changes_nothing(tent: Product):
    done = save(tent, panel("tents", sleeps="2", colour=("Moss",)))
    assert (done.saved.changed, tent.revision) == ((), 1)


def test_without_the_panel_the_classification_stays(tent: Product):
    save(tent, None)
    assert (tent.taxonomy_level_id, tent.taxonomy_attributes) == ("tents", HELD)


def test_bad_values_are_dropped_one_by_one_while_stored_ones_stay_and_the_rest_is_saved(tent: Product):
    done = save(tent, panel("tents", sleeps="many", weight="70", colour=("Pink", "Clay"), fuel="Gas", season=" "))
    assert tent.taxonomy_attributes == {"sleeps": 2, "colour": ["Clay"]}
    assert [(one.label, one.text, one.has_input, one.stays) for one in done.dropped] == [
        ("Sleeps", "many", True, "2"),
        ("Weight", "70", True, ""),
        ("Colour", "Pink", True, ""),
        ("Fuel", "Gas", False, ""),
    ]
    assert all(one.reason for one in done.dropped)


def test_taking_the_level_away_reports_every_value_that_goes_with_it(tent: Product):
    done = save(tent, panel("", sleeps="2", colour=("Moss",)))
    assert (tent.taxonomy_level_id, tent.taxonomy_attributes, tent.completeness_score) == (None, {}, None)
    assert [(one.label, one.reason) for one in done.dropped] == [("Sleeps", NO_LEVEL), ("Colour", NO_LEVEL)]
    assert db.session.scalars(select(ProductAttributeValue)).all() == []


def test_an_unknown_level_is_refused_and_nothing_is_saved(tent: Product):
    with pytest.raises(Invalid) as refused:
        save(tent, panel("kayaks"))
    assert refused.value.problems[0].pointer == "#/levelId"
    assert tent.revision == 1


def test_a_product_whose_level_is_gone_keeps_it_until_another_is_chosen(site: Site, tent: Product):
    with transaction():
        tent.taxonomy_level_id = "kayaks"
    assert save(tent, panel("kayaks", sleeps="2")).not_applied == LEVEL_IS_GONE
    assert (tent.taxonomy_level_id, tent.taxonomy_attributes) == ("kayaks", HELD)
    save(tent, panel("tents", sleeps="4"))
    assert (tent.taxonomy_level_id, tent.taxonomy_attributes) == ("tents", {"sleeps": 4})


def test_a_form_of_another_taxonomy_classifies_nothing_and_says_so(site: Site, tent: Product):
    with transaction():
        add_taxonomy(site, "fashion", levels=[])
    assert save(tent, panel("stoves", fuel="Gas")).not_applied == ANOTHER_TAXONOMY
    assert tent.taxonomy_attributes == HELD


def test_when_the_plan_has_no_taxonomies_any_more_nothing_is_cleared(site: Site, tent: Product):
    with transaction():
        site.capabilities = []
    assert save(tent, panel("")).not_applied == TAXONOMY_IS_GONE
    assert tent.taxonomy_attributes == HELD


def test_a_new_product_is_classified_at_once(site: Site, tent: Product):
    draft = draft_of(tent)
    fields = {name: getattr(draft, name) for name in draft.__slots__} | {"sku": "N-1", "seo_name": "n-1"}
    with transaction():
        made = create_product(Author(site.id, "Mia", CLOCK), type(draft)(**fields), [], panel("stoves", fuel="wood"))
    assert made.saved.product.taxonomy_attributes == {"fuel": "Wood"}
    assert made.saved.product.completeness_score == 100


def test_filling_gaps_leaves_all_other_values_alone(site: Site, tent: Product):
    with transaction():
        tent.taxonomy_attributes = HELD | {"season": "Monsoon"}
        done, dropped = fill_gaps(Author(site.id, "Mia", CLOCK), tent.id, 1, {"free": ("true",), "weight": ("x",)})
    assert tent.taxonomy_attributes == HELD | {"season": "Monsoon", "free": True}
    assert (done.score, tent.completeness_score, tent.revision) == (100, 100, 2)
    assert [one.attribute_id for one in dropped] == ["weight"]


def test_gaps_are_filled_only_in_the_product_that_was_seen(site: Site, tent: Product):
    with pytest.raises(StaleRevision), transaction():
        fill_gaps(Author(site.id, "Mia", CLOCK), tent.id, 7, {"free": ("true",)})

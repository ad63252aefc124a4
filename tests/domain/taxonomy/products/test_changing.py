"""Another level and other values for one product, sent as typed values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, StaleRevision
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.products.classification import (
    ClassificationChange,
    classification,
    preview_classification,
    set_classification,
)
from app.domain.taxonomy.products.panel import raw_values, stored_texts
from app.domain.taxonomy.tree import AttributeType
from app.transaction import transaction
from tests.domain.taxonomy.classified_shop import TREE, make_classified, make_shop
from tests.fakes.clock import StoppedClock

CLOCK = StoppedClock()
HELD = {"sleeps": 2, "colour": ["Moss"]}


@pytest.fixture
def tent(context: None) -> Product:
    with transaction():
        return make_classified(make_shop(), "tents", HELD)


def change(product: Product, level_id: str | None = None, revision: int | None = None, **values: Any) -> Any:
    with transaction():
        author = Author(product.site_id, "Mia", CLOCK)
        return set_classification(author, product.id, ClassificationChange(level_id, values), revision)


def test_what_is_left_out_stays_and_none_takes_away(tent: Product) -> None:
    change(tent, free=True, colour=None)
    assert (tent.taxonomy_attributes, tent.completeness_score) == ({"sleeps": 2, "free": True}, 100)


def test_another_level_keeps_what_holds_there_and_reports_the_rest(tent: Product) -> None:
    found = change(tent, "stoves", fuel="Gas")
    assert found.after.values == {"fuel": "Gas", "colour": ["Moss"]}
    assert [(one.attribute_id, one.code) for one in found.after.dropped] == [("sleeps", "not_applicable")]
    assert tent.taxonomy_level_id == "stoves"


def test_a_change_that_changes_nothing_leaves_the_revision(tent: Product) -> None:
    assert not change(tent, "tents", sleeps=2).is_changed
    assert tent.revision == 1
    assert change(tent, sleeps=3).is_changed
    assert tent.revision == 2


def test_a_preview_says_what_the_change_comes_to_and_changes_nothing(tent: Product) -> None:
    wanted = ClassificationChange("stoves", {"fuel": "Gas"})
    seen = preview_classification(CLOCK, tent.site_id, tent.id, wanted)
    assert (tent.taxonomy_level_id, tent.taxonomy_attributes) == ("tents", HELD)
    assert change(tent, "stoves", fuel="Gas").after == seen.after


def test_a_level_that_is_gone_must_be_named_anew(tent: Product) -> None:
    with transaction():
        tent.taxonomy_level_id = "kayaks"
    with pytest.raises(Invalid, match="no longer in the taxonomy"):
        change(tent, free=True)
    assert change(tent, "tents", free=True).after.values == HELD | {"free": True}


def test_a_stale_revision_is_refused(tent: Product) -> None:
    change(tent, sleeps=3, revision=1)
    with pytest.raises(StaleRevision):
        change(tent, sleeps=4, revision=1)


def test_without_an_active_taxonomy_there_is_nothing_to_change(tent: Product) -> None:
    with transaction():
        change_settings(tent.site_id, {"taxonomy-active-id": None})
    with pytest.raises(Conflict, match="No taxonomy is active"):
        change(tent, "")


TEXTS = st.sampled_from(["2", "many", "Moss", "Gas", "true", " ", "60"])
LISTS = st.lists(st.sampled_from(["Moss", "Clay"]), min_size=1)  # A form has them for choices of several alone.
VALUES = {
    name: TEXTS | LISTS if all(one.type is AttributeType.MULTI_SELECT for one in found) else TEXTS
    for name, found in TREE.attributes_by_id().items()
}


@given(st.sampled_from(sorted(TREE.levels)), st.fixed_dictionaries({}, optional=VALUES))
def test_typed_values_and_those_of_a_form_come_to_the_same(level_id: str, values: dict[str, Any]) -> None:
    """The form sends texts, an agent values; both are checked by the same rules."""
    form = raw_values(TREE.applicable_attributes(level_id), stored_texts(values))
    assert classification(TREE, level_id, form).values == classification(TREE, level_id, values).values

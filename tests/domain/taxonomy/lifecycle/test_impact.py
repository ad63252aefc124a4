"""What a changed tree would leave behind on products."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import pytest
from sqlalchemy import event

from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.impact import Impact, impact
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.products.queries import LevelCount, level_counts
from app.domain.taxonomy.products.worklist import work_summary
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.taxonomies import active_taxonomy, active_tree, taxonomy_of
from app.domain.taxonomy.validation.structure import check_structure
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.trees import choice, level, number, text
from tests.factories import make_product, make_site, make_taxonomy

COLOUR = choice("colour", "Moss", "Clay", "Slate", kind="MULTI_SELECT")
SIZE = choice("size", "S", "M", "L")


def outdoor(*children: Any, attributes: list[Any] | None = None) -> list[Any]:
    """One root that defines colour unless told otherwise."""
    return [level("outdoor", *children, attributes=[COLOUR] if attributes is None else attributes)]


TENTS = level("tents", level("domes"), attributes=[text("fabric")])
BOOTS = level("boots", attributes=[SIZE])
TREE = outdoor(TENTS, BOOTS)


@pytest.fixture
def site(context: None) -> Iterator[Site]:
    with transaction():
        site = make_site()
    yield site


@pytest.fixture
def shop(site: Site) -> Site:
    """Three products at domes, two at boots, one at tents."""
    with transaction():
        make_taxonomy(site, TREE, active=True, id="kinds")
        for colours in (["Moss", "Clay"], ["Moss"], []):
            classified(site, "domes", colour=colours, fabric="Nylon")
        classified(site, "boots", colour=["Clay"], size="M")
        classified(site, "boots", size="L")
        classified(site, "tents", colour=["Moss"])
    return site


def classified(site: Site, level_id: str, **values: Any) -> None:
    classify(make_product(site), active_tree(site.id), level_id, values)


def impact_of(site: Site, levels: list[Any], *renames: ValueRename) -> Impact:
    checked = check_structure(levels)
    assert not checked.problems
    return impact(site.id, taxonomy_of(site.id, "kinds"), checked.tree, renames)


def concerns_products(found: Impact) -> bool:
    lists = (getattr(found, field.name) for field in fields(found) if field.name != "values_truncated")
    return any(entry.products for entries in lists for entry in entries)


def rows_of(entries: Any, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(entry, name) for name in (*names, "products")) for entry in entries]


@contextmanager
def statements() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    yield seen
    event.remove(db.engine, "before_cursor_execute", note)


def test_the_stored_tree_itself_leaves_nothing_behind(shop: Site):
    found = impact_of(shop, TREE)
    assert found.is_empty and not concerns_products(found)
    assert found.as_json() == {
        "levelsRemoved": [],
        "levelsMoved": [],
        "attributesRemoved": [],
        "valuesRemoved": [],
        "valuesTruncated": False,
        "valuesRenamed": [],
        "attributesLost": [],
        "valuesUnfit": [],
        "attributesRequired": [],
    }


def test_removed_levels_count_the_products_at_each(shop: Site):
    found = impact_of(shop, outdoor(BOOTS))
    assert rows_of(found.levels_removed, "level_id", "name") == [("tents", "Tents", 1), ("domes", "Domes", 3)]
    assert found.attributes_removed == (), "those of removed levels go with them"
    assert found.as_json()["levelsRemoved"][0] == {"levelId": "tents", "name": "Tents", "products": 1}


def test_moved_levels_count_the_products_at_and_below_them(shop: Site):
    found = impact_of(shop, [*outdoor(BOOTS), TENTS])
    assert rows_of(found.levels_moved, "level_id") == [("tents", 4)]


def test_renamed_levels_count_the_products_that_show_the_new_name(shop: Site):
    found = impact_of(
        shop, outdoor(level("tents", level("domes"), attributes=[text("fabric")], name="Shelters"), BOOTS)
    )
    assert rows_of(found.levels_renamed, "level_id", "name", "renamed") == [("tents", "Tents", "Shelters", 4)]


def test_another_order_is_no_move(shop: Site):
    assert impact_of(shop, outdoor(BOOTS, TENTS)).is_empty


def test_a_moved_level_loses_what_it_inherited(shop: Site):
    found = impact_of(shop, [*outdoor(BOOTS), TENTS])
    assert rows_of(found.attributes_lost, "level_id", "attribute_id", "name") == [("tents", "colour", "Colour", 3)]
    assert found.attributes_removed == ()


def test_what_hangs_below_a_removed_level_loses_what_that_defined(shop: Site):
    found = impact_of(shop, outdoor(level("domes"), BOOTS))
    assert rows_of(found.levels_removed, "level_id") == [("tents", 1)]
    assert rows_of(found.levels_moved, "level_id") == [("domes", 3)]
    assert rows_of(found.attributes_lost, "level_id", "attribute_id") == [("domes", "fabric", 3)]


def test_a_level_that_moves_below_another_definition_loses_nothing(shop: Site):
    found = impact_of(shop, [*outdoor(BOOTS), level("garden", TENTS, attributes=[COLOUR])])
    assert (found.attributes_lost, found.values_removed) == ((), ())


def test_a_removed_attribute_counts_the_products_that_hold_it(shop: Site):
    found = impact_of(shop, outdoor(TENTS, BOOTS, attributes=[]))
    assert rows_of(found.attributes_removed, "level_id", "attribute_id", "name") == [("outdoor", "colour", "Colour", 4)]
    assert found.values_removed == (), "its values are not told one by one"
    expected = {"levelId": "outdoor", "attributeId": "colour", "name": "Colour", "products": 4}
    assert found.as_json()["attributesRemoved"] == [expected]


def test_a_product_with_two_of_its_values_counts_once(site: Site):
    with transaction():
        make_taxonomy(site, TREE, active=True, id="kinds")
        classified(site, "outdoor", colour=["Moss", "Clay", "Slate"])
    assert rows_of(impact_of(site, [level("outdoor", TENTS, BOOTS)]).attributes_removed, "attribute_id") == [
        ("colour", 1)
    ]


def test_an_attribute_that_nobody_holds_is_listed_with_none(shop: Site):
    without = level("tents", level("domes"))
    with transaction():
        shop_levels = outdoor(level("tents", level("domes"), attributes=[text("fabric"), text("poles")]), BOOTS)
        taxonomy_of(shop.id, "kinds").root_levels = check_structure(shop_levels).levels
    found = impact_of(shop, outdoor(without, BOOTS))
    assert rows_of(found.attributes_removed, "attribute_id") == [("fabric", 3), ("poles", 0)]


def test_an_attribute_that_another_level_still_defines_is_lost_to_nobody(shop: Site):
    overriding = level("tents", level("domes"), attributes=[text("fabric"), COLOUR])
    with transaction():
        taxonomy_of(shop.id, "kinds").root_levels = check_structure(outdoor(overriding, BOOTS)).levels
    assert rows_of(impact_of(shop, TREE).attributes_removed, "level_id", "attribute_id") == [("tents", "colour", 0)]
    above_gone = impact_of(shop, outdoor(overriding, BOOTS, attributes=[]))
    assert rows_of(above_gone.attributes_removed, "level_id") == [("outdoor", 1)], "boots; tents have their own"


def test_removed_values_count_the_products_that_hold_them(shop: Site):
    fewer = choice("colour", "Slate", kind="MULTI_SELECT")
    found = impact_of(shop, outdoor(TENTS, BOOTS, attributes=[fewer]))
    assert rows_of(found.values_removed, "level_id", "attribute_id", "name", "value") == [
        ("outdoor", "colour", "Colour", "Moss", 3),
        ("outdoor", "colour", "Colour", "Clay", 2),
    ]
    assert found.as_json()["valuesRemoved"][0] == {"attributeId": "colour", "value": "Moss", "products": 3}


def test_values_that_no_product_holds_are_not_told(shop: Site):
    assert impact_of(shop, outdoor(TENTS, level("boots", attributes=[choice("size", "M", "L")]))).values_removed == ()


def test_a_value_in_another_spelling_stays(shop: Site):
    spelled = choice("colour", "MOSS", "Clay", "Slate", kind="MULTI_SELECT")
    assert impact_of(shop, outdoor(TENTS, BOOTS, attributes=[spelled])).values_removed == ()


def test_values_count_for_the_nearest_definition_only(shop: Site):
    own = choice("colour", "Moss", "Clay", kind="MULTI_SELECT")
    with transaction():
        levels = outdoor(level("tents", level("domes"), attributes=[own]), BOOTS)
        taxonomy_of(shop.id, "kinds").root_levels = check_structure(levels).levels
    fewer = choice("colour", "Moss", "Slate", kind="MULTI_SELECT")
    above = impact_of(shop, outdoor(level("tents", level("domes"), attributes=[own]), BOOTS, attributes=[fewer]))
    assert rows_of(above.values_removed, "level_id", "value") == [("outdoor", "Clay", 1)], "boots alone"
    below = impact_of(shop, outdoor(level("tents", level("domes"), attributes=[fewer]), BOOTS))
    assert rows_of(below.values_removed, "level_id", "value") == [("tents", "Clay", 1)]


def test_what_the_definition_that_is_left_does_not_take_is_told(shop: Site):
    own = choice("colour", "Moss", "Clay", "Rust", kind="MULTI_SELECT")
    with transaction():
        levels = outdoor(level("tents", level("domes"), attributes=[own]), BOOTS)
        taxonomy_of(shop.id, "kinds").root_levels = check_structure(levels).levels
        classified(shop, "domes", colour=["Rust"])
    found = impact_of(shop, outdoor(level("tents", level("domes")), BOOTS))
    assert rows_of(found.attributes_removed, "level_id", "attribute_id") == [("tents", "colour", 0)]
    assert rows_of(found.values_removed, "level_id", "value") == [("tents", "Rust", 1)]


@pytest.mark.parametrize(("now", "lost"), [(text("size"), []), (number("size"), ["M", "L"])])
def test_values_of_another_type_are_lost_where_it_does_not_take_them(shop: Site, now: Any, lost: list[str]):
    found = impact_of(shop, outdoor(TENTS, level("boots", attributes=[now])))
    assert [value.value for value in found.values_removed] == lost


@pytest.mark.parametrize(
    ("now", "products"),
    [
        (number("fabric"), 4),
        (number("fabric", validation={"maxValue": 3}), 5),
        (text("fabric", type="BOOLEAN"), 5),
        (choice("fabric", "nylon", "4"), 1),
        (text("fabric", validation={"maxLength": 4}), 3),
        (text("fabric", validation={"pattern": "[A-Z].*"}), 1),
        (text("fabric", name="Cloth"), 0),
    ],
)
def test_a_value_that_the_new_type_cannot_be_is_told(shop: Site, now: Any, products: int):
    """Three tents are of Nylon, one is of “4” and one of “Wool”; boots have none."""
    with transaction():
        classified(shop, "tents", fabric="4")
        classified(shop, "domes", fabric="Wool")
    found = impact_of(shop, outdoor(level("tents", level("domes"), attributes=[now]), BOOTS))
    expected = [("tents", "fabric", products)] if products else []
    assert rows_of(found.values_invalid, "level_id", "attribute_id") == expected
    assert (found.is_empty, found.values_removed) == (not products, ())


def test_a_number_fits_where_a_text_is_asked_for_and_yes_or_no_does_not(site: Site):
    with transaction():
        tree = [level("tents", attributes=[number("sleeps"), text("dry", type="BOOLEAN")])]
        make_taxonomy(site, tree, active=True, id="kinds")
        classified(site, "tents", sleeps=2.5, dry=True)
    found = impact_of(site, [level("tents", attributes=[text("sleeps"), text("dry")])])
    assert rows_of(found.values_invalid, "attribute_id") == [("dry", 1)]


def test_products_with_several_values_are_told_where_one_is_taken(shop: Site):
    found = impact_of(shop, outdoor(TENTS, BOOTS, attributes=[COLOUR | {"type": "SINGLE_SELECT"}]))
    assert rows_of(found.values_invalid, "level_id", "attribute_id") == [("outdoor", "colour", 1)]
    assert found.values_removed == ()


def test_products_without_a_value_of_what_becomes_mandatory_are_told(shop: Site):
    must = {"validation": {"mandatory": True}}
    boots = level("boots", attributes=[SIZE, text("sole", **must)])
    found = impact_of(shop, outdoor(TENTS, boots, attributes=[COLOUR | must]))
    expected = [("outdoor", "colour", 2), ("boots", "sole", 2)]
    assert sorted(rows_of(found.attributes_required, "level_id", "attribute_id"), reverse=True) == expected
    assert found.values_invalid == ()


def test_renamed_values_are_counted_but_not_lost(shop: Site):
    renamed = choice("colour", "Fern", "Clay", "Slate", kind="MULTI_SELECT")
    levels = outdoor(TENTS, BOOTS, attributes=[renamed])
    found = impact_of(shop, levels, ValueRename("outdoor", "colour", "Moss", "Fern"))
    assert found.values_removed == ()
    assert rows_of(found.values_renamed, "value", "renamed") == [("Moss", "Fern", 3)]
    expected = {"levelId": "outdoor", "attributeId": "colour", "value": "Moss", "renamed": "Fern", "products": 3}
    assert found.as_json()["valuesRenamed"] == [expected]


def test_a_rename_concerns_the_products_of_its_own_definition(shop: Site):
    own = choice("colour", "Fern", "Clay", kind="MULTI_SELECT")
    levels = outdoor(level("tents", level("domes", attributes=[own]), attributes=[text("fabric")]), BOOTS)
    found = impact_of(shop, levels, ValueRename("domes", "colour", "Moss", "Fern"))
    assert rows_of(found.values_renamed, "level_id", "value") == [("domes", "Moss", 2)]
    assert found.values_removed == ()


def test_at_most_two_hundred_removed_values_are_counted(site: Site):
    values = [f"Shade {place}" for place in range(250)]
    with transaction():
        levels = [level("paint", attributes=[choice("shade", *values, kind="MULTI_SELECT")])]
        make_taxonomy(site, levels, active=True, id="kinds")
        classified(site, "paint", shade=values[40:241])
    fewer = impact_of(site, [level("paint", attributes=[choice("shade", "Other")])])
    assert (len(fewer.values_removed), fewer.values_truncated) == (200, True)
    assert fewer.values_removed[0].value == "Shade 40", "what nobody holds does not count towards them"
    one_less = impact_of(site, [level("paint", attributes=[choice("shade", "Shade 240")])])
    assert (len(one_less.values_removed), one_less.values_truncated) == (200, False)


def test_a_taxonomy_that_is_not_active_lists_removals_without_products(shop: Site):
    with transaction():
        change_settings(shop.id, {"taxonomy-active-id": "another"})
    found = impact_of(shop, [level("outdoor", TENTS)])
    assert rows_of(found.levels_removed, "level_id") == [("boots", 0)]
    assert rows_of(found.attributes_removed, "attribute_id") == [("colour", 0)]
    assert found.values_removed == ()
    assert not found.is_empty and not concerns_products(found)


def test_products_of_another_site_do_not_count(shop: Site):
    with transaction():
        other = make_site("other.localhost")
        make_taxonomy(other, TREE, active=True, id="kinds")
        classified(other, "boots", colour=["Clay"], size="M")
    assert rows_of(impact_of(shop, outdoor(TENTS)).levels_removed, "level_id") == [("boots", 2)]


def test_a_preview_costs_five_statements_however_much_changes(shop: Site):
    taxonomy = taxonomy_of(shop.id, "kinds")
    fewer = choice("colour", "Slate", kind="MULTI_SELECT")
    levels = check_structure([*outdoor(BOOTS, attributes=[fewer]), level("tents", level("domes"))]).tree
    with statements() as seen:
        assert concerns_products(impact(shop.id, taxonomy, levels))
    assert len(seen) <= 5


# Counts


def orphaned(shop: Site) -> int:
    """Products whose level the active taxonomy does not have."""
    return work_summary(shop.id, active_tree(shop.id)).gone


def test_levels_count_their_products_and_those_below(shop: Site):
    assert level_counts(shop.id, taxonomy_of(shop.id, "kinds")) == {
        "outdoor": LevelCount(0, 6),
        "tents": LevelCount(1, 4),
        "domes": LevelCount(3, 3),
        "boots": LevelCount(2, 2),
    }


def test_only_the_active_taxonomy_has_counts(shop: Site):
    with transaction():
        other = make_taxonomy(shop, TREE, id="other")
    assert level_counts(shop.id, other) == {}


def test_products_whose_level_is_gone_are_orphaned(shop: Site):
    assert orphaned(shop) == 0
    with transaction():
        taxonomy_of(shop.id, "kinds").root_levels = check_structure(outdoor(TENTS)).levels
    assert orphaned(shop) == 2
    assert level_counts(shop.id, taxonomy_of(shop.id, "kinds"))["outdoor"] == LevelCount(0, 4)
    with transaction():
        taxonomy_of(shop.id, "kinds").root_levels = []
    assert orphaned(shop) == 6
    with transaction():
        change_settings(shop.id, {"taxonomy-active-id": "gone"})
    assert active_taxonomy(shop.id) is None and orphaned(shop) == 6

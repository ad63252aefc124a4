"""Another level, or the value of one attribute, for many products."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from sqlalchemy import select

from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.models import Product
from app.domain.shared.problems import Invalid
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.tasks import Kind
from app.domain.taxonomy.tasks.assignments import chosen_products
from app.domain.taxonomy.tasks.batch import LostValue, count_loss_entries, lost_values
from app.domain.taxonomy.tasks.summary import summary_of
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import LEVELS, Worker, add, change_levels, counted, product, shop, task
from tests.factories import make_product, make_site

AddTask = Callable[..., str]


def level(level_id: str, **more: Any) -> dict[str, Any]:
    return {"taxonomyId": "kit", "levelId": level_id} | more


def value(way: str, given: Any, products: list[int]) -> dict[str, Any]:
    return {"taxonomyId": "kit", "attributeId": "colour", "value": given, "way": way, "products": products}


def test_values_that_hold_at_the_new_level_stay_and_the_others_are_reported(
    site_id: int, add_task: AddTask, work: Worker
) -> None:
    ids = [
        add(site_id, "T-1", "tents", sleeps=2, colour=["Moss"]),
        add(site_id, "T-2", "tents", sleeps=3, colour=["Clay", "Sky", "Moss"]),
        add(site_id, "N-1"),
        add(site_id, "B-1", "boots", size=43),
    ]
    task_id = add_task(Kind.ASSIGN_LEVEL, **level("boots", products=ids))
    work()
    assert product("T-1").taxonomy_attributes == {"colour": "Moss"}
    assert (product("T-1").taxonomy_level_id, product("T-1").completeness_score) == ("boots", 0)
    assert counted("T-1") == {("colour", "Moss")}
    assert product("T-2").taxonomy_attributes == {}
    report = task(task_id).report
    assert (report["changed"], report["unchanged"]) == (3, 1)
    assert (report["dropped"], report["names"]) == (
        {"sleeps": 2, "colour": 1},
        {"sleeps": "Sleeps", "colour": "Colour"},
    )
    assert report["lost"] == [
        {"productId": ids[0], "sku": "T-1", "values": {"sleeps": 2}},
        {"productId": ids[1], "sku": "T-2", "values": {"sleeps": 3, "colour": ["Clay", "Sky", "Moss"]}},
    ]


def name_of(product_id: int) -> str:
    return db.session.get_one(Product, product_id).name


def lost_of(site_id: int, task_id: str) -> list[LostValue]:
    return [one for batch in lost_values(site_id, task_id) for one in batch]


def test_what_was_lost_is_named_as_it_was_then(site_id: int, add_task: AddTask, work: Worker) -> None:
    product_id = add(site_id, "T-1", "tents", sleeps=2)
    before = name_of(product_id)
    task_id = add_task(Kind.ASSIGN_LEVEL, **level("boots", products=[product_id]))
    work()
    with transaction():
        db.session.get_one(Product, product_id).name = "Renamed"
        db.session.delete(task(task_id))
    assert lost_of(site_id, task_id) == [LostValue(product_id, before, "T-1", "sleeps", "Sleeps", 2)]


def test_what_an_earlier_version_kept_without_names_gets_those_that_are_known(
    site_id: int, add_task: AddTask, work: Worker
) -> None:
    ids = [add(site_id, f"T-{number}", "tents", sleeps=2) for number in range(2)]
    task_id = add_task(Kind.ASSIGN_LEVEL, **level("boots", products=ids))
    work()
    with transaction():
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == activity.LOST_VALUES)).one()
        old = [{name: one[name] for name in ("productId", "sku", "values")} for one in entry.before["lost"]]
        entry.before = {"lost": old}
        db.session.get_one(Product, ids[0]).name = "Renamed"
        db.session.delete(db.session.get_one(Product, ids[1]))
    named = [(one.product_name, one.attribute_name) for one in lost_of(site_id, task_id)]
    assert named == [("Renamed", "Sleeps"), ("", "Sleeps")]
    with transaction():
        db.session.delete(task(task_id))
    assert [one.attribute_name for one in lost_of(site_id, task_id)] == ["", ""]


def test_what_was_lost_stands_in_the_activity_log(site_id: int, add_task: AddTask, work: Worker) -> None:
    product_id = add(site_id, "T-1", "tents", sleeps=2)
    add_task(Kind.ASSIGN_LEVEL, **level("boots", products=[product_id]))
    work()
    lost, ended = db.session.scalars(select(AuditEntry).order_by(AuditEntry.id))
    assert lost.before == {
        "lost": [{"productId": product_id, "sku": "T-1", "name": name_of(product_id), "values": {"sleeps": 2}}],
        "names": {"sleeps": "Sleeps"},
    }
    assert lost.summary == "Moving products to another level: 1 product lost values of Sleeps"
    assert ended.before is None
    assert ended.after == {"changed": 1, "dropped": {"sleeps": 1}, "names": {"sleeps": "Sleeps"}}


def test_of_more_than_a_hundred_products_the_report_has_the_first_and_the_log_every_value(
    site_id: int, add_task: AddTask, work: Worker
) -> None:
    ids = [add(site_id, f"T-{number}", "tents", sleeps=number + 1) for number in range(102)]
    task_id = add_task(Kind.ASSIGN_LEVEL, **level("boots", products=ids))
    work()
    assert (len(task(task_id).report["lost"]), task(task_id).report["dropped"]) == (100, {"sleeps": 102})
    assert count_loss_entries(site_id, task_id) == 51
    assert [(one.product_id, one.sku, one.attribute_id, one.value) for one in lost_of(site_id, task_id)] == [
        (product_id, f"T-{number}", "sleeps", number + 1) for number, product_id in enumerate(ids)
    ]


def test_the_log_keeps_long_values_whole_and_tells_nothing_of_batches_that_lost_none(
    site_id: int, add_task: AddTask, work: Worker
) -> None:
    levels = deepcopy(LEVELS)
    levels[0]["children"][0]["attributes"].append({"attributeId": "story", "name": "Story", "type": "STRING"})
    change_levels(site_id, levels)
    ids = [add(site_id, f"N-{number}") for number in range(4)]
    long = add(site_id, "T-1", "tents")
    with transaction():
        db.session.get_one(Product, long).taxonomy_attributes = {"story": "x" * 9_000}
    task_id = add_task(Kind.ASSIGN_LEVEL, **level("boots", products=[*ids, long]))
    work()
    assert [(one.attribute_id, len(one.value)) for one in lost_of(site_id, task_id)] == [("story", 9_000)]
    assert (count_loss_entries(site_id, task_id), count_loss_entries(site_id + 1, task_id)) == (
        1,
        0,
    )


def test_values_that_were_replaced_or_taken_away_are_kept_too(site_id: int, add_task: AddTask, work: Worker) -> None:
    ids = [add(site_id, "T-1", "tents", colour=["Moss", "Sky"]), add(site_id, "T-2", "tents")]
    task_id = add_task(Kind.ASSIGN_VALUE, **value("set", ["Clay"], ids))
    cleared_id = add_task(Kind.ASSIGN_VALUE, **value("clear", None, ids))
    work()
    kept = [[one.value for one in lost_of(site_id, found)] for found in (task_id, cleared_id)]
    assert kept == [[["Moss", "Sky"]], [["Clay"], ["Clay"]]]
    summaries = [summary_of(task(found)) for found in (task_id, cleared_id)]
    assert [(one.data_loss_title, one.data_loss[0].happened) for one in summaries] == [
        ("Values that were replaced", "replaced"),
        ("Values that products lost", "taken away"),
    ]
    entry = select(AuditEntry.summary).where(
        AuditEntry.subject_id == task_id, AuditEntry.action == activity.LOST_VALUES
    )
    assert db.session.scalar(entry) == "Changing a value on products: 1 product had values replaced of Colour"


def test_all_that_a_list_is_narrowed_to_also_when_a_change_takes_them_out_of_it(
    site_id: int, add_task: AddTask, work: Worker
) -> None:
    for number in range(5):
        add(site_id, f"N-{number}")
    add(site_id, "B-1", "boots", size=43)
    chosen = chosen_products(site_id, [], ProductList.parse("completeness=unclassified"))
    late = add(site_id, "N-late")
    task_id = add_task(Kind.ASSIGN_LEVEL, **level("tents", **chosen))
    work()
    assert {product(f"N-{number}").taxonomy_level_id for number in range(5)} == {"tents"}
    assert product("B-1").taxonomy_level_id == "boots"
    assert product("N-late").taxonomy_level_id is None and late > chosen["upTo"]
    assert task(task_id).done == 5


def test_products_of_another_site_are_never_touched(site_id: int, add_task: AddTask, work: Worker) -> None:
    with transaction():
        other = make_product(db.session.get_one(Site, shop(make_site("other.test"))), "O-1").id
    add_task(Kind.ASSIGN_LEVEL, **level("boots", products=[other]))
    work()
    assert product("O-1").taxonomy_level_id is None


def test_more_than_can_be_ticked_are_refused(site_id: int) -> None:
    with pytest.raises(Invalid):
        chosen_products(site_id, list(range(501)), ProductList())


def test_a_level_that_is_gone_fails_the_task(site_id: int, add_task: AddTask, work: Worker) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **level("boots", products=[add(site_id, "N-1")]))
    change_levels(site_id, [])
    work()
    assert (task(task_id).state, task(task_id).error) == ("failed", "The active taxonomy has no level “boots”.")


def test_another_taxonomy_meanwhile_fails_the_task(site_id: int, add_task: AddTask, work: Worker) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **level("boots", products=[add(site_id, "N-1")]))
    with transaction():
        change_settings(site_id, {"taxonomy-active-id": "other"})
    work()
    assert task(task_id).error == "Another taxonomy is active now, so the rest was left as it is."


def test_a_value_is_set_where_its_attribute_holds(site_id: int, add_task: AddTask, work: Worker) -> None:
    ids = [
        add(site_id, "T-1", "tents", sleeps=2, colour=["Moss"]),
        add(site_id, "T-2", "tents"),
        add(site_id, "T-3", "tents", colour=["Clay"]),
        add(site_id, "B-1", "boots", colour="Tan"),
        add(site_id, "N-1"),
    ]
    task_id = add_task(Kind.ASSIGN_VALUE, **value("set", ["clay"], ids))
    work()
    assert product("T-1").taxonomy_attributes == {"sleeps": 2, "colour": ["Clay"]}
    assert product("T-2").taxonomy_attributes == {"colour": ["Clay"]}
    assert product("B-1").taxonomy_attributes == {"colour": "Tan"}
    report = task(task_id).report
    assert (report["changed"], report["unchanged"], report["skipped"], report["replaced"]) == (2, 1, 2, {"colour": 1})
    assert report["lost"] == [{"productId": ids[0], "sku": "T-1", "values": {"colour": ["Moss"]}}]
    assert [product(sku).revision for sku in ("T-1", "T-2", "T-3", "B-1", "N-1")] == [2, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("way", "given", "afterwards"),
    [
        ("set", ["Sky"], ["Sky"]),
        ("fill", ["Sky"], ["Moss", "Clay"]),
        ("add", ["Sky", "Moss"], ["Moss", "Clay", "Sky"]),
        ("clear", None, None),
    ],
)
def test_the_ways_to_change_a_value(
    site_id: int, add_task: AddTask, work: Worker, way: str, given: Any, afterwards: list[str] | None
) -> None:
    full, gap = add(site_id, "T-1", "tents", colour=["Moss", "Clay"]), add(site_id, "T-2", "tents")
    add_task(Kind.ASSIGN_VALUE, **value(way, given, [full, gap]))
    work()
    assert product("T-1").taxonomy_attributes.get("colour") == afterwards
    assert product("T-2").taxonomy_attributes.get("colour") == given
    assert counted("T-1") == {("colour", word) for word in afterwards or ()}


def test_a_value_counts_for_completeness(site_id: int, add_task: AddTask, work: Worker) -> None:
    product_id = add(site_id, "T-1", "tents")
    add_task(Kind.ASSIGN_VALUE, taxonomyId="kit", attributeId="sleeps", value="4", way="set", products=[product_id])
    work()
    assert (product("T-1").taxonomy_attributes, product("T-1").completeness_score) == ({"sleeps": 4}, 100)

"""A change of many products is undone as a whole, or refused with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.tasks import Kind
from app.domain.taxonomy.tasks.befores import LARGEST, MOST, Before, is_too_large, keep
from app.domain.taxonomy.tasks.queue import view
from app.domain.taxonomy.tasks.summary import summary_of
from app.domain.taxonomy.tasks.undo import undo, undoable_tasks
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import LEVELS, Worker, add, change_levels, counted, product, task
from tests.factories import make_site
from tests.fakes.clock import StoppedClock

AddTask = Callable[..., str]
Undo = Callable[[str], str]


@pytest.fixture
def undone(site_id: int, clock: StoppedClock) -> Undo:
    def request(task_id: str) -> str:
        with transaction():
            return undo(Author(site_id, "Mia Moss", clock), task_id).id

    return request


@pytest.fixture
def ids(site_id: int) -> list[int]:
    return [
        add(site_id, "T-1", "tents", sleeps=2, colour=["Moss", "Clay"]),
        add(site_id, "T-2", "tents", sleeps=3, colour=["Sky"]),
        add(site_id, "N-1"),
        add(site_id, "B-1", "boots", size=43),
    ]


def to_boots(ids: list[int]) -> dict[str, Any]:
    return {"taxonomyId": "kit", "levelId": "boots", "levelName": "Boots", "products": ids}


def classified() -> dict[str, tuple[str | None, dict[str, Any], int | None]]:
    db.session.rollback()
    columns = select(Product.sku, Product.taxonomy_level_id, Product.taxonomy_attributes, Product.completeness_score)
    return {sku: (level_id, values, score) for sku, level_id, values, score in db.session.execute(columns)}


def test_levels_and_the_values_that_were_dropped_come_back(
    ids: list[int], add_task: AddTask, work: Worker, undone: Undo
) -> None:
    before, counts = classified(), counted("T-1")
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    work()
    assert classified()["T-1"][0] == "boots"
    undo_id = undone(task_id)
    work()
    assert (classified(), counted("T-1")) == (before, counts)
    assert summary_of(task(undo_id)).summary == "Undone: Moving products to another level. 3 products are as they were."
    entry = db.session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc())).first()
    assert entry is not None and (entry.action, entry.after) == ("taxonomy.undo", {"changed": 3})


def test_a_replaced_value_comes_back_and_is_replaced_again(
    ids: list[int], add_task: AddTask, work: Worker, undone: Undo
) -> None:
    value = {"attributeId": "colour", "value": ["Sky"], "way": "set"}
    before = classified()
    task_id = add_task(Kind.ASSIGN_VALUE, taxonomyId="kit", products=ids, **value)
    work()
    after = classified()
    undo_id = undone(task_id)
    work()
    assert classified() == before != after
    undone(undo_id)
    work()
    assert classified() == after


def test_products_that_were_classified_anew_since_are_named_and_nothing_is_undone(
    site_id: int, ids: list[int], add_task: AddTask, work: Worker, undone: Undo
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    work()
    with transaction():
        db.session.get_one(Product, ids[1]).taxonomy_attributes = {"size": 40}
        db.session.get_one(Product, ids[0]).price = 5
        db.session.delete(db.session.get_one(Product, ids[2]))
    with pytest.raises(Conflict, match=r"1 product was classified anew since \(T-2\)"):
        undone(task_id)
    assert db.session.query(TaxonomyTask).count() == 1
    with transaction():
        db.session.get_one(Product, ids[1]).taxonomy_attributes = {}
    undone(task_id)
    work()
    assert classified()["T-1"][0] == classified()["T-2"][0] == "tents"


def test_what_changes_between_the_request_and_the_work_stays(
    ids: list[int], add_task: AddTask, work: Worker, undone: Undo
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    work()
    undo_id = undone(task_id)
    with transaction():
        db.session.get_one(Product, ids[1]).taxonomy_attributes = {"size": 40}
    work()
    assert classified()["T-2"] == ("boots", {"size": 40}, 0)
    assert "1 changed meanwhile" in summary_of(task(undo_id)).summary


def test_a_value_that_the_taxonomy_does_not_take_any_more_is_reported(
    site_id: int, ids: list[int], add_task: AddTask, work: Worker, undone: Undo
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    work()
    tents = LEVELS[0]["children"][0]
    change_levels(site_id, [{**LEVELS[0], "children": [{**tents, "attributes": []}, LEVELS[0]["children"][1]]}])
    undo_id = undone(task_id)
    work()
    assert product("T-2").taxonomy_attributes == {"colour": ["Sky"]}
    assert summary_of(task(undo_id)).data_loss[0].attribute_id == "sleeps"


def test_it_is_undone_once_and_only_when_it_is_done(
    ids: list[int], add_task: AddTask, work: Worker, undone: Undo
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    with pytest.raises(Conflict, match="Only a task that is done"):
        undone(task_id)
    work()
    undone(task_id)
    with pytest.raises(Conflict, match="undone already"):
        undone(task_id)


def test_under_another_taxonomy_and_for_other_work_there_is_no_undo(
    site_id: int, ids: list[int], add_task: AddTask, work: Worker, undone: Undo
) -> None:
    recompute, nothing = add_task(Kind.RECOMPUTE), add_task(Kind.ASSIGN_LEVEL, **to_boots(ids[3:]))
    moved = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    work()
    for task_id, reason in ((recompute, "of this kind"), (nothing, "changed nothing")):
        with pytest.raises(Conflict, match=reason):
            undone(task_id)
    assert undoable_tasks(site_id, [recompute, nothing, moved]) == {moved}
    with transaction():
        change_settings(site_id, {"taxonomy-active-id": None})
    with pytest.raises(Conflict, match="another taxonomy is active"):
        undone(moved)


def test_a_task_of_which_an_earlier_release_did_a_part_is_not_undone_in_part(
    site_id: int, ids: list[int], add_task: AddTask, work: Worker, undone: Undo
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    work()
    with transaction():
        moved = db.session.get_one(TaxonomyTask, task_id)
        moved.report = moved.report | {"befores": moved.report["befores"][1:]}
    assert undoable_tasks(site_id, [task_id]) == set()
    with pytest.raises(Conflict, match="An earlier release of the shop did a part of it"):
        undone(task_id)


def test_the_task_of_another_site_is_not_found(
    site_id: int, ids: list[int], add_task: AddTask, work: Worker, clock: StoppedClock
) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    work()
    with transaction():
        other = make_site("other.test").id
    with pytest.raises(NotFound), transaction():
        undo(Author(other, "Max Moor", clock), task_id)
    assert undoable_tasks(other, [task_id]) == set()


def test_what_is_kept_is_bounded_and_stays_within(ids: list[int], add_task: AddTask, work: Worker) -> None:
    task_id = add_task(Kind.ASSIGN_LEVEL, **to_boots(ids))
    work()
    assert "befores" in task(task_id).report and "befores" not in view(task(task_id))["report"]
    report: dict[str, Any] = {}
    for number in range(MOST):
        keep(report, number, Before("tents", {}, "x"))
    assert len(report["befores"]) == MOST
    keep(report, MOST, Before("tents", {}, "x"))
    assert "befores" not in report and report["isTooLarge"]
    long: dict[str, Any] = {}
    keep(long, 1, Before("tents", {"text": "x" * LARGEST}, "x"))
    assert "befores" not in long
    with transaction():
        db.session.get_one(TaxonomyTask, task_id).report = report
    assert is_too_large(task(task_id))

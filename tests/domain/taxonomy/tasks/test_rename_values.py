"""What products hold follows the new words for allowed values."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from sqlalchemy import select

from app.domain.search.models import OutboxEntry
from app.domain.taxonomy.tasks import Kind
from app.extensions import db
from tests.domain.taxonomy.tasks.conftest import LEVELS, Worker, add, change_levels, counted, product, task

AddTask = Callable[..., str]


def rename(level_id: str, value: str, renamed: str) -> dict[str, str]:
    return {"levelId": level_id, "attributeId": "colour", "value": value, "renamed": renamed}


def test_values_are_renamed_where_that_definition_counts(site_id: int, add_task: AddTask, work: Worker) -> None:
    add(site_id, "T-1", "tents", colour=["Clay", "Moss"], sleeps=2)
    add(site_id, "T-2", "tents", colour=["Clay"])
    add(site_id, "B-1", "boots", colour="Moss")
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][0]["allowedValues"] = ["Fern", "Clay", "Sky"]
    change_levels(site_id, levels)
    task_id = add_task(Kind.RENAME_VALUES, taxonomyId="kit", renames=[rename("gear", "Moss", "Fern")])
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Clay", "Fern"], "sleeps": 2}
    assert product("B-1").taxonomy_attributes == {"colour": "Moss"}
    assert counted("T-1") == {("colour", "Clay"), ("colour", "Fern"), ("sleeps", "2")}
    assert (task(task_id).report, task(task_id).total) == ({"changed": 1, "unchanged": 1}, 2)
    assert [product(sku).revision for sku in ("T-1", "T-2", "B-1")] == [2, 1, 1]


def test_two_words_can_change_places(site_id: int, add_task: AddTask, work: Worker) -> None:
    add(site_id, "T-1", "tents", colour=["Moss", "Clay", "Sky"])
    add_task(
        Kind.RENAME_VALUES,
        taxonomyId="kit",
        renames=[rename("gear", "Moss", "Clay"), rename("gear", "Clay", "Moss")],
    )
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Clay", "Moss", "Sky"]}


def test_two_values_that_become_one_are_told_once(site_id: int, add_task: AddTask, work: Worker) -> None:
    add(site_id, "T-1", "tents", colour=["Moss", "Clay", "Sky"])
    add_task(Kind.RENAME_VALUES, taxonomyId="kit", renames=[rename("gear", "Clay", "Moss")])
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Moss", "Sky"]}


def test_renamed_twice_in_a_row_ends_with_the_last_word(site_id: int, add_task: AddTask, work: Worker) -> None:
    add(site_id, "T-1", "tents", colour=["Moss"])
    add_task(Kind.RENAME_VALUES, taxonomyId="kit", renames=[rename("gear", "Moss", "Fern")])
    add_task(Kind.RENAME_VALUES, taxonomyId="kit", renames=[rename("gear", "Fern", "Leaf")])
    work()
    assert product("T-1").taxonomy_attributes == {"colour": ["Leaf"]}


def test_the_indexed_separately_of_renamed_products_alone(site_id: int, add_task: AddTask, work: Worker) -> None:
    changed = add(site_id, "T-1", "tents", colour=["Moss"])
    add(site_id, "B-1", "boots", colour="Moss")
    before = db.session.scalars(select(OutboxEntry.id).order_by(OutboxEntry.id.desc())).first() or 0
    add_task(Kind.RENAME_VALUES, taxonomyId="kit", renames=[rename("gear", "Moss", "Fern")])
    work()
    entries = db.session.scalars(select(OutboxEntry.record_id).where(OutboxEntry.id > before)).all()
    assert set(entries) == {changed}


def test_a_taxonomy_that_is_not_active_renames_nothing(site_id: int, add_task: AddTask, work: Worker) -> None:
    add(site_id, "T-1", "tents", colour=["Moss"])
    task_id = add_task(Kind.RENAME_VALUES, taxonomyId="other", renames=[rename("gear", "Moss", "Fern")])
    work()
    assert (task(task_id).state, task(task_id).done) == ("failed", 0)
    assert product("T-1").taxonomy_attributes == {"colour": ["Moss"]}

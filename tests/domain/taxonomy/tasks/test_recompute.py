"""How complete every product is, after what must be known changed."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from sqlalchemy import func, select

from app.domain.search.models import OutboxEntry
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.tasks import Kind
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import LEVELS, Worker, add, change_levels, product, task

AddTask = Callable[..., str]


def test_scores_follow_what_is_mandatory_now(site_id: int, add_task: AddTask, work: Worker) -> None:
    add(site_id, "T-1", "tents", sleeps=2)
    add(site_id, "T-2", "tents")
    add(site_id, "G-1", "gear")
    add(site_id, "N-1")
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][0]["validation"] = {"mandatory": True}
    change_levels(site_id, levels)
    task_id = add_task(Kind.RECOMPUTE)
    work()
    assert [product(sku).completeness_score for sku in ("T-1", "T-2", "G-1", "N-1")] == [50, 0, 0, None]
    assert task(task_id).report == {"changed": 2, "unchanged": 2}


def test_a_product_whose_level_is_gone_has_no_score(site_id: int, add_task: AddTask, work: Worker) -> None:
    add(site_id, "T-1", "tents", sleeps=2)
    change_levels(site_id, [])
    add_task(Kind.RECOMPUTE)
    work()
    assert (product("T-1").completeness_score, product("T-1").taxonomy_attributes) == (None, {"sleeps": 2})


def test_neither_revisions_nor_the_index_hear_of_it(site_id: int, add_task: AddTask, work: Worker) -> None:
    add(site_id, "T-1", "tents", sleeps=2)
    change_levels(site_id, [])
    before = db.session.scalar(select(func.count()).select_from(OutboxEntry))
    add_task(Kind.RECOMPUTE)
    work()
    assert product("T-1").revision == 1
    assert db.session.scalar(select(func.count()).select_from(OutboxEntry)) == before


def test_without_an_active_taxonomy_every_product_keeps_its_score(
    site_id: int, add_task: AddTask, work: Worker
) -> None:
    add(site_id, "T-1", "tents", sleeps=2)
    with transaction():
        change_settings(site_id, {"taxonomy-active-id": None})
    task_id = add_task(Kind.RECOMPUTE)
    work()
    assert product("T-1").completeness_score == 100
    assert (task(task_id).state, task(task_id).total) == ("done", 0)

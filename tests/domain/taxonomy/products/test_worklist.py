"""What is left to do, by level."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from app.domain.sites.models import Site
from app.domain.taxonomy.products.worklist import (
    MOST_LEVELS_AT_ONCE,
    PAGE_SIZE,
    WorkOrder,
    work_row,
    work_rows,
    work_summary,
)
from app.domain.taxonomy.tree import Level, TaxonomyTree
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.classified_shop import TREE, make_classified, make_shop
from tests.factories import make_product


@pytest.fixture
def site(context: None) -> Site:
    with transaction():
        made = make_shop()
        make_classified(made, "tents", {"free": True}, name="Ridge tent")
        make_classified(made, "tents", {"free": True, "sleeps": 2}, name="Dome tent")
        make_classified(made, "stoves", name="Wood stove")
        make_product(made, name="Loose rope")
        lost = make_classified(made, "tents", name="Lost kayak")
        lost.taxonomy_level_id, lost.completeness_score = "kayaks", None  # As a recount leaves it.
        other = make_shop("other.localhost")
        make_classified(other, "tents", name="Somebody else’s tent")
    return made


def rows(site: Site, level_id: str = "", order: WorkOrder = WorkOrder.NAME, page: int = 1) -> list[str]:
    return [row.name for row in work_rows(site.id, TREE, level_id, order, page).items]


def test_incomplete_products_are_counted_at_their_level_and_above(site: Site):
    summary = work_summary(site.id, TREE)
    assert [(one.name, one.depth, one.incomplete) for one in summary.levels] == [
        ("Camping", 0, 2),
        ("Tents", 1, 1),
        ("Stoves", 1, 1),
    ]
    assert (summary.incomplete, summary.unclassified, summary.gone) == (2, 1, 1)


def test_of_very_many_levels_only_the_chosen_branch_is_open(site: Site):
    children = [Level(f"l{number}", f"Level {number}", "top") for number in range(MOST_LEVELS_AT_ONCE + 1)]
    tree = TaxonomyTree.of([Level("top", "Top"), *children, Level("side", "Side")])
    with transaction():
        for number, level_id in enumerate([*tree.levels]):
            make_product(site, taxonomy_level_id=level_id, completeness_score=number % 100)
    assert [one.id for one in work_summary(site.id, tree).levels] == ["top", "side"]
    assert len(work_summary(site.id, tree, "l7").levels) == len(tree.levels)


def test_a_row_has_inputs_for_what_is_missing_and_for_nothing_else(site: Site):
    (row,) = work_rows(site.id, TREE, "tents", WorkOrder.NAME, 1).items
    assert (row.name, row.level, row.score) == ("Ridge tent", "Camping › Tents", 50)
    assert [one.attribute.id for one in row.inputs] == ["sleeps"]


def test_a_level_shows_its_own_products_and_those_below_it(site: Site):
    assert rows(site) == rows(site, "camping") == ["Ridge tent", "Wood stove"]
    assert rows(site, "stoves") == ["Wood stove"]
    assert rows(site, "kayaks") == []


def test_the_latest_change_can_come_first(site: Site):
    with transaction():
        product = make_classified(site, "tents", name="Aged tent", sku="OLD")
        product.updated_at = product.updated_at.replace(year=2020)
    assert rows(site, "tents") == ["Aged tent", "Ridge tent"]
    assert rows(site, "tents", WorkOrder.CHANGED) == ["Ridge tent", "Aged tent"]


def test_a_row_again_keeps_what_was_typed(site: Site):
    (row,) = work_rows(site.id, TREE, "tents", WorkOrder.NAME, 1).items
    again = work_row(site.id, TREE, row.id, {"sleeps": ("many",)})
    assert again is not None
    assert [(one.text, one.problems) for one in again.inputs] == [("many", ("Sleeps takes a number.",))]


def test_a_page_costs_the_same_for_one_product_and_for_many(site: Site):
    def cost() -> int:
        site_id = site.id  # Read anew after each transaction.
        seen: list[object] = []

        def note(*_details: object) -> None:
            seen.append(1)

        event.listen(db.engine, "before_cursor_execute", note)
        work_summary(site_id, TREE)
        work_rows(site_id, TREE, "", WorkOrder.NAME, 1)
        event.remove(db.engine, "before_cursor_execute", note)
        return len(seen)

    few = cost()
    with transaction():
        for _ in range(PAGE_SIZE + 1):
            make_classified(site, "tents")
    assert cost() == few == 4
    assert len(rows(site, page=2)) == 3

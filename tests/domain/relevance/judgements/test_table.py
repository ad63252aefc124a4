"""Ratings from and to a table in Quepid's form."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.domain.relevance.judgements import lists, ratings, table
from app.domain.relevance.models import ProductRating
from app.domain.search.engine import SearchContext
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites.models import AuditEntry
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from tests.domain.relevance.judgements.rated_shop import author_of, make_list, rated_list, rater, search_id
from tests.domain.relevance.trials.preview_shop import shop

pytestmark = pytest.mark.usefixtures("context")
FILE = "query,sku,rating\nmug,MUG-1,3\nmug,MUG-2,0\nTea cup,CUP-2,2\n"


def _import(indexing: SearchContext, site_id: int, list_id: int, text: str) -> list[tuple[int, str, str]]:
    """(line, outcome, reason) of each line of a file that is imported."""
    report = table.preview(site_id, list_id, text)
    with transaction():
        table.apply(author_of(indexing, site_id), list_id, text, report.digest)
    return [(line.number, line.outcome.value, line.reason) for line in report.lines]


def _written(site_id: int, list_id: int) -> list[str]:
    read_afresh()
    return [",".join(cells) for cells in table.table_rows(lists.list_of(site_id, list_id))]


def test_what_comes_in_goes_out_again(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    assert [outcome for _, outcome, _ in _import(indexing, site_id, list_id, FILE)] == ["added"] * 3
    assert "\n".join(_written(site_id, list_id)) + "\n" == FILE
    assert [outcome for _, outcome, _ in _import(indexing, site_id, list_id, FILE)] == ["same"] * 3
    entry = db.session.scalars(select(AuditEntry.summary).where(AuditEntry.action == "judgements.rate")).one()
    assert entry == "Imported 3 ratings into the judgement list “Top searches”"


def test_quepids_names_of_columns_are_understood_in_any_order(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    _import(indexing, site_id, list_id, "docid,rating,query\nMUG-1,3.0,mug\n")
    assert _written(site_id, list_id) == ["query,sku,rating", "mug,MUG-1,3"]


def test_each_line_that_cannot_be_taken_is_named_with_its_reason(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    text = FILE + "mug,NONE,3\nmug,MUG-1,2\nmug,JUG-1,4\n,JUG-1,1\nmug,,1\njug,JUG-1,1,9\n"
    assert _import(indexing, site_id, list_id, text)[3:] == [
        (5, "refused", "No product of this shop has the SKU “NONE”."),
        (6, "refused", "Line 2 rates the same product for this search."),
        (7, "refused", "The rating must be 0, 1, 2 or 3, not “4”."),
        (8, "refused", "The search “” is missing."),
        (9, "refused", "The SKU is missing."),
        (10, "refused", "The first line names no column for “9”. Put cells with commas in quotation marks."),
    ]
    assert len(_written(site_id, list_id)) == 4


def test_a_preview_writes_nothing(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    assert table.preview(site_id, list_id, FILE).changes == 3
    assert _written(site_id, list_id) == ["query,sku,rating"]


def test_what_changed_since_the_preview_is_looked_at_again(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    report = table.preview(site_id, list_id, FILE)
    _import(indexing, site_id, list_id, "query,sku,rating\nmug,MUG-1,1\n")
    with pytest.raises(Conflict, match="changed since you looked"), transaction():
        table.apply(author_of(indexing, site_id), list_id, FILE, report.digest)
    assert _written(site_id, list_id)[1:] == ["mug,MUG-1,1"]


def test_a_file_changes_no_persons_rating_and_stands_beside_it(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id, {"mug": {"MUG-1": 3}})
    assert [one[1] for one in _import(indexing, site_id, list_id, "query,sku,rating\nMUG,MUG-1,1\n")] == ["added"]
    assert [one[1] for one in _import(indexing, site_id, list_id, "query,sku,rating\nmug,MUG-1,0\n")] == ["changed"]
    stored = db.session.scalars(select(ProductRating.rating).order_by(ProductRating.rating)).all()
    assert stored == [0, 3]
    assert _written(site_id, list_id)[1:] == ["mug,MUG-1,2"], "their mean, as a whole number"


def test_halves_are_counted_up(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id, {"mug": {"MUG-1": 0, "MUG-2": 1, "JUG-1": 2, "CUP-1": 0}})
    _import(indexing, site_id, list_id, "query,sku,rating\nmug,MUG-1,1\nmug,MUG-2,2\nmug,JUG-1,3\nmug,CUP-1,0\n")
    assert _written(site_id, list_id)[1:] == ["mug,CUP-1,0", "mug,JUG-1,3", "mug,MUG-1,1", "mug,MUG-2,2"]


@pytest.mark.parametrize("text", ["", "query,rating\nmug,3\n", "query,sku,rating,rank\nmug,MUG-1,3,1\n", "a\0b"])
def test_what_is_no_such_table_is_refused_as_a_whole(indexing: SearchContext, text: str) -> None:
    site_id = shop(indexing)
    with pytest.raises(Invalid):
        table.preview(site_id, make_list(indexing, site_id), text)


def test_a_file_goes_into_no_list_of_another_site(indexing: SearchContext) -> None:
    site_id, other = shop(indexing), shop(indexing, "other.test")
    with pytest.raises(NotFound):
        table.preview(site_id, make_list(indexing, other), FILE)


def test_a_search_has_a_limited_number_of_rated_products(indexing: SearchContext) -> None:
    names = {f"P-{number}": f"Product {number}" for number in range(ratings.MOST_RATED + 1)}
    site_id = shop(indexing, names=names)
    list_id = make_list(indexing, site_id)
    text = "query,sku,rating\n" + "".join(f"mug,{sku},1\n" for sku in names)
    outcomes = [outcome for _, outcome, _ in _import(indexing, site_id, list_id, text)]
    assert outcomes == ["added"] * 500 + ["refused"]
    with pytest.raises(Invalid, match="At most 500"), transaction():
        mia = rater(site_id)
        ratings.rate(author_of(indexing, site_id), mia, list_id, search_id(list_id, "mug"), {"P-500": 1})

"""Golden searches: written, checked, and kept from being broken by a rebuild."""

from __future__ import annotations

from functools import partial

import pytest
from sqlalchemy import select, update

from app.domain.catalogue import products
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.relevance import golden
from app.domain.relevance.golden import Expectation
from app.domain.relevance.models import GoldenSearch
from app.domain.search.engine import SearchContext, SearchUnavailable
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import latest_run
from app.domain.search.serving.configuration import UNDERSTANDING
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, StaleRevision
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import change_settings
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from tests import searching
from tests.domain.relevance.trials.preview_shop import lower_price, product_id, save_rule, save_synonym, shop

pytestmark = pytest.mark.usefixtures("context")


def _add(indexing: SearchContext, site_id: int, query: str = "mug", sku: str = "MUG-1", within: int | None = 5) -> int:
    with transaction():
        return golden.add(Author(site_id, "Mia", indexing.clock), Expectation(query, sku, within)).id


def _row(golden_id: int) -> GoldenSearch:
    read_afresh()
    return db.session.get_one(GoldenSearch, golden_id)


def _checked(indexing: SearchContext, site_id: int, golden_id: int) -> tuple[bool | None, int | None]:
    golden.check_goldens(indexing, site_id)
    row = _row(golden_id)
    return row.passes, row.rank


def test_a_check_finds_what_shoppers_find_where_words_are_understood(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    lower_price(indexing, site_id, "MUG-1")
    golden_id = _add(indexing, site_id, "mug under £5", "MUG-1", 1)
    assert _checked(indexing, site_id, golden_id) == (False, 2)
    with transaction():
        change_settings(site_id, {UNDERSTANDING: "on"})
    assert _checked(indexing, site_id, golden_id) == (True, 1)


# Written


def test_a_golden_search_is_kept_tidy_and_noted_whole(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    row = _row(_add(indexing, site_id, "  blue   mug ", " MUG-1 ", 3))
    assert (row.query, row.sku, row.within, row.passes) == ("blue mug", "MUG-1", 3, None)
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "golden.add")).one()
    assert (entry.subject_type, entry.subject_id, entry.before) == ("golden_search", str(row.id), None)
    assert entry.after == {"query": "blue mug", "sku": "MUG-1", "within": 3}


@pytest.mark.parametrize(
    ("query", "sku", "within", "said"),
    [
        (" ", "MUG-1", 5, "The search is missing."),
        ("!?", "MUG-1", 5, "The search has neither letters nor digits."),
        ("x" * 201, "MUG-1", 5, "The search is 201 characters long; at most 200 fit."),
        ("mug", "", 5, "Choose the product."),
        ("mug", "NONE", 5, "No product of this shop has the SKU “NONE”."),
        ("mug", "MUG-1", 0, "Give a place from 1 to 50."),
        ("mug", "MUG-1", 51, "Give a place from 1 to 50."),
        ("mug", "MUG-1", None, "Give a place from 1 to 50."),
    ],
)
def test_what_is_wrong_is_said(indexing: SearchContext, query: str, sku: str, within: int | None, said: str) -> None:
    site_id = shop(indexing)
    with pytest.raises(Invalid) as refused:
        _add(indexing, site_id, query, sku, within)
    assert [problem.message for problem in refused.value.problems] == [said]


def test_all_problems_are_told_at_once(indexing: SearchContext) -> None:
    with pytest.raises(Invalid) as refused:
        _add(indexing, shop(indexing), "", "", 0)
    assert [problem.pointer for problem in refused.value.problems] == ["#/query", "#/within", "#/sku"]


def test_the_same_words_and_product_are_there_once(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _add(indexing, site_id)
    _add(indexing, site_id, sku="MUG-2")
    with pytest.raises(Invalid, match="already"):
        _add(indexing, site_id, " MUG ")


def test_a_product_of_another_shop_is_none_of_this(indexing: SearchContext) -> None:
    own = shop(indexing)
    shop(indexing, "other.test", {"LAMP": "Lamp"})
    with pytest.raises(Invalid, match="No product of this shop"):
        _add(indexing, own, sku="LAMP")


def test_a_change_forgets_what_was_checked(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    golden_id = _add(indexing, site_id)
    golden.check_goldens(indexing, site_id)
    with transaction():
        assert golden.change(Author(site_id, "Mia", indexing.clock), golden_id, 1, Expectation("cup", "CUP-1", 1))
    row = _row(golden_id)
    assert (row.query, row.sku, row.within, row.passes, row.rank, row.revision) == ("cup", "CUP-1", 1, None, None, 2)


def test_a_change_that_changes_nothing_keeps_what_was_checked(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    golden_id = _add(indexing, site_id)
    golden.check_goldens(indexing, site_id)
    with transaction():
        assert not golden.change(Author(site_id, "Mia", indexing.clock), golden_id, 1, Expectation("mug", "MUG-1", 5))
    assert _row(golden_id).passes


def test_who_saves_second_is_told_who_was_first(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    golden_id = _add(indexing, site_id)
    with pytest.raises(StaleRevision, match="Mia saved this golden search"), transaction():
        golden.change(Author(site_id, "Max", indexing.clock), golden_id, 9, Expectation("cup", "CUP-1", 1))


def test_another_shops_golden_search_is_not_found(indexing: SearchContext) -> None:
    own, other = shop(indexing), shop(indexing, "other.test")
    golden_id = _add(indexing, other)
    with pytest.raises(NotFound), transaction():
        golden.delete(Author(own, "Mia", indexing.clock), golden_id)
    assert golden.golden_searches(own) == []


def test_what_was_done_can_be_revert(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    golden_id = _add(indexing, site_id)
    before = golden.expectation_of(_row(golden_id)).as_json()
    with transaction():
        golden.delete(Author(site_id, "Mia", indexing.clock), golden_id)
    with transaction():
        golden.revert(Author(site_id, "Max", indexing.clock), golden_id, before)
    assert golden.expectation_of(_row(golden_id)).as_json() == before
    with transaction():
        golden.revert(Author(site_id, "Max", indexing.clock), golden_id, before | {"within": 2})
    assert _row(golden_id).within == 2
    with transaction():
        golden.revert(Author(site_id, "Max", indexing.clock), golden_id, None)
    assert golden.golden_searches(site_id) == []
    actions = db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions[-4:] == ["golden.delete", "golden.undo", "golden.undo", "golden.undo"]


# Checked


def test_the_place_of_the_product_decides(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    assert _checked(indexing, site_id, _add(indexing, site_id, "blue mug", "MUG-1", 1)) == (True, 1)
    assert _checked(indexing, site_id, _add(indexing, site_id, "cup", "MUG-1", 5)) == (False, None)


def test_a_product_past_the_wanted_place_fails_with_its_place(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    ids = [_add(indexing, site_id, "mug", sku, 1) for sku in ("MUG-1", "MUG-2")]
    outcomes = [_checked(indexing, site_id, golden_id) for golden_id in ids]
    assert sorted(outcomes, key=lambda outcome: outcome[1] or 0) == [(True, 1), (False, 2)]


def test_synonyms_and_rules_count(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    by_synonym = _add(indexing, site_id, "mug", "CUP-1", 5)
    by_rule = _add(indexing, site_id, "jug", "CUP-2", 1)
    assert not _checked(indexing, site_id, by_synonym)[0]
    save_synonym(indexing, site_id, "mug", "cup")
    save_rule(indexing, site_id, "jug", pins=[{"sku": "CUP-2", "position": 1}])
    assert _checked(indexing, site_id, by_synonym)[0]
    assert _checked(indexing, site_id, by_rule) == (True, 1)


def test_a_search_that_is_sent_away_fails(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    golden_id = _add(indexing, site_id)
    save_rule(indexing, site_id, "mug", redirect_url="/pages/mugs")
    assert _checked(indexing, site_id, golden_id) == (False, None)


def test_since_when_it_fails_stays_until_it_passes(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    golden_id = _add(indexing, site_id, "pitcher", "JUG-1")
    _checked(indexing, site_id, golden_id)
    first = indexing.clock.now()
    indexing.clock.move(hours=1)  # type: ignore[attr-defined]
    _checked(indexing, site_id, golden_id)
    assert _row(golden_id).failing_since == first
    assert _row(golden_id).checked_at == indexing.clock.now()
    save_synonym(indexing, site_id, "pitcher", "jug")
    assert _checked(indexing, site_id, golden_id) == (True, 1)
    assert _row(golden_id).failing_since is None


def test_an_index_that_is_away_leaves_what_was_known(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    golden_id = _add(indexing, site_id)
    _checked(indexing, site_id, golden_id)
    indexing.engine.forget(site_id)
    with pytest.raises(SearchUnavailable):
        golden.check_goldens(indexing, site_id)
    assert _row(golden_id).passes


def test_the_state_of_a_shop_counts_and_names_what_fails(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _add(indexing, site_id)
    _add(indexing, site_id, "pitcher", "JUG-1")
    golden.check_goldens(indexing, site_id)
    _add(indexing, site_id, "cup", "CUP-1")
    state = golden.golden_state(site_id)
    assert (state.total, state.passing, state.unchecked) == (3, 1, 1)
    (failing,) = state.failing
    assert (failing.search.query, failing.product_name, failing.result) == (
        "pitcher",
        "Water jug",
        "not among the first 50",
    )


# A rebuild


def _rebuilt(indexing: SearchContext, site_id: int) -> str | None:
    indexing.clock.move(seconds=1)  # type: ignore[attr-defined]
    run_id = searching.request(indexing, site_id, "PRODUCTS")
    rebuild(indexing, run_id, examine=partial(golden.hold_back, indexing))
    read_afresh()
    run = latest_run(site_id)
    assert run is not None
    return run.error if run.state == "failed" else None


def _hold(site_id: int) -> None:
    with transaction():
        change_settings(site_id, {"search-golden-hold": True})


def _rename_unnoticed(site_id: int, sku: str) -> None:
    """As if the shop's database had been changed past the shop: only a rebuild finds out."""
    with transaction():
        renamed = (
            update(Product).where(Product.site_id == site_id, Product.sku == sku).values(name="Else", seo_name="e")
        )
        db.session.execute(renamed, execution_options=INDEXED_SEPARATELY)


def test_a_rebuild_that_breaks_golden_searches_is_blocked(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _hold(site_id)
    _add(indexing, site_id, "water", "JUG-1", 1)
    _add(indexing, site_id, "pitcher", "CUP-1")
    _rename_unnoticed(site_id, "JUG-1")
    live = indexing.engine.status(site_id, searching.IndexName.PRODUCTS).generation
    assert _rebuilt(indexing, site_id) == (
        "The new index was blocked, since it would break a golden search that passes today: “water” "
        "(JUG-1 not found). Change what broke them, or switch “Block a rebuild that breaks a golden search” off in "
        "the search settings, then rebuild again."
    )
    run = latest_run(site_id)
    assert run is not None and run.done == run.total > 1
    assert indexing.engine.status(site_id, searching.IndexName.PRODUCTS).generation == live
    assert "Water jug" in {str(hit) for hit in _names(indexing, site_id)}


def _names(indexing: SearchContext, site_id: int) -> list[object]:
    request = searching.SearchRequest(per_page=50)
    hits = indexing.engine.search(site_id, searching.IndexName.PRODUCTS, request).hits
    return [hit.card["name"] for hit in hits]


def test_a_single_first_place_is_told_as_first() -> None:
    assert [golden.describe_place(within) for within in (1, 5)] == ["first", "in the first 5"]


def test_without_the_setting_nothing_is_blocked(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _add(indexing, site_id, "water", "JUG-1", 1)
    _rename_unnoticed(site_id, "JUG-1")
    assert _rebuilt(indexing, site_id) is None


def test_what_fails_already_holds_nothing_back(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _hold(site_id)
    _add(indexing, site_id, "pitcher", "JUG-1")
    _add(indexing, site_id, "blue mug", "MUG-1", 1)
    assert _rebuilt(indexing, site_id) is None


def test_the_first_index_of_a_shop_is_never_blocked(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _hold(site_id)
    _add(indexing, site_id)
    indexing.engine.forget(site_id)
    assert _rebuilt(indexing, site_id) is None


def test_a_product_that_is_saved_while_the_index_is_built_is_not_held_against_it(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _hold(site_id)
    _add(indexing, site_id, "blue mug", "MUG-1", 1)
    mug = product_id(site_id, "MUG-1")
    generation = indexing.engine.start_generation(site_id, searching.IndexName.PRODUCTS)
    try:
        generation.seal()
        assert golden.hold_back(indexing, site_id, generation, set()) is not None
        assert golden.hold_back(indexing, site_id, generation, {mug}) is None
    finally:
        generation.discard()


def test_a_product_that_was_hidden_is_nobodys_golden_search_any_more(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _hold(site_id)
    golden_id = _add(indexing, site_id, "blue mug", "MUG-1", 1)
    with transaction():
        products.set_enabled(Author(site_id, "Mia", indexing.clock), [product_id(site_id, "MUG-1")], False)
    apply_waiting(indexing, site_id)
    assert _rebuilt(indexing, site_id) is None, "the live index does not find it either"
    assert _checked(indexing, site_id, golden_id) == (False, None)


# When it is due


def test_what_a_shops_golden_searches_depend_on_changes_with_each_of_it(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    assert golden.states_of_sites(indexing) == {}
    seen = []
    for change in (
        lambda: _add(indexing, site_id),
        lambda: save_synonym(indexing, site_id, "mug", "cup"),
        lambda: rebuild(indexing, searching.request(indexing, site_id, "PRODUCTS")),
        lambda: _add(indexing, site_id, "cup", "CUP-1"),
    ):
        change()
        read_afresh()
        seen.append(golden.states_of_sites(indexing)[site_id].depends_on)
    assert len(set(seen)) == 4


def test_undoing_is_a_change_too(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    first = _add(indexing, site_id, "mug")
    _add(indexing, site_id, "cup", "CUP-1")

    def revert(golden_id: int, before: dict[str, object] | None) -> golden.CheckState:
        golden.check_goldens(indexing, site_id)
        known = golden.states_of_sites(indexing)[site_id].depends_on
        with transaction():
            golden.revert(Author(site_id, "Mia", indexing.clock), golden_id, before)
        read_afresh()
        state = golden.states_of_sites(indexing)[site_id]
        assert state.depends_on != known
        return state

    assert revert(first, {"query": "blue mug", "sku": "MUG-1", "within": 3}).checked_at is None
    assert revert(first, None).checked_at is not None, "what is left was checked"
    assert revert(first, {"query": "mug", "sku": "MUG-1", "within": 3}).checked_at is None
    golden.check_goldens(indexing, site_id, only=first)
    assert golden.states_of_sites(indexing)[site_id].checked_at == indexing.clock.now()

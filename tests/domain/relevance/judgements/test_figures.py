"""The figures of lists: computed, cached, compared for changes, and kept from falling by a rebuild."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import insert, update

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.relevance.judgements import figures, guard, lists, ratings, runs, table
from app.domain.relevance.judgements.measures import ndcg
from app.domain.relevance.previews import preview_change
from app.domain.relevance.proposals import (
    Proposal,
    RankingProposal,
    RuleProposal,
    SynonymProposal,
    TermsProposal,
    UnderstandingProposal,
)
from app.domain.search.engine import SearchContext
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.runs import latest_run
from app.domain.search.ranking_settings import RankingSettings, Weight
from app.domain.search.serving.configuration import UNDERSTANDING, served
from app.domain.search.serving.rules import PinnedSku, Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.search.understanding.parts import UnderstandingMode
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites.settings import change_settings
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from bench import catalogue, judging
from bench.measuring import build
from tests import searching
from tests.domain.relevance.judgements.rated_shop import (
    author_of,
    computed,
    make_list,
    rated_list,
    rater,
    search_id,
)
from tests.domain.relevance.trials.preview_shop import lower_price, product_id, save_rule, save_synonym, shop
from tests.surroundings import relevance_data

pytestmark = pytest.mark.usefixtures("context")
MUGS = {"mug": {"MUG-1": 1, "MUG-2": 3}}
PINNED = RuleProposal(Rule("mug", pins=(PinnedSku("MUG-2", 1),)))


def _order(indexing: SearchContext, site_id: int, words: str) -> list[str]:
    request = searching.SearchRequest(words=words)
    result = indexing.engine.search(site_id, searching.IndexName.PRODUCTS, request)
    return [str(hit.card["sku"]) for hit in result.hits]


def _is_current(indexing: SearchContext, site_id: int, list_id: int) -> bool:
    read_afresh()
    row = lists.list_of(site_id, list_id)
    return figures.current_figures(indexing.engine, row, served(site_id), indexing.clock.now()) is not None


def test_the_figures_are_the_mean_of_the_searches_that_something_answers(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    searches = {"mug": {"MUG-1": 1, "MUG-2": 3}, "tea cup": {"CUP-2": 3}, "jug": {"JUG-1": 0}, "sofa": {"MUG-1": 2}}
    summary = computed(indexing, site_id, rated_list(indexing, site_id, searches))
    assert summary.ndcg is not None and summary.searches == 3
    mug = ndcg(_order(indexing, site_id, "mug"), searches["mug"])
    assert summary.ndcg.mean == pytest.approx((mug + 1 + 0) / 3)
    assert (summary.state, summary.done, summary.total) == ("done", 3, 3)


def test_a_list_without_ratings_has_nothing_to_compute(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    with pytest.raises(Invalid, match="Nothing in this list is rated yet"), transaction():
        runs.request(author_of(indexing, site_id), list_id)


def test_figures_stand_until_anything_that_they_depend_on_changes(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, ben = rated_list(indexing, site_id), rater(site_id, "Ben Bell")

    def rename() -> None:
        with transaction():
            db.session.get_one(Product, product_id(site_id, "MUG-1")).name = "Red mug"
        apply_waiting(indexing, site_id)

    def rate() -> None:
        with transaction():
            ratings.rate(author_of(indexing, site_id), ben, list_id, search_id(list_id, "mug"), {"MUG-1": 2})

    assert not _is_current(indexing, site_id, list_id)
    for change in (rename, rate, lambda: save_synonym(indexing, site_id, "mug", "cup")):
        indexing.clock.move(seconds=1)  # type: ignore[attr-defined]
        computed(indexing, site_id, list_id)
        assert _is_current(indexing, site_id, list_id)
        change()
        assert not _is_current(indexing, site_id, list_id), change
    assert len(runs.past_figures(lists.list_of(site_id, list_id))) == 3


def test_a_rule_that_begins_by_the_clock_outdates_the_figures(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id)
    pins, starts_at = [{"sku": "MUG-2", "position": 1}], indexing.clock.now() + timedelta(hours=1)
    save_rule(indexing, site_id, "mug", pins=pins, starts_at=starts_at)
    computed(indexing, site_id, list_id)
    assert _is_current(indexing, site_id, list_id)
    indexing.clock.move(hours=1)  # type: ignore[attr-defined]
    assert not _is_current(indexing, site_id, list_id)


@pytest.mark.parametrize("match", ["startsWith", "contains"])
def test_a_rule_by_condition_that_begins_by_the_clock_outdates_the_figures(indexing: SearchContext, match: str) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id)
    pins, starts_at = [{"sku": "MUG-2", "position": 1}], indexing.clock.now() + timedelta(hours=1)
    save_rule(indexing, site_id, "mug", pins=pins, starts_at=starts_at, match=match)
    computed(indexing, site_id, list_id)
    assert _is_current(indexing, site_id, list_id)
    indexing.clock.move(hours=1)  # type: ignore[attr-defined]
    assert not _is_current(indexing, site_id, list_id)


def test_searches_are_judged_as_they_are_understood(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    lower_price(indexing, site_id, "MUG-1")
    list_id = rated_list(indexing, site_id, {"mug under £5": {"MUG-1": 3}}, in_previews=True)
    found = _change(UnderstandingProposal(UnderstandingMode.ON), indexing, site_id)
    assert found is not None and "0.631 to 1.000, 1 better" in found
    before = computed(indexing, site_id, list_id).ndcg
    with transaction():
        change_settings(site_id, {UNDERSTANDING: "on"})
    assert not _is_current(indexing, site_id, list_id)
    after = computed(indexing, site_id, list_id).ndcg
    assert before is not None and after is not None
    assert (round(before.mean, 3), after.mean) == (0.631, 1)


def test_ratings_that_come_to_nothing_are_no_figures_and_compare_nothing(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id, {"mug": {"MUG-1": 1}}, combination=lists.Combination.MEDIAN)
    for name in ("Ann Ash", "Ben Bell"):
        by = rater(site_id, name)
        with transaction():
            author, mug = author_of(indexing, site_id), search_id(list_id, "mug")
            ratings.rate(author, by, list_id, mug, {"MUG-1": 0})
    for proposal in (None, PINNED, None, PINNED):
        summary = computed(indexing, site_id, list_id, proposal)
        assert (summary.state, summary.ndcg, summary.comparison, summary.moved) == ("done", None, None, ())
    assert runs.past_figures(lists.list_of(site_id, list_id)) == []


def test_the_latest_figures_of_every_list_are_found_at_once(indexing: SearchContext) -> None:
    site_id, other = shop(indexing), shop(indexing, "other.test")
    first = rated_list(indexing, site_id, MUGS)
    second = rated_list(indexing, site_id, {"tea cup": {"CUP-2": 3}}, name="Second")
    computed(indexing, other, rated_list(indexing, other))
    computed(indexing, site_id, first)
    with transaction():
        ben, author = rater(site_id, "Ben Bell"), author_of(indexing, site_id)
        ratings.rate(author, ben, first, search_id(first, "mug"), {"MUG-2": None, "JUG-1": 3})
    indexing.clock.move(seconds=1)  # type: ignore[attr-defined]
    newest = computed(indexing, site_id, first).ndcg
    computed(indexing, site_id, first, PINNED)
    make_list(indexing, site_id, "Empty")
    assert {id: one.ndcg for id, one in runs.latest_figures(site_id).items()} == {first: newest}
    computed(indexing, site_id, second)
    assert sorted(runs.latest_figures(site_id)) == [first, second]


def test_requesting_twice_makes_one_run_of_the_same_change(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, author = rated_list(indexing, site_id), author_of(indexing, site_id)
    with transaction():
        ids = [runs.request(author, list_id, change).id for change in (None, None, PINNED, PINNED)]
    assert ids[0] == ids[1] != ids[2] == ids[3]


def test_a_run_of_another_site_is_not_found(indexing: SearchContext) -> None:
    own, other = shop(indexing), shop(indexing, "other.test")
    list_id = rated_list(indexing, other)
    with transaction():
        run_id = runs.request(author_of(indexing, other), list_id).id
    with pytest.raises(NotFound):
        runs.run_of(indexing.clock, own, list_id, run_id)


# Changes that are not saved


def _change(proposal: Proposal, indexing: SearchContext, site_id: int) -> str | None:
    judgement = preview_change(indexing.engine, indexing.clock, site_id, proposal).judgement
    return judgement and judgement.sentence


def _worst_first(indexing: SearchContext, site_id: int) -> dict[str, dict[str, int]]:
    """Ratings by which the order of mugs is the wrong way round."""
    first, second = _order(indexing, site_id, "mug")
    return {"mug": {first: 0, second: 3}, "tea cup": {"CUP-2": 3}}


def test_a_preview_of_a_rule_says_how_much_better_it_is(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    searches = _worst_first(indexing, site_id)
    best = max(searches["mug"], key=lambda sku: searches["mug"][sku])
    rated_list(indexing, site_id, searches, in_previews=True)
    rule = RuleProposal(Rule("mug", pins=(PinnedSku(best, 1),)))
    found = _change(rule, indexing, site_id)
    assert found == "NDCG@10 of “Top searches”: 0.815 to 1.000, 1 better, 0 worse, 1 unchanged, not significant."


def test_the_preview_is_that_of_the_change_once_it_is_saved(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id, {"mug": {"CUP-1": 3, "MUG-1": 1}}, in_previews=True)
    group = SynonymGroup(SynonymType.EQUIVALENT, None, ("mug", "cup"))
    judgement = preview_change(indexing.engine, indexing.clock, site_id, SynonymProposal(group)).judgement
    assert judgement is not None and judgement.change is not None
    assert judgement.change.after > judgement.change.before
    save_synonym(indexing, site_id, "mug", "cup")
    saved = computed(indexing, site_id, list_id).ndcg
    assert saved is not None and saved.mean == pytest.approx(judgement.change.after)


def test_search_terms_are_judged_in_their_private_copy_of_the_index(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    rated_list(indexing, site_id, {"pitcher": {"JUG-1": 3}}, in_previews=True)
    found = _change(TermsProposal(product_id(site_id, "JUG-1"), ("pitcher",)), indexing, site_id)
    assert found is not None and "0.000 to 1.000, 1 better" in found


def test_a_misspelt_search_is_judged_through_its_correction(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id, {"travell": {"JUG-1": 3, "CUP-1": 1}}, in_previews=True)
    computed(indexing, site_id, list_id)
    group = SynonymGroup(SynonymType.EQUIVALENT, None, ("travel", "jug"))
    found = _change(SynonymProposal(group), indexing, site_id)
    assert found is not None and "1 better" in found


def test_without_a_list_for_previews_or_a_rating_nothing_is_judged(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    rated_list(indexing, site_id)
    assert _change(PINNED, indexing, site_id) is None
    make_list(indexing, site_id, "Empty", in_previews=True)
    assert _change(PINNED, indexing, site_id) is None


def test_a_change_of_very_many_searches_is_left_to_a_worker(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    many = {f"mug {number}": {"MUG-1": 1} for number in range(41)}
    list_id = rated_list(indexing, site_id, many, in_previews=True)
    sentence = "Judging this change by “Top searches” takes a while."
    assert _change(PINNED, indexing, site_id) == sentence, "the figures before it are missing"
    computed(indexing, site_id, list_id)
    assert str(_change(PINNED, indexing, site_id)).endswith("before and after, 0 better, 0 worse, 41 unchanged.")
    ranking = RankingProposal(replace(RankingSettings.DEFAULT, newness=Weight.HIGH))
    assert _change(ranking, indexing, site_id) == sentence
    summary = computed(indexing, site_id, list_id, ranking)
    assert summary.comparison is not None and summary.comparison.same == 41
    assert summary.change.startswith("With ")


def test_a_run_of_a_change_names_the_searches_that_move(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    searches = _worst_first(indexing, site_id)
    best = max(searches["mug"], key=lambda sku: searches["mug"][sku])
    list_id = rated_list(indexing, site_id, searches)
    rule = RuleProposal(Rule("mug", pins=(PinnedSku(best, 1),)))
    summary = computed(indexing, site_id, list_id, rule)
    assert [(one.query, round(one.before, 3), one.after) for one in summary.moved] == [("mug", 0.631, 1)]
    assert summary.comparison is not None and summary.comparison.better == 1
    assert summary.ndcg is None


# Rebuilds


def _rebuilt(indexing: SearchContext, site_id: int) -> str | None:
    indexing.clock.move(seconds=1)  # type: ignore[attr-defined]
    run_id = searching.request(indexing, site_id, "PRODUCTS")
    rebuild(indexing, run_id, judge=partial(guard.hold_back, indexing))
    read_afresh()
    run = latest_run(site_id)
    assert run is not None
    return run.error if run.state == "failed" else None


def _rename_unnoticed(site_id: int, sku: str) -> None:
    """As if the shop's database had been changed past the shop: only a rebuild finds out."""
    with transaction():
        renamed = update(Product).where(Product.site_id == site_id, Product.sku == sku).values(name="Else")
        db.session.execute(renamed, execution_options=INDEXED_SEPARATELY)


def test_a_rebuild_by_which_a_list_falls_too_far_is_blocked(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id, {"water": {"JUG-1": 3}, "tea cup": {"CUP-2": 3}}, largest_drop=400)
    _rename_unnoticed(site_id, "JUG-1")
    assert _rebuilt(indexing, site_id) == (
        "The new index was blocked, since by it the NDCG@10 of the judgement list “Top searches” falls from 1.000 to "
        "0.500, by more than 0.400: 1 search worse, 0 better. Change what made them worse, or let the list allow more, "
        "then rebuild again."
    )
    assert _order(indexing, site_id, "water") == ["JUG-1"], "the live index stays"
    with transaction():
        row = lists.list_of(site_id, list_id)
        draft = lists.ListDraft.of_row(row)
        allows = lists.ListDraft(draft.name, draft.combination, False, 500, draft.pool_size)
        lists.change(author_of(indexing, site_id), list_id, 1, allows)
    assert _rebuilt(indexing, site_id) is None


def test_a_rebuild_by_which_nothing_falls_goes_live(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    rated_list(indexing, site_id, largest_drop=1)
    make_list(indexing, site_id, "Empty", largest_drop=1)
    assert _rebuilt(indexing, site_id) is None


def test_a_list_that_guards_nothing_blocks_nothing(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    rated_list(indexing, site_id, {"water": {"JUG-1": 3}})
    _rename_unnoticed(site_id, "JUG-1")
    assert _rebuilt(indexing, site_id) is None


def test_without_a_live_index_nothing_is_blocked(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    rated_list(indexing, site_id, {"water": {"JUG-1": 3}}, largest_drop=1)
    indexing.engine.forget(site_id)
    _rename_unnoticed(site_id, "JUG-1")
    assert _rebuilt(indexing, site_id) is None


# Real data


@pytest.mark.timeout(1200)  # A slow machine, and another test beside it.
def test_the_ratings_of_a_real_shop_come_to_the_figures_of_the_benchmark(indexing: SearchContext) -> None:
    documents = list(catalogue.documents())
    with transaction():
        site_id = searching.add_site().id
        columns = {"site_id": site_id, "price": 1, "created_at": searching.WHEN, "updated_at": searching.WHEN}
        rows = [columns | {"sku": one.id, "seo_name": one.id, "name": one.name[:200]} for one in documents]
        db.session.execute(insert(Product), rows, execution_options=INDEXED_SEPARATELY)
    build(indexing.engine, documents, site_id)
    expected = judging.judge(lambda words, count: _first(indexing, site_id, words, count))
    list_id = make_list(indexing, site_id)
    text = (relevance_data() / "ratings_completed.csv").read_text()
    report = table.preview(site_id, list_id, text)
    assert (report.count("added"), report.count("refused")) == (2_117, 0)
    with transaction():
        table.apply(author_of(indexing, site_id), list_id, text, report.digest)
    found = computed(indexing, site_id, list_id)
    assert found.ndcg is not None and found.searches == len(expected)
    assert found.ndcg.mean == pytest.approx(sum(one.ndcg for one in expected) / len(expected), abs=1e-9)
    assert round(found.ndcg.mean, 3) >= 0.87


def _first(indexing: SearchContext, site_id: int, words: str, count: int) -> list[str]:
    request = searching.SearchRequest(words=words, per_page=count)
    return [hit.id for hit in indexing.engine.search(site_id, searching.IndexName.PRODUCTS, request).hits]

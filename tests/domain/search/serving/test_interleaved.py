"""Interleaved searches: every page continues the one before, and counts are of all that the pages show."""

from __future__ import annotations

import pytest

from app.domain.search.engine import IndexName, SearchContext, SearchRequest, ValueFilter
from app.domain.search.index.rebuild import rebuild
from app.domain.search.ranking.interleaving import DraftKey, Side
from app.domain.search.ranking.learning import LearnedProduct, LearnedSearch
from app.domain.search.ranking_settings import RankingSettings, SoldOut, Weight
from app.domain.search.serving.interleaved import Contest, Interleaved, search_interleaved
from app.domain.search.serving.plan import Learned, LearningMode, Served, plan
from app.domain.search.serving.query import search_products
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import PinnedSku, Rule
from app.transaction import transaction
from tests.searching import add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")

TENTS = 40
NEWEST_FIRST = Served(ranking=RankingSettings(newness=Weight.HIGH, sold_out=SoldOut.LAST))
PINNED = Served(rules=RuleSet.of([Rule("tent", pins=(PinnedSku("LAMP", 2),), buries=("T-3",))]))


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    with transaction():
        site_id = add_site().id
        for number in range(TENTS):
            tent = add_product(site_id, f"T-{number}", f"Tent {'of canvas ' * (number % 3)}{number}")
            tent.stock = number % 4
        add_product(site_id, "LAMP", "Lamp")
    rebuild(indexing, request(indexing, site_id))
    return site_id


def page(
    indexing: SearchContext,
    site_id: int,
    candidate: Served,
    number: int = 1,
    size: int = 10,
    seed: int = 3,
    **more: object,
) -> Interleaved:
    now = indexing.clock.now()
    search = SearchRequest(words="tent", page=number, per_page=size, facets=("inStock",), **more)  # type: ignore[arg-type]
    contest = Contest(DraftKey(1, seed), candidate, continues=number > 1)
    planned = plan("tent", Served.NOTHING, now)
    return search_interleaved(indexing.engine, site_id, search, planned, frozenset(), contest, now)


def present_order(indexing: SearchContext, site_id: int, served: Served = Served.NOTHING, **more: object) -> list[str]:
    search = SearchRequest(words="tent", per_page=100, **more)  # type: ignore[arg-type]
    planned = plan("tent", served, indexing.clock.now())
    return [hit.id for hit in search_products(indexing.engine, site_id, search, planned).result.hits]


def learned_about(indexing: SearchContext, site_id: int) -> Served:
    """The candidate that has learned to show the last product of the present order first."""
    last = present_order(indexing, site_id)[-1]
    lesson = LearnedSearch((LearnedProduct(int(last[1:]), 1.5, 50, 5),))
    return Served(learned=Learned(LearningMode.ON, {"tent": lesson}))


@pytest.mark.parametrize("size", [4, 10, 24, 30])
@pytest.mark.parametrize("name", ["ranking", "rule", "learning"])
def test_the_pages_show_every_product_once(indexing: SearchContext, site_id: int, size: int, name: str) -> None:
    candidates = {"ranking": NEWEST_FIRST, "rule": PINNED, "learning": learned_about(indexing, site_id)}
    found = TENTS + (name == "rule")
    pages = [page(indexing, site_id, candidates[name], number, size) for number in range(1, -(-found // size) + 1)]
    ids = [hit.id for one in pages for hit in one.result.hits]
    assert len(ids) == len(set(ids)) == found
    assert {one.result.total for one in pages} == {found}, "counts are of what the pages show"
    assert len({one.result.facets["inStock"] for one in pages}) == 1
    drafted = set(ids[: min(24, size)])
    rest = [id for id in present_order(indexing, site_id) if id not in drafted]
    assert ids[min(24, size) :] == rest, "behind the draft the present order goes on"


def test_each_side_keeps_its_order_and_each_seed_its_own_draft(indexing: SearchContext, site_id: int) -> None:
    first = page(indexing, site_id, NEWEST_FIRST)
    assert first.sides is not None
    ours, theirs = present_order(indexing, site_id), present_order(indexing, site_id, NEWEST_FIRST)
    by_side = {
        side: [hit.id for hit, of in zip(first.result.hits, first.sides, strict=True) if of is side] for side in Side
    }
    assert by_side[Side.PRESENT] and by_side[Side.CANDIDATE]
    assert by_side[Side.PRESENT] == [id for id in ours if id in by_side[Side.PRESENT]]
    assert by_side[Side.CANDIDATE] == [id for id in theirs if id in by_side[Side.CANDIDATE]]
    assert page(indexing, site_id, NEWEST_FIRST).result.hits == first.result.hits
    assert page(indexing, site_id, NEWEST_FIRST, seed=2).result.hits != first.result.hits


def test_a_search_that_both_plan_alike_is_not_interleaved(indexing: SearchContext, site_id: int) -> None:
    other = Served(rules=RuleSet.of([Rule("lamp", pins=(PinnedSku("T-1", 1),))]))
    found = page(indexing, site_id, other)
    assert found.sides is None
    assert [hit.id for hit in found.result.hits] == present_order(indexing, site_id)[:10]


def test_a_search_that_is_corrected_is_not_interleaved(indexing: SearchContext, site_id: int) -> None:
    now = indexing.clock.now()
    planned, contest = plan("tnet", Served.NOTHING, now), Contest(DraftKey(1, 3), NEWEST_FIRST)
    search = SearchRequest(words="tnet", per_page=10)
    found = search_interleaved(indexing.engine, site_id, search, planned, frozenset(), contest, now)
    assert found.result.corrected and found.sides is None


def test_pages_stay_within_the_scope(indexing: SearchContext, site_id: int) -> None:
    scope = (ValueFilter("inStock", ("true",)),)
    selling = set(present_order(indexing, site_id, scope=scope))
    pages = [page(indexing, site_id, NEWEST_FIRST, number, scope=scope) for number in (1, 2, 3)]
    ids = [hit.id for one in pages for hit in one.result.hits]
    assert len(ids) == len(selling) and set(ids) == selling
    assert indexing.engine.search(site_id, IndexName.PRODUCTS, SearchRequest(words="tent")).total > len(ids)

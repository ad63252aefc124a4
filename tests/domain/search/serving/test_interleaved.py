"""Interleaved searches: every page continues the one before, and counts are of all that the pages show."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.search.engine import IndexName, SearchContext, SearchEngine, SearchRequest, ValueFilter
from app.domain.search.index.documents import product_documents
from app.domain.search.index.rebuild import rebuild
from app.domain.search.ranking.interleaving import DEPTH, DraftKey, Side
from app.domain.search.ranking.learning import LearnedProduct, LearnedSearch
from app.domain.search.ranking_settings import RankingSettings, SoldOut, Weight
from app.domain.search.serving.interleaved import Contest, Interleaved, search_interleaved
from app.domain.search.serving.plan import Learned, LearningMode, Served, plan
from app.domain.search.serving.product_groups import ProductGroup
from app.domain.search.serving.query import search_products
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import PinnedSku, Rule
from app.domain.search.serving.term_index import Match
from app.transaction import transaction
from tests.adapters.reference_engine import ReferenceEngine
from tests.contracts import search_engine_contract
from tests.examples import examples
from tests.fakes.sentence_model import WordSums
from tests.searching import add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")

TENTS = 40
LAMPS = ("LAMP", "OTHER-LAMP", "THIRD-LAMP", "SOLD-OUT-LAMP")  # A search for tents finds them by their meaning alone.
NEWEST_FIRST = Served(ranking=RankingSettings(newness=Weight.HIGH, sold_out=SoldOut.LAST))
PINNED = Served(rules=RuleSet.of([Rule("tent", pins=(PinnedSku("LAMP", 2),), buries=("T-3",))]))


@pytest.fixture
def site_id(indexing: SearchContext) -> int:
    with transaction():
        site_id = add_site().id
        for number in range(TENTS):
            tent = add_product(site_id, f"T-{number}", f"Tent {'of canvas ' * (number % 3)}{number}")
            tent.stock = number % 4
        for sku in LAMPS:
            add_product(site_id, sku, "Lamp").stock = 0 if sku == "SOLD-OUT-LAMP" else 1
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


# Pins, conditions and meaning


@pytest.fixture
def engine(indexing: SearchContext, site_id: int) -> SearchEngine:
    """An engine of the same products that knows what words mean."""
    engine = ReferenceEngine(WordSums({"lamp": "tent"}))
    search_engine_contract.rebuild(engine, product_documents(site_id), site=site_id)
    return engine


def whole(
    engine: SearchEngine, indexing: SearchContext, site_id: int, ours: Served, candidate: Served, size: int
) -> tuple[list[str], list[Interleaved]]:
    """The SKUs that all pages of an interleaved search show, and the pages."""
    now = indexing.clock.now()
    planned, contest, pages = plan("tent", ours, now), Contest(DraftKey(1, 3), candidate), []
    while not pages or len(pages) * size < pages[0].result.total:
        search = SearchRequest(words="tent", page=len(pages) + 1, per_page=size, facets=("inStock",), patient=True)
        one = replace(contest, continues=bool(pages))
        pages.append(search_interleaved(engine, site_id, search, planned, frozenset(), one, now))
    return [str(hit.card["sku"]) for each in pages for hit in each.result.hits], pages


def order(engine: SearchEngine, indexing: SearchContext, site_id: int, served: Served) -> list[str]:
    search = SearchRequest(words="tent", per_page=100, patient=True)
    found = search_products(engine, site_id, search, plan("tent", served, indexing.clock.now()))
    return [str(hit.card["sku"]) for hit in found.result.hits]


def rules(*each: Rule) -> Served:
    return Served(rules=RuleSet.of([replace(rule, id=number) for number, rule in enumerate(each, 1)]))


def assert_complete(skus: list[str], pages: list[Interleaved], size: int) -> None:
    assert len(skus) == len(set(skus)), "no product stands twice"
    assert {one.result.total for one in pages} == {len(skus)}, "counts are of what the pages show"
    assert {len(one.result.hits) for one in pages[:-1]} <= {size}
    assert len({one.result.facets["inStock"] for one in pages}) == 1
    assert pages[0].sides is not None and len(pages[0].sides) == min(DEPTH, len(pages[0].result.hits))


@pytest.mark.parametrize(("position", "size"), [(9, 10), (20, 24), (20, 30), (25, 24), (2, 4), (4, 4)])
def test_a_product_that_both_pin_stands_at_its_position(
    indexing: SearchContext, site_id: int, position: int, size: int
) -> None:
    last = tuple(order(indexing.engine, indexing, site_id, Served.NOTHING)[-15:])
    pin, boost = Rule("tent", pins=(PinnedSku("LAMP", position),)), Rule("tent", match=Match.CONTAINS, boosts=last)
    skus, pages = whole(indexing.engine, indexing, site_id, rules(pin), rules(pin, boost), size)
    assert_complete(skus, pages, size)
    assert len(skus) == TENTS + 1 and skus.index("LAMP") == position - 1
    sides = pages[0].sides or ()
    assert {Side.PRESENT, Side.CANDIDATE} <= set(sides)
    assert position > len(sides) or sides[position - 1] is None, "no side placed what both pin"


@pytest.mark.parametrize(("position", "is_drafted"), [(3, True), (8, False)])
def test_a_product_that_the_present_rule_alone_pins_is_drafted_or_stands_at_its_position(
    indexing: SearchContext, site_id: int, position: int, is_drafted: bool
) -> None:
    last = tuple(order(indexing.engine, indexing, site_id, Served.NOTHING)[-15:])
    pin, boost = Rule("tent", pins=(PinnedSku("LAMP", position),)), Rule("tent", boosts=last)
    skus, pages = whole(indexing.engine, indexing, site_id, rules(pin), rules(boost), 10)
    assert_complete(skus, pages, 10)
    assert pages[0].sides is not None
    if is_drafted:
        assert pages[0].sides[skus.index("LAMP")] is Side.PRESENT
    else:
        assert skus.index("LAMP") == position - 1 and pages[0].sides[position - 1] is None


def random_rule(chance: random.Random) -> Rule:
    skus = [*LAMPS, "UNKNOWN", *(f"T-{number}" for number in range(TENTS))]
    chosen = [*chance.sample(skus, 8), *chance.sample([*LAMPS, "UNKNOWN"], 3)]
    chosen = list(dict.fromkeys(chosen))
    positions = chance.sample(chance.choice((range(1, 9), range(1, 30), range(1, 60))), len(chosen[:5]) + 1)
    pins = [PinnedSku(sku, at) for sku, at in zip(chance.sample(chosen, len(chosen)), positions, strict=False)]
    group = ProductGroup(stock=chance.choice(("in", "out")))
    return Rule(
        "tent",
        match=chance.choice((Match.EXACT, Match.STARTS_WITH, Match.CONTAINS)),
        pins=tuple(pins[: chance.randint(0, len(pins))]),
        boosts=tuple(chance.sample(skus, chance.choice((0, 12)))),
        buries=tuple(chance.sample(skus, chance.choice((0, 3)))),
        boost_groups=(group,) if chance.random() < 0.3 else (),
        bury_groups=(group,) if chance.random() < 0.2 else (),
    )


def random_sides(chance: random.Random) -> tuple[Served, Served]:
    """What is served, and a candidate: another rule or one less, another ranking, or meaning switched the other way."""
    hidden = SoldOut.HIDDEN if chance.random() < 0.2 else SoldOut.AS_IS
    common = replace(
        rules(*(random_rule(chance) for _ in range(chance.randint(0, 2)))),
        ranking=RankingSettings(sold_out=hidden),
        by_meaning=chance.random() < 0.5,
    )
    more = RuleSet.of([*common.rules.rules, replace(random_rule(chance), id=9)])
    with_rule = replace(common, rules=more)
    candidates = {
        "rule": with_rule,
        "ranking": replace(common, ranking=replace(common.ranking, newness=Weight.HIGH, stock=Weight.HIGH)),
        "meaning": replace(common, by_meaning=not common.by_meaning),
    }
    name = chance.choice((*candidates, "rule paused"))
    return (with_rule, common) if name == "rule paused" else (common, candidates[name])


def standing(served: Served, indexing: SearchContext) -> dict[str, int]:
    return {pin.sku: pin.position for pin in plan("tent", served, indexing.clock.now()).applied.pins}


@settings(max_examples=examples(160), deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1 << 32), size=st.sampled_from((3, 7, 10, 24, 30, 60)))
def test_pages_of_any_two_sides_show_every_product_once_and_pins_in_their_places(
    engine: SearchEngine, indexing: SearchContext, site_id: int, seed: int, size: int
) -> None:
    ours, candidate = random_sides(random.Random(seed))
    skus, pages = whole(engine, indexing, site_id, ours, candidate, size)
    present = order(engine, indexing, site_id, ours)
    if pages[0].sides is None:
        assert skus == present
        return
    assert_complete(skus, pages, size)
    depth = min(DEPTH, size)
    assert set(present) <= set(skus) <= {*present, *order(engine, indexing, site_id, candidate)[:depth]}
    pins, theirs = standing(ours, indexing), standing(candidate, indexing)
    for sku, position in pins.items():
        if sku in present and (theirs.get(sku) == position or sku not in skus[:depth]):
            assert skus.index(sku) + 1 == position or skus.index(sku) >= len(skus) - len(pins)
            assert position > depth or sku in skus[:depth], "it stands on its own page"
    drafted = {*skus[:depth], *pins}
    assert [sku for sku in skus[depth:] if sku not in drafted] == [sku for sku in present if sku not in drafted]

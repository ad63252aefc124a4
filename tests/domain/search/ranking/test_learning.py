"""What shoppers open for a search is learned as it is, whatever stood on top, and nobody alone can teach the shop."""

from __future__ import annotations

import random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.ranking import learning
from app.domain.search.ranking.learning import (
    LAST_PLACE,
    LEVEL_LIFT,
    LIFT,
    WINDOW,
    LearnedSearch,
    ProductCount,
    examination,
    learn,
)
from tests.click_model import (
    DAYS,
    Counts,
    Examination,
    Product,
    bot_farm,
    by_clicks,
    catalogue,
    ndcg,
    ordered,
    shoppers,
)

SEEDS = range(6)


def steeper(place: int) -> float:
    """Shoppers who look at less than the rule believes."""
    return 1 / min(place, LAST_PLACE)


def flatter(place: int) -> float:
    return float(examination(place) ** 0.7)


@pytest.mark.parametrize("looks_at", [examination, steeper, flatter])
def test_the_known_relevance_of_a_click_model_is_recovered(looks_at: Examination) -> None:
    starts, naive, learned = [], [], []
    for seed in SEEDS:
        dice = random.Random(seed)
        products = catalogue(dice)
        counts = shoppers(dice, products, looks_at, a_day=100)
        starts.append(ndcg(ordered(products)))
        naive.append(ndcg(by_clicks(products, counts.naive())))
        learned.append(ndcg(ordered(products, counts.learned(products))))
    assert mean(learned) > mean(naive) > mean(starts)
    assert mean(learned) > mean(starts) + 0.2


def test_learning_from_what_learning_shows_gets_better_and_not_stuck() -> None:
    dice = random.Random(1)
    products = catalogue(dice)
    counts = shoppers(dice, products, examination, shown=lambda _, so_far: ordered(products, so_far.learned(products)))
    assert ndcg(ordered(products, counts.learned(products))) > ndcg(ordered(products)) + 0.2


@pytest.mark.parametrize(
    ("days", "a_day"),
    [
        (range(1), 50_000),
        (range(14), 2_000),
        *((range(days), networks) for days in (5, 30, DAYS) for networks in (1,)),
    ],
    ids=lambda value: f"{len(value)} days" if isinstance(value, range) else f"{value} networks",
)
def test_a_bot_farm_moves_nothing(days: range, a_day: int) -> None:
    for seed in SEEDS:
        dice = random.Random(seed)
        products = catalogue(dice)
        counts = shoppers(dice, products, examination)
        unopened = ordered(products)[-1]
        counts.forget(unopened)
        before = ordered(products, counts.learned(products))
        bot_farm(counts, unopened, days, a_day)
        learned = counts.learned(products)
        assert unopened.id not in {one.product_id for one in learned.products}
        assert ordered(products, learned) == before


def test_a_busy_week_of_bots_adds_little_to_what_shoppers_do_open() -> None:
    dice = random.Random(2)
    products = catalogue(dice)
    counts = shoppers(dice, products, examination)
    weak = min(counts.learned(products).products, key=lambda one: one.factor)
    bot_farm(counts, products[weak.product_id - 1], range(1), 50_000)
    after = {one.product_id: one.factor for one in counts.learned(products).products}
    assert after.get(weak.product_id, 1) < weak.factor + 0.2


def test_what_one_network_opens_day_after_day_moves_no_level_either() -> None:
    counts = Counts()
    for product_id in range(1, 20):
        bot_farm(counts, Product(product_id, 1, 1), range(DAYS), 1)
    assert not counts.learned([Product(id, 1, 1) for id in range(1, 20)])


def test_one_network_neither_adds_much_to_what_others_open_nor_takes_from_it() -> None:
    counts = Counts()
    for day in range(28):
        counts.open(1, day, 1, 10)
        counts.open(2, day, 1, 10)
    bot_farm(counts, Product(1, 1, 1), range(DAYS), 1, place=1)
    factors = [one.factor for one in counts.learned([Product(1, 1, 1), Product(2, 1, 1, "other")]).products]
    assert 0 <= factors[0] - factors[1] < 0.1


def test_a_farm_of_two_networks_that_goes_on_for_weeks_earns_little_beside_shoppers() -> None:
    """It is not told from shoppers (docs/adr/0048): who opened a product is not known after the day."""
    counts, farmed = Counts(), Product(2, 1, 1)
    for day in range(DAYS):
        counts.open(1, day, 1, 30)
    bot_farm(counts, farmed, range(DAYS), 2, place=1)
    factors = {one.product_id: one.factor for one in counts.learned([Product(1, 1, 1), farmed]).products}
    assert 1 < factors[2] < 1.1 < 1.4 < factors[1]


@pytest.mark.parametrize(("weeks", "a_week"), [(learning.FEWEST_WEEKS - 1, 500), (WINDOW, learning.FEWEST_A_WEEK - 1)])
def test_few_weeks_or_few_visits_teach_nothing(weeks: int, a_week: int) -> None:
    counts = Counts()
    for age in range(weeks):
        counts.open(1, 7 * age, 1, a_week)
    assert not counts.learned([Product(1, 1, 1)])


def test_more_evidence_earns_more_of_the_lift_and_never_all_of_it() -> None:
    factors = []
    for a_day in (3, 10, 500):
        counts = Counts()
        for age in range(30):
            counts.open(1, age, 1, a_day)
        factors.append(counts.learned([Product(1, 1, 1)]).products[0].factor)
    assert 1.2 < factors[0] < factors[1] < factors[2] < 1 + LIFT


def test_a_purchase_counts_more_than_an_open_and_lately_more_than_long_ago() -> None:
    counts = Counts()
    for day in range(21):
        counts.open(1, day, 1, 3, bought=1)
        counts.open(2, day, 1, 3)
        counts.open(3, day + 28, 1, 3)
    learned = counts.learned([Product(id, 1, 1) for id in (1, 2, 3)])
    assert [(one.product_id, one.opens, one.bought) for one in learned.products] == [
        (1, 63, 21),
        (2, 63, 0),
        (3, 63, 0),
    ]


def test_a_level_is_learned_from_several_of_its_products() -> None:
    counts = Counts()
    for day in range(20):
        counts.open(1, day, 1, 4)
        counts.open(2, day, 2, 3)
        counts.open(3, day, 3, 3)
    products = [Product(1, 1, 1, "laptops"), Product(2, 1, 1, "laptops"), Product(3, 1, 1, "bags")]
    [level] = counts.learned(products).levels
    assert (level.level_id, level.opens) == ("laptops", 140) and 1 < level.factor < 1 + LEVEL_LIFT


def test_a_product_that_is_no_longer_shown_is_left_out() -> None:
    counts = Counts()
    for day in range(20):
        counts.open(1, day, 1, 3)
    assert counts.learned([Product(1, 1, 1)]) and not counts.learned([Product(2, 1, 1)])


def test_without_counts_nothing_is_learned() -> None:
    assert learn([], {}) == LearnedSearch() and not LearnedSearch()


@given(
    st.lists(
        st.builds(
            ProductCount,
            st.integers(1, 30),
            st.integers(-1, WINDOW + 5),
            st.integers(0, 1_000),
            st.floats(0, 5_000),
            st.integers(0, 50),
        ),
        max_size=60,
    ),
)
def test_whatever_was_counted_factors_stay_within_their_bounds(counts: list[ProductCount]) -> None:
    learned = learn(counts, {id: str(id % 3) for id in range(1, 31)})
    assert all(1 < one.factor <= 1 + LIFT for one in learned.products)
    assert all(1 < one.factor <= 1 + LEVEL_LIFT for one in learned.levels)
    assert len(learned.products) <= learning.MOST_PRODUCTS and len(learned.levels) <= learning.MOST_LEVELS

"""What an engine must do with the ranking settings: sales, newness, stock and sold-out products."""

from __future__ import annotations

import pytest

from app.domain.relevance.explanation import with_evidence
from app.domain.search.engine import Delete, Pin, SearchEngine, SearchRequest, Sort
from app.domain.search.ranking.learning import LearnedLevel, LearnedProduct, LearnedSearch
from app.domain.search.ranking.scoring import CREATED, KIND, LOW_STOCK, SALES, SECONDS_A_DAY
from app.domain.search.ranking_settings import RankingSettings, SoldOut, Weight
from app.domain.search.serving.plan import factors_of
from tests.contracts.search_engine_contract import PRODUCTS, SITE, apply, found, rebuild, shoe

TODAY = 20_000
ON_SALE = {"values": {"inStock": ("true",)}}
LAST = RankingSettings(sold_out=SoldOut.LAST)


def mug(number: int, *, sold: int = 0, left: int | None = None, days: int = 400, sold_out: bool = False) -> object:
    made = shoe(number, "Blue mug", **({} if sold_out else ON_SALE))
    made.numbers[CREATED] = float((TODAY - days) * SECONDS_A_DAY)  # type: ignore[index]
    made.numbers.update({SALES: float(sold)} if sold else {})  # type: ignore[attr-defined]
    made.numbers.update({LOW_STOCK: float(left)} if left else {})  # type: ignore[attr-defined]
    return made


def ranked(engine: SearchEngine, words: str = "blue mug", **given: object) -> list[str]:
    return found(engine, words, day=TODAY, **given)


class RankingContract:
    @pytest.fixture
    def mugs(self, engine: SearchEngine) -> SearchEngine:
        """P1 is sold out, P2 is nearly so, P3 is new, P4 sells best and P5 sells some."""
        documents = [
            mug(1, sold_out=True),
            mug(2, left=3),
            mug(3, days=2),
            mug(4, sold=200),
            mug(5, sold=9),
        ]
        rebuild(engine, documents)  # type: ignore[arg-type]
        return engine

    def test_the_defaults_change_no_score(self, mugs: SearchEngine) -> None:
        plain = mugs.search(SITE, PRODUCTS, SearchRequest(words="blue mug", explain=True))
        assert plain == mugs.search(
            SITE, PRODUCTS, SearchRequest(words="blue mug", ranking=RankingSettings(), day=TODAY, explain=True)
        )
        assert {part.kind for hit in plain.hits for part in hit.explanation.parts} <= {"word", "side_by_side"}  # type: ignore[union-attr]

    def test_a_product_is_told_the_opens_of_its_own_level(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(n, "Blue mug", values={KIND: ("root", level)}) for n, level in enumerate("AABC", 1)])
        learned = LearnedSearch(
            (LearnedProduct(2, 1.31, 77, 0),), (LearnedLevel("A", 1.2, 500), LearnedLevel("B", 1.0513, 21))
        )
        for words in ("blue mug", "mug"):
            request = SearchRequest(words=words, learned=factors_of(learned), explain=True)
            hits = engine.search(SITE, PRODUCTS, request).hits
            parts = {hit.id.lower(): hit.explanation.parts for hit in hits}  # type: ignore[union-attr]
            opens = {id: {one.kind: one.opens for one in with_evidence(own, id, learned)} for id, own in parts.items()}
            of_level = {id: of_id.get("learned_level") for id, of_id in opens.items()}
            assert of_level == {"p1": 500, "p2": 500, "p3": 21, "p4": None}

    def test_what_sells_comes_first_and_twice_as_much_is_not_twice_as_good(self, mugs: SearchEngine) -> None:
        sales = RankingSettings(sales=Weight.HIGH)
        assert ranked(mugs, ranking=sales)[:2] == ["P4", "P5"]
        scores = {
            hit.id: hit.score for hit in mugs.search(SITE, PRODUCTS, SearchRequest(words="mug", ranking=sales)).hits
        }
        assert scores["P4"] == pytest.approx(1.3 * scores["P1"], rel=1e-4)
        assert 1.1 * scores["P1"] < scores["P5"] < 1.15 * scores["P1"]

    def test_a_best_seller_that_is_gone_measures_nobody(self, mugs: SearchEngine) -> None:
        apply(mugs, Delete("P4"))
        request = SearchRequest(words="mug", ranking=RankingSettings(sales=Weight.HIGH))
        scores = {hit.id: hit.score for hit in mugs.search(SITE, PRODUCTS, request).hits}
        assert scores["P5"] == pytest.approx(1.3 * scores["P1"], rel=1e-4)

    def test_what_is_new_and_what_is_in_stock_come_first(self, mugs: SearchEngine) -> None:
        assert ranked(mugs, ranking=RankingSettings(newness=Weight.LOW))[0] == "P3"
        assert ranked(mugs, ranking=RankingSettings(stock=Weight.LOW))[-2:] == ["P2", "P1"]

    def test_an_index_that_knows_of_no_sales_answers_as_before(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Blue mug"), shoe(2, "Mug")])
        request = SearchRequest(words="mug", ranking=RankingSettings(sales=Weight.HIGH), explain=True)
        assert engine.search(SITE, PRODUCTS, request) == engine.search(
            SITE, PRODUCTS, SearchRequest(words="mug", explain=True)
        )

    def test_a_much_better_match_stays_ahead_whatever_counts(self, engine: SearchEngine) -> None:
        best = shoe(1, "Blue mug")
        worse = shoe(2, "Kettle", description="Goes with a blue mug", **ON_SALE)
        worse.numbers.update({SALES: 999.0, CREATED: float(TODAY * SECONDS_A_DAY)})  # type: ignore[attr-defined]
        rebuild(engine, [best, worse])
        most = RankingSettings(SoldOut.AS_IS, Weight.HIGH, Weight.HIGH, Weight.HIGH)
        assert ranked(engine, ranking=most) == ["P1", "P2"]

    def test_each_signal_is_a_part_of_the_score(self, mugs: SearchEngine) -> None:
        every = RankingSettings(SoldOut.LAST, Weight.HIGH, Weight.LOW, Weight.MEDIUM)
        why = mugs.explain(SITE, PRODUCTS, SearchRequest(words="mug", ranking=every, day=TODAY), "P4")
        assert {part.kind for part in why.parts} >= {"sales", "newness", "stock"}
        assert sum(part.worth for part in why.parts) == pytest.approx(why.score, rel=1e-4)

    def test_sold_out_products_come_last_by_relevance_and_nothing_else_moves(self, mugs: SearchEngine) -> None:
        before = ranked(mugs)
        after = ranked(mugs, ranking=LAST)
        assert after == [*(id for id in before if id != "P1"), "P1"]
        why = mugs.explain(SITE, PRODUCTS, SearchRequest(words="blue mug", ranking=LAST), "P1")
        assert (why.placed, why.rank) == ("sold_out", 5)
        pages = [found(mugs, "mug", ranking=LAST, page=page, per_page=2) for page in (1, 2, 3)]
        assert [id for page in pages for id in page] == found(mugs, "mug", ranking=LAST)

    def test_what_lacks_some_of_the_words_stays_behind_what_is_sold_out(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Blue mug"), shoe(2, "Green mug", **ON_SALE), shoe(3, "Red mug")])
        assert ranked(engine, ranking=LAST) == ["P1", "P2", "P3"]

    def test_an_order_that_a_shopper_chose_stays(self, mugs: SearchEngine) -> None:
        for sort in (Sort.PRICE_ASC, Sort.PRICE_DESC, Sort.NEWEST, Sort.NAME):
            assert ranked(mugs, sort=sort, ranking=LAST) == ranked(mugs, sort=sort)

    def test_a_rule_goes_before(self, mugs: SearchEngine) -> None:
        assert ranked(mugs, ranking=LAST, pins=(Pin("P1", 2),))[1] == "P1"
        assert ranked(mugs, ranking=LAST, boosts=("P1",))[0] == "P1"
        assert ranked(mugs, ranking=LAST, buries=("P3",))[-2:] == ["P1", "P3"]

    def test_a_category_lists_them_last_but_for_those_placed_by_hand(self, mugs: SearchEngine) -> None:
        for sort in (Sort.FEATURED, Sort.RELEVANCE):
            assert ranked(mugs, "", sort=sort, ranking=LAST)[-1] == "P1"
            assert ranked(mugs, "", sort=sort, ranking=LAST, first=("P1",))[0] == "P1"
            assert ranked(mugs, "", sort=sort, ranking=LAST, last=("P3",))[-2:] == ["P1", "P3"]

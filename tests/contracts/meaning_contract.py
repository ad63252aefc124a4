"""What every engine that knows meanings does with them. `WordSums` lets words that mean the same lie on one point."""

from __future__ import annotations

import pytest

from app.domain.search.engine import (
    Alternatives,
    Delete,
    Explanation,
    IndexDocument,
    IndexName,
    Pin,
    PlacedGroup,
    RangeCount,
    RangeFilter,
    SearchEngine,
    SearchRequest,
    SearchResult,
    Sort,
    Upsert,
    ValueFilter,
)
from app.domain.search.ranking.scoring import BEST_BY_MEANING, BEST_BY_WORDS, MOST_SIMILAR, NEAREST_OF_ALL
from app.domain.search.ranking_settings import RankingSettings, SoldOut
from tests.contracts.search_engine_contract import PRODUCTS, SITE, apply, rebuild
from tests.fakes.sentence_model import WordSums

MEANINGS = {
    "couch": "sofa",
    "settee": "sofa",
    "divan": "sofa",
    "furniture": "sofa",
    "computer": "laptop",
    "notebook": "laptop",
}


def thing(number: int, name: str, **given: object) -> IndexDocument:
    values = {"colour": (str(given.pop("colour", "Red")),)}
    description, names = str(given.pop("description", "")), tuple(given.pop("names", ()))  # type: ignore[call-overload]
    return IndexDocument(
        id=f"T{number}",
        name=name,
        kind_names=names,
        description=description,
        codes=(f"AB-{number}",),
        values=values,
        numbers={"price": float(number)},
        card={"name": name},
        digest=f"{number} {name}",
    )


THINGS = (
    thing(1, "Cover", description="For a computer, a computer, a computer"),
    thing(2, "Notebook", description="A computer"),
    thing(3, "Couch"),
    thing(4, "Settee", colour="Blue"),
    thing(5, "Teapot"),
)
DIVAN = thing(6, "Divan", names=("Divan",))  # Its level is named by the word, so that meaning adds nothing to it.


def model() -> WordSums:
    return WordSums(MEANINGS)


def answer(engine: SearchEngine, words: str, **query: object) -> SearchResult:
    request = SearchRequest(words=words, by_meaning=True, **{"similar_below": 24, **query})  # type: ignore[arg-type]
    return engine.search(SITE, PRODUCTS, request)


def ids(result: SearchResult) -> list[str]:
    return [hit.id for hit in result.hits]


def similar(result: SearchResult) -> list[str]:
    return [hit.id for hit in result.similar]


def explained(engine: SearchEngine, words: str, id: str, **query: object) -> Explanation:
    request = SearchRequest(words=words, by_meaning=True, **query)  # type: ignore[arg-type]
    return engine.explain(SITE, PRODUCTS, request, id)


class MeaningContract:
    @pytest.fixture
    def taught(self, engine_with_model: SearchEngine) -> SearchEngine:
        rebuild(engine_with_model, THINGS)
        return engine_with_model

    def test_what_the_words_find_is_ordered_by_meaning_as_well(self, taught: SearchEngine):
        plain = taught.search(SITE, PRODUCTS, SearchRequest(words="computer"))
        assert ids(plain) == ["T1", "T2"]
        result = answer(taught, "computer")
        assert ids(result) == ["T2", "T1"]
        assert (result.total, result.full_matches) == (2, 2)

    def test_the_score_is_points_by_words_and_by_meaning(self, taught: SearchEngine):
        result = answer(taught, "computer")
        assert result.hits[0].score == pytest.approx(BEST_BY_WORDS * 61 / 62 + BEST_BY_MEANING)
        assert result.hits[1].score == pytest.approx(BEST_BY_WORDS, abs=BEST_BY_MEANING)

    def test_an_explanation_names_meaning_and_sums_up_to_the_score(self, taught: SearchEngine):
        for place, hit in enumerate(answer(taught, "computer", explain=True).hits, 1):
            for why in (hit.explanation, explained(taught, "computer", hit.id)):
                assert why is not None
                assert why.rank == place
                assert why.score == pytest.approx(hit.score)
                assert sum(part.worth for part in why.parts) == pytest.approx(hit.score)
        assert "meaning" in {part.kind for part in explained(taught, "computer", "T2").parts}

    def test_pins_boosts_and_buries_stand_where_they_are_put(self, taught: SearchEngine):
        assert ids(answer(taught, "computer", boosts=("T1",))) == ["T1", "T2"]
        assert ids(answer(taught, "computer", buries=("T2",))) == ["T1", "T2"]
        assert ids(answer(taught, "computer", pins=(Pin("T5", 1),))) == ["T5", "T2", "T1"]
        assert explained(taught, "computer", "T5", pins=(Pin("T5", 1),)).parts == ()

    def test_another_order_than_relevance_stays(self, taught: SearchEngine):
        assert ids(answer(taught, "computer", sort=Sort.PRICE_ASC)) == ["T1", "T2"]

    def test_pages_lose_and_repeat_nothing(self, engine_with_model: SearchEngine):
        rebuild(engine_with_model, [thing(n, f"{('Couch', 'Settee')[n % 2]} sofa number{n % 7}") for n in range(60)])
        whole = ids(answer(engine_with_model, "sofa", per_page=100))
        pages = (answer(engine_with_model, "sofa", per_page=7, page=page) for page in range(1, 10))
        assert [id for page in pages for id in ids(page)] == whole
        assert len(set(whole)) == 60

    def test_a_filter_leaves_the_order(self, engine_with_model: SearchEngine):
        colours = ("Red", "Blue")
        rebuild(engine_with_model, [thing(n, f"sofa couch{n % 3}", colour=colours[n % 2]) for n in range(20)])
        whole = ids(answer(engine_with_model, "sofa"))
        reds = ids(answer(engine_with_model, "sofa", filters=(ValueFilter("colour", ("Red",)),)))
        assert reds == [id for id in whole if int(id[1:]) % 2 == 0]

    def test_what_lacks_words_stays_behind_what_has_them_all(self, engine_with_model: SearchEngine):
        whole = thing(1, "steel rack kit extra large black deluxe garden pro")
        near = [thing(n, "steel kit" if n < 12 else "rack kit") for n in range(2, 20)]
        rebuild(engine_with_model, [*near, whole])
        result = answer(engine_with_model, "steel rack kit")
        assert (ids(result)[0], result.full_matches, result.relaxed) == ("T1", 1, True)
        assert explained(engine_with_model, "steel rack kit", "T1").rank == 1
        assert ids(answer(engine_with_model, "steel rack kit", per_page=1, page=2)) == ids(result)[1:2]
        last = RankingSettings(SoldOut.LAST)
        assert ids(answer(engine_with_model, "steel rack kit", ranking=last)) == ids(result)

    def test_alternatives_stay_behind_the_words_themselves(self, engine_with_model: SearchEngine):
        own = [thing(n, "Sofa" + " of summer house garden" * n) for n in range(1, 7)]
        others = [thing(n, "Divan") for n in range(7, 47)]
        rebuild(engine_with_model, [*others, *own])
        widened = (Alternatives(0, 1, (("divan",),)),)
        assert set(ids(answer(engine_with_model, "sofa", alternatives=widened))[:6]) == {d.id for d in own}

    def test_meaning_adds_what_the_words_do_not_find(self, taught: SearchEngine):
        result = answer(taught, "settee", facets=("colour",), range_facets=("price",))
        assert (ids(result), similar(result)) == (["T4", "T3"], [])
        assert (result.total, result.full_matches, result.by_meaning_alone, result.relaxed) == (2, 1, 1, False)
        assert dict(result.facets) == {"colour": (("Blue", 1), ("Red", 1))}
        assert result.ranges["price"] == RangeCount(3, 4, 2)

    def test_meaning_finds_what_no_word_does(self, taught: SearchEngine):
        result = answer(taught, "furniture", correct=False)
        assert (result.total, set(ids(result)), similar(result)) == (2, {"T3", "T4"}, [])
        assert (result.full_matches, result.by_meaning_alone, result.relaxed) == (0, 2, False)
        assert result.hits[0].card == {"name": "Couch"}

    def test_what_lies_far_off_is_not_found(self, taught: SearchEngine):
        assert ids(answer(taught, "teapot")) == ["T5"]
        assert (answer(taught, "zzqq").total, similar(answer(taught, "zzqq"))) == (0, [])

    def test_what_meaning_adds_keeps_to_scope_filters_and_buries(self, taught: SearchEngine):
        blue = (ValueFilter("colour", ("Blue",)),)
        assert ids(answer(taught, "furniture", correct=False, scope=blue)) == ["T4"]
        filtered = answer(taught, "furniture", correct=False, filters=blue, facets=("colour",))
        assert (ids(filtered), filtered.total, filtered.by_meaning_alone) == (["T4"], 1, 1)
        assert dict(filtered.facets) == {"colour": (("Blue", 1), ("Red", 1))}
        assert ids(answer(taught, "furniture", correct=False, buries=("T3",))) == ["T4", "T3"]

    def test_a_pin_that_meaning_finds_counts_once(self, taught: SearchEngine):
        result = answer(taught, "settee", pins=(Pin("T3", 1),))
        assert (ids(result), result.total) == (["T3", "T4"], 2)

    @pytest.mark.parametrize("words", ["settee", "settee lamp", "furniture"])
    def test_no_boost_lifts_what_meaning_alone_finds(self, taught: SearchEngine, words: str):
        """Of T3 and T4 the latter has the first word, and neither has the others."""
        plain, colours = ids(answer(taught, words, correct=False)), (ValueFilter("colour", ("Red", "Blue")),)
        last = float(plain[-1][1:])
        named = {"boosts": (plain[-1],)}
        grouped = {"groups": (PlacedGroup(True, ranges=(RangeFilter("price", last, last),)),)}
        assert set(plain) == {"T3", "T4"}
        for placed in (named, grouped, named | grouped | {"filters": colours}):
            assert ids(answer(taught, words, correct=False, **placed)) == plain
            for place, id in enumerate(plain, 1):
                why = explained(taught, words, id, correct=False, **placed)
                assert (why.rank, why.placed) == (place, None)
            pages = [answer(taught, words, correct=False, per_page=1, page=page, **placed) for page in (1, 2, 3)]
            assert [id for page in pages for id in ids(page)] == plain

    def test_what_has_the_words_is_boosted_before_what_meaning_finds(self, taught: SearchEngine):
        apply(taught, Upsert(thing(7, "Settee with a long cover for summer", colour="Green")))
        green, others = ValueFilter("colour", ("Green",)), (PlacedGroup(True, (ValueFilter("colour", ("Red",)),)),)
        assert ids(answer(taught, "settee"))[0] == "T4"
        assert ids(answer(taught, "settee", boosts=("T3", "T7")))[0] == "T7"
        assert ids(answer(taught, "settee", groups=(*others, PlacedGroup(True, (green,)))))[0] == "T7"

    def test_what_meaning_alone_finds_is_buried_although_it_is_boosted_too(self, taught: SearchEngine):
        cheap = (RangeFilter("price", high=3),)
        apply(taught, Upsert(thing(7, "Divan", colour="Green")))
        buried = {"groups": (PlacedGroup(True, ranges=cheap), PlacedGroup(False, ranges=cheap))}
        for placed in ({"boosts": ("T3",), "buries": ("T3",)}, buried):
            assert ids(answer(taught, "settee", **placed)) == ["T4", "T7", "T3"]
            assert explained(taught, "settee", "T3", **placed).placed == "buried"

    def test_other_orders_list_what_meaning_adds(self, taught: SearchEngine):
        assert ids(answer(taught, "settee", sort=Sort.PRICE_ASC)) == ["T3", "T4"]
        assert ids(answer(taught, "furniture", correct=False, sort=Sort.PRICE_DESC)) == ["T4", "T3"]

    def test_an_explanation_says_what_is_found_by_meaning_alone(self, taught: SearchEngine):
        why = explained(taught, "settee", "T3")
        assert (why.rank, why.by_meaning_alone, why.missing_words) == (2, True, ("settee",))
        assert [part.kind for part in why.parts] == ["meaning"]
        assert why.score == pytest.approx(why.parts[0].worth)
        assert not explained(taught, "settee", "T4").by_meaning_alone
        assert explained(taught, "settee", "T3", sort=Sort.NAME).by_meaning_alone

    def test_what_meaning_adds_stands_behind_what_has_all_words_where_sold_out_is_last(self, taught: SearchEngine):
        sold_out_last = RankingSettings(SoldOut.LAST)
        assert ids(answer(taught, "settee", ranking=sold_out_last)) == ["T4", "T3"]

    def test_meaning_adds_a_hundred_and_pages_show_each_once(self, engine_with_model: SearchEngine):
        rebuild(engine_with_model, [thing(n, "Couch" if n < 130 else "Settee") for n in range(140)])
        whole = answer(engine_with_model, "settee", per_page=200, facets=("colour",))
        assert (whole.total, whole.full_matches) == (len(whole.hits), 10)
        assert whole.by_meaning_alone == whole.total - 10 <= NEAREST_OF_ALL
        assert dict(whole.facets) == {"colour": (("Red", whole.total),)}
        pages = (answer(engine_with_model, "settee", per_page=24, page=page) for page in range(1, 7))
        assert [id for page in pages for id in ids(page)] == ids(whole)
        assert len(set(ids(whole))) == whole.total

    def test_words_that_name_a_level_find_what_has_them(self, taught: SearchEngine):
        apply(taught, Upsert(DIVAN))
        result = answer(taught, "divan", facets=("colour",))
        assert (ids(result), set(similar(result))) == (["T6"], {"T3", "T4"})
        assert (result.total, result.by_meaning_alone) == (1, 0)
        assert dict(result.facets) == {"colour": (("Red", 1),)}

    def test_similar_products_keep_to_scope_filters_and_buries(self, taught: SearchEngine):
        apply(taught, Upsert(DIVAN))
        blue, colours = (ValueFilter("colour", ("Blue",)),), (ValueFilter("colour", ("Blue", "Red")),)
        assert similar(answer(taught, "divan", filters=blue)) == ["T4"]
        assert set(similar(answer(taught, "divan", scope=colours))) == {"T3", "T4"}
        assert similar(answer(taught, "divan", buries=("T4",))) == ["T3"]

    def test_similar_products_leave_out_what_a_group_buries_first(self, taught: SearchEngine):
        apply(taught, Upsert(DIVAN))
        blues, cheap = PlacedGroup(False, (ValueFilter("colour", ("Blue",)),)), (RangeFilter("price", high=4),)
        assert similar(answer(taught, "divan", groups=(blues,))) == ["T3"]
        assert similar(answer(taught, "divan", groups=(PlacedGroup(False, excluded=blues.values),))) == ["T4"]
        assert similar(answer(taught, "divan", groups=(PlacedGroup(False, ranges=cheap),))) == []
        assert set(similar(answer(taught, "divan", groups=(PlacedGroup(True, ranges=cheap), blues)))) == {"T3", "T4"}

    def test_similar_products_are_few_and_on_the_first_page_alone(self, engine_with_model: SearchEngine):
        rebuild(engine_with_model, [*(thing(n, "Couch") for n in range(10, 40)), DIVAN])
        assert len(similar(answer(engine_with_model, "divan"))) == MOST_SIMILAR
        assert similar(answer(engine_with_model, "divan", page=2)) == []

    def test_similar_products_follow_where_fewer_are_found_than_was_said(self, taught: SearchEngine):
        apply(taught, Upsert(DIVAN), Delete("T4"))
        assert [similar(answer(taught, "divan", similar_below=below)) for below in (0, 1, 2)] == [[], [], ["T3"]]

    def test_a_code_finds_its_product_alone(self, taught: SearchEngine):
        result = answer(taught, "AB-4")
        assert (ids(result)[0], similar(result), result.by_meaning_alone) == ("T4", [], 0)
        plain = taught.search(SITE, PRODUCTS, SearchRequest(words="ab 4"))
        assert answer(taught, "ab 4").hits == plain.hits

    def test_a_request_that_leaves_meaning_out_is_answered_by_words(self, taught: SearchEngine):
        result = taught.search(SITE, PRODUCTS, SearchRequest(words="furniture", correct=False))
        assert (result.total, result.similar) == (0, ())

    def test_words_that_are_still_being_typed_mean_nothing_yet(self, taught: SearchEngine):
        assert answer(taught, "furniture", correct=False, is_typing=True).total == 0

    def test_changes_have_meanings_at_once(self, taught: SearchEngine):
        apply(taught, Upsert(thing(3, "Lamp")), Upsert(thing(6, "Couch")), Delete("T4"))
        assert ids(answer(taught, "furniture", correct=False)) == ["T6"]

    def test_a_trial_knows_the_meaning_of_what_is_not_saved(self, taught: SearchEngine):
        if not taught.supports_trials:
            return  # As the contract of all engines says of trials.
        request = SearchRequest(words="furniture", correct=False, by_meaning=True)
        with taught.trial(SITE, PRODUCTS, [Upsert(thing(5, "Settee"))]) as changed:
            assert set(ids(changed.search(SITE, PRODUCTS, request))) == {"T3", "T4", "T5"}
        assert set(ids(taught.search(SITE, PRODUCTS, request))) == {"T3", "T4"}

    def test_a_preview_of_a_generation_ranks_by_meaning(self, taught: SearchEngine):
        generation = taught.start_generation(SITE, PRODUCTS)
        generation.add(THINGS)
        generation.seal()
        request = SearchRequest(words="computer", by_meaning=True)
        assert ids(generation.preview().search(SITE, PRODUCTS, request)) == ["T2", "T1"]
        generation.discard()

    def test_nothing_lacks_vectors_after_a_rebuild(self, taught: SearchEngine):
        assert not taught.status(SITE, PRODUCTS).lacks_vectors

    def test_content_is_searched_by_words(self, engine_with_model: SearchEngine):
        generation = engine_with_model.start_generation(SITE, IndexName.CONTENT)
        generation.add(THINGS)
        generation.seal()
        with engine_with_model.exclusive(SITE, IndexName.CONTENT):
            generation.publish()
        request = SearchRequest(words="furniture", correct=False, by_meaning=True, similar_below=24)
        result = engine_with_model.search(SITE, IndexName.CONTENT, request)
        assert (result.total, result.similar) == (0, ())

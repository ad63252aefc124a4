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
    SearchEngine,
    SearchRequest,
    SearchResult,
    Sort,
    Upsert,
    ValueFilter,
)
from app.domain.search.ranking.scoring import BEST_BY_MEANING, BEST_BY_WORDS, MOST_SIMILAR
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
    description = str(given.pop("description", ""))
    return IndexDocument(
        id=f"T{number}",
        name=name,
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

    def test_similar_products_follow_few_results(self, taught: SearchEngine):
        result = answer(taught, "settee", facets=("colour",))
        assert (ids(result), similar(result)) == (["T4"], ["T3"])
        assert (result.total, dict(result.facets)) == (1, {"colour": (("Blue", 1),)})

    def test_similar_products_follow_nothing_found(self, taught: SearchEngine):
        result = answer(taught, "furniture", correct=False)
        assert (result.total, set(similar(result))) == (0, {"T3", "T4"})
        assert result.similar[0].card == {"name": "Couch"}

    def test_what_lies_far_off_is_not_similar(self, taught: SearchEngine):
        assert similar(answer(taught, "teapot")) == []
        assert similar(answer(taught, "zzqq")) == []

    def test_similar_products_keep_to_scope_filters_and_buries(self, taught: SearchEngine):
        blue = (ValueFilter("colour", ("Blue",)),)
        assert similar(answer(taught, "furniture", correct=False, scope=blue)) == ["T4"]
        assert similar(answer(taught, "furniture", correct=False, filters=blue)) == ["T4"]
        assert similar(answer(taught, "furniture", correct=False, buries=("T4",))) == ["T3"]

    def test_similar_products_are_few_and_on_the_first_page_alone(self, engine_with_model: SearchEngine):
        rebuild(engine_with_model, [thing(n, "Couch") for n in range(30)])
        assert len(similar(answer(engine_with_model, "furniture", correct=False))) == MOST_SIMILAR
        assert similar(answer(engine_with_model, "furniture", correct=False, page=2)) == []
        assert similar(answer(engine_with_model, "couch")) == []

    def test_similar_products_follow_where_fewer_are_found_than_was_said(self, taught: SearchEngine):
        assert [similar(answer(taught, "settee", similar_below=below)) for below in (0, 1, 2)] == [[], [], ["T3"]]

    def test_a_code_finds_its_product_and_nothing_similar(self, taught: SearchEngine):
        result = answer(taught, "AB-4")
        assert (ids(result)[0], similar(result)) == ("T4", [])
        plain = taught.search(SITE, PRODUCTS, SearchRequest(words="ab 4"))
        assert answer(taught, "ab 4").hits == plain.hits

    def test_a_request_that_leaves_meaning_out_is_answered_by_words(self, taught: SearchEngine):
        result = taught.search(SITE, PRODUCTS, SearchRequest(words="furniture", correct=False))
        assert (result.total, result.similar) == (0, ())

    def test_words_that_are_still_being_typed_mean_nothing_yet(self, taught: SearchEngine):
        assert similar(answer(taught, "furniture", correct=False, is_typing=True)) == []

    def test_changes_have_meanings_at_once(self, taught: SearchEngine):
        apply(taught, Upsert(thing(3, "Lamp")), Upsert(thing(6, "Couch")), Delete("T4"))
        assert similar(answer(taught, "furniture", correct=False)) == ["T6"]

    def test_a_trial_knows_the_meaning_of_what_is_not_saved(self, taught: SearchEngine):
        if not taught.supports_trials:
            return  # As the contract of all engines says of trials.
        request = SearchRequest(words="furniture", correct=False, by_meaning=True, similar_below=24)
        with taught.trial(SITE, PRODUCTS, [Upsert(thing(5, "Settee"))]) as changed:
            assert set(similar(changed.search(SITE, PRODUCTS, request))) == {"T3", "T4", "T5"}
        assert set(similar(taught.search(SITE, PRODUCTS, request))) == {"T3", "T4"}

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
        assert engine_with_model.search(SITE, IndexName.CONTENT, request).similar == ()

"""What an engine must do with what merchandisers taught search: alternatives, optional words and places."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.search.engine import (
    Alternatives,
    IndexDocument,
    Pin,
    RangeFilter,
    SearchEngine,
    SearchRequest,
    SearchResult,
    Sort,
    ValueFilter,
)
from app.domain.search.ranking.query import ENOUGH
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet, SynonymType
from app.domain.search.text import query_words
from tests.contracts.search_engine_contract import PRODUCTS, SITE, found, rebuild, shoe
from tests.examples import examples

GEARBOX = Alternatives(0, 1, (("shifter",), ("gear", "lever")))
PARTS = (
    shoe(1, "Toyota gearbox", brand="Toyota"),
    shoe(2, "Toyota shifter", brand="Toyota"),
    shoe(3, "Toyota gear lever", brand="Toyota"),
    shoe(4, "Bosch gearbox", brand="Bosch"),
    shoe(5, "Toyota mirror", brand="Toyota"),
    shoe(6, "Toyota shifter shifter cover", description="Fits a gearbox, too", brand="Toyota"),
)

VOCABULARY = ("bag", "for", "laptop", "lap", "sleeve", "and", "mouse", "mousepad", "with", "cheap", "red", "a", "case")
expressions = st.lists(st.sampled_from((*VOCABULARY, "zzqq")), min_size=1, max_size=4, unique=True).map(" ".join)
groups = st.lists(expressions, min_size=2, max_size=4, unique=True).map(
    lambda words: SynonymGroup(SynonymType.EQUIVALENT, None, tuple(words))
)


def result_of(engine: SearchEngine, words: str, **request: object) -> SearchResult:
    return engine.search(SITE, PRODUCTS, SearchRequest(words=words, **request))  # type: ignore[arg-type]


class TaughtSearchContract:
    @pytest.fixture
    def parts(self, engine: SearchEngine) -> SearchEngine:
        rebuild(engine, PARTS)
        return engine

    # Synonyms

    def test_an_answer_counts_in_the_place_of_its_word_and_the_other_words_must_match_still(
        self, parts: SearchEngine
    ) -> None:
        result = result_of(parts, "gearbox toyota", alternatives=(GEARBOX,), correct=False)
        assert {hit.id for hit in result.hits} == {"P1", "P2", "P3", "P6"}
        assert (result.full_matches, result.relaxed) == (4, False)

    def test_nothing_else_is_found_without_alternatives(self, parts: SearchEngine) -> None:
        assert {hit.id for hit in result_of(parts, "gearbox").hits} == {"P1", "P4", "P6"}

    def test_an_answer_of_several_words_needs_all_of_them(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Gear lever"), shoe(2, "Lever arch file"), shoe(3, "Gear bag")])
        only = Alternatives(0, 1, (("gear", "lever"),))
        assert found(engine, "gearbox", alternatives=(only,)) == ["P1"]

    def test_a_run_of_several_words_has_answers_of_one(self, parts: SearchEngine) -> None:
        both = Alternatives(0, 2, (("gearbox",), ("shifter",)))
        assert set(found(parts, "gear lever toyota", alternatives=(both,))) == {"P1", "P2", "P3", "P6"}

    def test_what_has_the_words_ranks_above_what_has_only_an_answer(self, parts: SearchEngine) -> None:
        ranked = found(parts, "gearbox toyota", alternatives=(GEARBOX,))
        assert set(ranked[:2]) == {"P1", "P6"}
        assert set(ranked[2:]) == {"P2", "P3"}

    def test_a_word_far_from_the_name_ranks_above_an_answer_in_every_field(self, engine: SearchEngine) -> None:
        loud = [shoe(n, "Sofa sofa", terms=("sofa",), kind="sofa") for n in range(1, 6)]
        rebuild(engine, [*loud, shoe(9, "Cover", description="For " + "every old chair and bed and " * 5 + "couch")])
        assert found(engine, "couch", alternatives=(Alternatives(0, 1, (("sofa",),)),))[0] == "P9"

    def test_several_runs_widen_apart_and_fewer_answers_rank_higher(self, engine: SearchEngine) -> None:
        names = ("Red couch", "Red sofa", "Crimson couch", "Crimson sofa", "Red bed")
        rebuild(engine, [shoe(n, name) for n, name in enumerate(names, 1)])
        runs = (Alternatives(0, 1, (("crimson",),)), Alternatives(1, 1, (("sofa",),)))
        ranked = found(engine, "red couch", alternatives=runs)
        assert (ranked[0], set(ranked[1:3]), ranked[3]) == ("P1", {"P2", "P3"}, "P4")
        assert "P5" not in ranked

    def test_a_word_and_its_answers_count_as_one_word_where_fewer_words_must_do(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Sofa bed couch"), shoe(2, "Green couch"), shoe(3, "Green mirror"), shoe(4, "Lamp")])
        run = Alternatives(0, 1, (("sofa",), ("bed",), ("settee",)))
        result = result_of(engine, "couch green mirror", alternatives=(run,), correct=False)
        assert result.relaxed
        assert {hit.id for hit in result.hits[:2]} == {"P2", "P3"}

    def test_a_word_that_only_its_answers_know_is_no_mistake(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Couch"), shoe(2, "Coach")])
        result = result_of(engine, "cooch", alternatives=(Alternatives(0, 1, (("couch",),)),))
        assert ([hit.id for hit in result.hits], result.suggestion, result.corrected) == (["P1"], None, False)

    def test_answers_that_find_nothing_leave_spelling_as_it_was(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Couch")])
        result = result_of(engine, "cooch", alternatives=(Alternatives(0, 1, (("settee",),)),))
        assert ([hit.id for hit in result.hits], result.corrected) == (["P1"], True)

    def test_the_beginning_of_the_last_word_finds_it_besides_its_answers(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Gearboxes"), shoe(2, "Shifter"), shoe(3, "Gear")])
        run = Alternatives(0, 1, (("shifter",),))
        ranked = found(engine, "gear", alternatives=(run,))
        assert (ranked[0], set(ranked)) == ("P3", {"P1", "P2", "P3"})

    def test_answers_obey_scope_filters_counts_and_order(self, parts: SearchEngine) -> None:
        request = {"alternatives": (GEARBOX,), "facets": ("brand",), "sort": Sort.PRICE_DESC}
        result = result_of(parts, "gearbox", filters=(ValueFilter("brand", ("Toyota",)),), **request)
        assert [hit.id for hit in result.hits] == ["P6", "P3", "P2", "P1"]
        assert dict(result.facets["brand"]) == {"Toyota": 4, "Bosch": 1}
        assert set(found(parts, "gearbox", scope=(ValueFilter("brand", ("Bosch",)),), alternatives=(GEARBOX,))) == {
            "P4"
        }

    def test_linking_words_need_not_match_within_a_run_or_an_answer(self, engine: SearchEngine) -> None:
        names = ("Laptop bag", "Bag for laptop", "Bag", "Notebook sleeve", "Sleeve for a notebook")
        rebuild(engine, [shoe(n, name) for n, name in enumerate(names, 1)])
        typed = Alternatives(0, 3, (("zzqq",),))
        assert set(found(engine, "bag for laptop", alternatives=(typed,))[:2]) == {"P1", "P2"}
        answer = Alternatives(0, 1, (("sleeve", "for", "notebook"),))
        request = SearchRequest(words="zzqq", alternatives=(answer,))
        assert found(engine, "zzqq", alternatives=(answer,)) == ["P5", "P4"]
        why = engine.explain(SITE, PRODUCTS, request, "P4")
        assert {match.field: set(match.words) for match in why.matches}["name"] == {"notebook", "sleeve"}

    def test_what_has_a_run_but_for_its_linking_words_ranks_above_what_has_only_an_answer(
        self, engine: SearchEngine
    ) -> None:
        loud = [shoe(n, "Sleeve sleeve", terms=("sleeve",), kind="sleeve") for n in range(1, 6)]
        rebuild(engine, [*loud, shoe(9, "Cover", description="Any old laptop in a large bag " + "and more " * 9)])
        ranked = found(engine, "bag for laptop", alternatives=(Alternatives(0, 3, (("sleeve",),)),))
        assert (ranked[0], len(ranked)) == ("P9", 6)

    def test_many_answers_leave_the_beginnings_of_words_among_the_results(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Gearboxes"), *(shoe(n, "Shifter") for n in range(2, 30))])
        assert "P1" in found(engine, "gear", alternatives=(Alternatives(0, 1, (("shifter",),)),), per_page=50)

    def test_a_run_that_finds_too_little_finds_its_words_apart_as_without_answers(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Gear lever"), shoe(2, "Gear"), shoe(3, "Lever"), shoe(4, "Shifter")])
        run = Alternatives(0, 2, (("shifter",),))
        result = result_of(engine, "gear lever", alternatives=(run,))
        assert ([hit.id for hit in result.hits[:2]], result.total) == (["P1", "P4"], 4)
        assert (result.relaxed, result.full_matches) == (True, 2)

    @pytest.fixture
    def many(self, engine: SearchEngine) -> SearchEngine:
        chance = random.Random(4)
        names = [" ".join(chance.sample(VOCABULARY, chance.randrange(1, 5))) for _ in range(70)]
        rebuild(engine, [shoe(n, name) for n, name in enumerate(names, 1)])
        return engine

    @settings(max_examples=examples(400), deadline=None, suppress_health_check=list(HealthCheck))
    @given(words=expressions, groups=st.lists(groups, min_size=1, max_size=4), optional=st.booleans())
    def test_whatever_the_synonyms_are_a_search_finds_what_it_finds_without_them(
        self, many: SearchEngine, words: str, groups: list[SynonymGroup], optional: bool
    ) -> None:
        """With them more has all the words, or enough has most of them, so that fewer words need not be tried: then
        what lacked some may go."""
        more = {"per_page": 200, "correct": False, "optional": frozenset({"cheap"} if optional else ())}
        without = result_of(many, words, **more)
        expansion = SynonymSet.of(groups).expand(words)
        result = result_of(many, words, alternatives=expansion.alternatives, **more)
        known = [hit.id for hit in without.hits]
        if result.total and (not result.relaxed or result.total >= ENOUGH):
            known = known[: without.full_matches]
        assert set(known) <= {hit.id for hit in result.hits}
        assert (result.full_matches or 0) >= (without.full_matches or 0)

    @settings(max_examples=examples(200), deadline=None, suppress_health_check=list(HealthCheck))
    @given(word=expressions, answer=expressions)
    def test_a_word_finds_all_that_its_answer_finds(self, many: SearchEngine, word: str, answer: str) -> None:
        more = {"per_page": 200, "correct": False, "prefix_last": False}
        group = SynonymGroup(SynonymType.ONE_WAY, word, (answer,))
        result = result_of(many, word, alternatives=SynonymSet.of([group]).expand(word).alternatives, **more)
        if set(query_words(answer)) != set(query_words(word)):
            alone = result_of(many, answer, **more)
            answers = {hit.id for hit in alone.hits[: alone.full_matches]}
            assert answers <= {hit.id for hit in result.hits}

    # Optional words

    def test_an_optional_word_need_not_match_and_adds_to_the_score(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(n, "Blue kettle") for n in range(1, 6)] + [shoe(9, "Cheap blue kettle")])
        everything = found(engine, "cheap blue kettle", optional=frozenset({"cheap"}))
        assert (everything[0], len(everything)) == ("P9", 6)
        result = result_of(engine, "cheepest kettle", optional=frozenset({"cheepest"}))
        assert (result.total, result.suggestion, result.relaxed) == (6, None, False)

    def test_words_that_are_all_optional_must_match(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "The book"), shoe(2, "Lamp")])
        assert found(engine, "the book", optional=frozenset({"book"}), correct=False) == ["P1"]

    # Pins, boosts and buries

    @pytest.fixture
    def lamps(self, engine: SearchEngine) -> SearchEngine:
        lamps = [shoe(n, "Lamp", colours=("Red",) if n % 2 else ("Blue",)) for n in range(1, 9)]
        rebuild(engine, [*lamps, shoe(20, "Chair", brand="Bolt"), shoe(21, "Table", colours=("Blue",))])
        return engine

    def test_a_pin_stands_at_its_position_and_belongs_to_the_results_and_counts(self, lamps: SearchEngine) -> None:
        plain = found(lamps, "lamp")
        result = result_of(lamps, "lamp", pins=(Pin("P20", 2),), facets=("brand",))
        assert [hit.id for hit in result.hits] == [plain[0], "P20", *plain[1:]]
        assert (result.total, dict(result.facets["brand"])) == (9, {"Acme": 8, "Bolt": 1})
        assert (result.full_matches, result.relaxed) == (8, False)

    def test_pins_keep_their_positions_when_another_is_filtered_out(self, lamps: SearchEngine) -> None:
        pins = (Pin("P20", 1), Pin("P21", 2), Pin("P8", 4))
        blue = found(lamps, "lamp", pins=pins, filters=(ValueFilter("colour", ("Blue",)),))
        assert (blue[1], blue[3], len(blue)) == ("P21", "P8", 5)
        assert "P20" not in blue

    def test_a_pin_outside_the_scope_or_the_index_is_not_shown(self, lamps: SearchEngine) -> None:
        scope = (ValueFilter("brand", ("Acme",)),)
        assert set(found(lamps, "lamp", scope=scope, pins=(Pin("P20", 1), Pin("P99", 2)))) == {
            f"P{n}" for n in range(1, 9)
        }

    def test_pins_beyond_the_end_stand_at_the_end_in_their_order(self, lamps: SearchEngine) -> None:
        assert found(lamps, "lamp", pins=(Pin("P3", 70), Pin("P20", 50)))[-2:] == ["P20", "P3"]
        assert found(lamps, "zzqqxx", pins=(Pin("P3", 7), Pin("P20", 5)), correct=False) == ["P20", "P3"]

    def test_boosts_follow_the_pins_in_their_order_and_buries_come_last(self, lamps: SearchEngine) -> None:
        ranked = found(
            lamps, "lamp", pins=(Pin("P5", 1), Pin("P6", 3)), boosts=("P7", "P6", "P2", "P20"), buries=("P1", "P5")
        )
        assert ranked[:4] == ["P5", "P7", "P6", "P2"]
        assert (ranked[-1], len(ranked)) == ("P1", 8)

    def test_another_order_has_the_pinned_product_in_its_own_place(self, lamps: SearchEngine) -> None:
        request = {"pins": (Pin("P20", 1),), "boosts": ("P3",), "buries": ("P1",)}
        ranked = found(lamps, "lamp", sort=Sort.PRICE_ASC, **request)
        assert ranked == [*(f"P{n}" for n in range(1, 9)), "P20"]

    @settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
    @given(seed=st.integers(0, 10_000))
    def test_pages_of_any_placing_cover_the_results_once_with_the_pins_in_their_places(
        self, lamps: SearchEngine, seed: int
    ) -> None:
        chance = random.Random(seed)
        ids = [f"P{n}" for n in (*range(1, 9), 20, 21, 99)]
        positions = chance.sample(range(1, 15), 4)
        pins = tuple(Pin(id, at) for id, at in zip(chance.sample(ids, chance.randrange(5)), positions, strict=False))
        request = {
            "pins": pins,
            "boosts": tuple(chance.sample(ids, chance.randrange(4))),
            "buries": tuple(chance.sample(ids, chance.randrange(4))),
            "filters": chance.choice([(), (ValueFilter("colour", ("Red",)),)]),
            "ranges": chance.choice([(), (RangeFilter("price", 2000, None),)]),
        }
        whole = found(lamps, "lamp", per_page=100, **request)
        size = chance.randrange(1, 6)
        pages = [id for page in range(1, 15) for id in found(lamps, "lamp", page=page, per_page=size, **request)]
        assert pages == whole
        assert len(set(whole)) == len(whole) == result_of(lamps, "lamp", **request).total
        shown = [pin for pin in sorted(pins, key=lambda pin: pin.position) if pin.id in whole]
        for left, pin in zip(range(len(shown), 0, -1), shown, strict=True):
            assert whole.index(pin.id) + 1 == min(pin.position, len(whole) - left + 1)
        for place, id in enumerate(whole, 1):
            why = lamps.explain(SITE, PRODUCTS, SearchRequest(words="lamp", **request), id)
            assert why.rank == place

    # Why

    def test_explains_where_a_request_put_a_document(self, lamps: SearchEngine) -> None:
        request = SearchRequest(words="lamp", pins=(Pin("P20", 1),), boosts=("P3",), buries=("P1",))
        placed = {id: lamps.explain(SITE, PRODUCTS, request, id).placed for id in ("P20", "P3", "P1", "P2")}
        assert placed == {"P20": "pinned", "P3": "boosted", "P1": "buried", "P2": None}
        pinned = lamps.explain(SITE, PRODUCTS, request, "P20")
        assert (pinned.rank, pinned.score, pinned.parts, pinned.missing_words) == (1, 0.0, (), ("lamp",))

    def test_explains_an_answer_by_its_words(self, parts: SearchEngine) -> None:
        request = SearchRequest(words="gearbox toyota", alternatives=(GEARBOX,))
        why = parts.explain(SITE, PRODUCTS, request, "P3")
        assert (why.tokens, why.missing_words) == (("gearbox", "toyota"), ())
        assert {match.field: set(match.words) for match in why.matches}["name"] == {"gear", "lever", "toyota"}
        assert {part.words for part in why.parts if part.kind == "alternative"} == {("gear",), ("lever",)}
        missing = parts.explain(SITE, PRODUCTS, request, "P5")
        assert (missing.rank, missing.missing_words) == (None, ("gearbox",))

    @pytest.mark.parametrize(
        "search_request",
        [
            SearchRequest(words="gearbox toyota", alternatives=(GEARBOX,)),
            SearchRequest(words="toyota gear"),
            SearchRequest(words="toyota gearbox mirror silver"),
            SearchRequest(words="shif"),
            SearchRequest(words="gear box"),
            SearchRequest(words="toyota gerbox"),
            SearchRequest(words="toyota gear lever", alternatives=(Alternatives(1, 2, (("gearbox",),)),)),
        ],
        ids=lambda search_request: search_request.words,
    )
    def test_the_parts_of_a_score_sum_up_to_it(self, parts: SearchEngine, search_request: SearchRequest) -> None:
        hits = parts.search(SITE, PRODUCTS, search_request).hits
        assert hits
        for hit in hits:
            why = parts.explain(SITE, PRODUCTS, search_request, hit.id)
            assert why.score == pytest.approx(hit.score)
            assert sum(part.worth for part in why.parts) == pytest.approx(hit.score, rel=1e-4)
            assert [part.worth for part in why.parts] == sorted((part.worth for part in why.parts), reverse=True)

    def test_explains_a_corrected_search_by_the_words_that_were_searched(self, parts: SearchEngine) -> None:
        why = parts.explain(SITE, PRODUCTS, SearchRequest(words="toyota mirrro"), "P5")
        assert (why.rank, why.missing_words) == (1, ())

    # Generations

    def test_a_sealed_generation_answers_before_it_is_live(self, parts: SearchEngine) -> None:
        generation = parts.start_generation(SITE, PRODUCTS)
        generation.add([shoe(7, "Sandals"), IndexDocument("P8", "Boots")])
        generation.seal()
        request = SearchRequest(words="sandal", pins=(Pin("P8", 1),), facets=("brand",))
        assert [hit.id for hit in generation.preview().search(SITE, PRODUCTS, request).hits] == ["P8", "P7"]
        assert found(parts, "sandal", correct=False) == []
        generation.discard()
        assert set(found(parts)) == {f"P{n}" for n in range(1, 7)}

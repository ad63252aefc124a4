"""What every search engine of the shop must do. A subclass says how to make an engine."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest

from app.domain.search.engine import (
    MOST_FACET_VALUES,
    Change,
    Delete,
    EngineState,
    IndexDocument,
    IndexName,
    Pin,
    RangeFilter,
    SearchEngine,
    SearchRequest,
    SearchUnavailable,
    Sort,
    TrialsUnsupported,
    Upsert,
    ValueFilter,
)

SITE = 1
PRODUCTS = IndexName.PRODUCTS


def shoe(number: int, name: str, **given: object) -> IndexDocument:
    """A document as the shop makes them; what a test does not say is ordinary."""
    colours = given.pop("colours", ("Black",))
    price = given.pop("price", 1000 * number)
    return IndexDocument(
        id=f"P{number}",
        name=name,
        values={"colour": colours, "brand": (given.pop("brand", "Acme"),), **given.pop("values", {})},  # type: ignore[dict-item]
        numbers={"price": price, "createdAt": float(number)},  # type: ignore[dict-item]
        card={"name": name},
        digest=f"{name} {price}",
        **given,  # type: ignore[arg-type]
    )


SHOES = (
    shoe(1, "Running shoes", brand="Acme", colours=("Black", "Red"), codes=("SKU-17AB", "0012345678905")),
    shoe(2, "Walking shoes", brand="Bolt", colours=("Red",)),
    shoe(3, "Running jacket", brand="Bolt", colours=("Blue",), terms=("windbreaker",)),
    shoe(4, "Shoe polish", brand="Acme", colours=("Black",), description="For running shoes and boots"),
    shoe(5, "Trail pack RX45", brand="Bolt", colours=("Green",), kind="Backpacks"),
)


def rebuild(
    engine: SearchEngine, documents: Iterable[IndexDocument], changes: Iterable[Change] = (), site: int = SITE
) -> None:
    generation = engine.start_generation(site, PRODUCTS)
    generation.add(documents)
    generation.seal()
    generation.prepare(changes)
    with engine.exclusive(site, PRODUCTS):
        generation.replay(list(changes))
        generation.publish()


def apply(engine: SearchEngine, *changes: Change) -> None:
    engine.prepare(SITE, PRODUCTS, changes)
    with engine.exclusive(SITE, PRODUCTS):
        engine.apply(SITE, PRODUCTS, changes)


def found(engine: SearchEngine, words: str = "", *, site: int = SITE, **query: object) -> list[str]:
    request = SearchRequest(words=words, **query)  # type: ignore[arg-type]
    return [hit.id for hit in engine.search(site, PRODUCTS, request).hits]


class SearchEngineContract:
    @pytest.fixture
    def shop(self, engine: SearchEngine) -> SearchEngine:
        rebuild(engine, SHOES)
        return engine

    def damage(self, engine: SearchEngine) -> None:
        """Spoil what is stored of the live index of products, behind the back of an engine that has it open."""
        raise NotImplementedError

    # What is found

    def test_finds_a_product_by_a_word_of_its_name_in_singular_or_plural(self, shop: SearchEngine) -> None:
        assert set(found(shop, "shoe")) == set(found(shop, "SHOES")) == {"P1", "P2", "P4"}

    def test_all_words_must_match_where_enough_products_have_them(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(n, "Running shoes" if n % 2 else "Running jacket") for n in range(1, 21)])
        assert set(found(engine, "running shoes")) == {f"P{n}" for n in range(1, 21, 2)}

    def test_a_search_term_finds_its_product_like_the_name(self, shop: SearchEngine) -> None:
        assert found(shop, "windbreakers") == ["P3"]

    def test_a_code_is_found_whole_and_by_parts_however_it_is_written(self, shop: SearchEngine) -> None:
        for words in ("SKU-17AB", "sku17ab", "sku 17ab", "17ab", "17 ab", "0012345678905"):
            assert found(shop, words)[0] == "P1", words

    def test_a_bar_code_is_found_with_and_without_leading_zeros(self, engine: SearchEngine) -> None:
        others = [shoe(n, f"Other {n}", codes=(f"99999999{n:04}",)) for n in range(2, 6)]
        rebuild(engine, [shoe(1, "Tent", codes=("012345678905",)), shoe(6, "Mug", codes=("01234565",)), *others])
        for words in ("012345678905", "12345678905", "0012345678905", "00012345678905"):
            assert found(engine, words)[0] == "P1", words
        assert found(engine, "01234565") == found(engine, "00000001234565") == ["P6"]
        assert found(engine, "1234565", correct=False) == []

    def test_a_model_number_in_the_name_is_found_written_apart(self, shop: SearchEngine) -> None:
        assert found(shop, "rx 45") == found(shop, "rx-45") == found(shop, "rx45") == ["P5"]

    def test_words_written_as_one_find_neighbouring_words(self, shop: SearchEngine) -> None:
        assert found(shop, "trailpack") == ["P5"]

    def test_the_beginning_of_the_last_word_finds_it(self, shop: SearchEngine) -> None:
        assert found(shop, "trail pa") == ["P5"]

    def test_the_last_word_counts_as_whole_when_asked_so(self, shop: SearchEngine) -> None:
        assert found(shop, "walki", prefix_last=False, correct=False) == []

    def test_the_phrase_in_the_name_comes_before_its_words_elsewhere(self, shop: SearchEngine) -> None:
        assert found(shop, "running shoes")[0] == "P1"

    def test_accents_and_case_do_not_matter(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Crème Brûlée torch")])
        assert found(engine, "creme BRULEE") == found(engine, "CRÈME brûlée") == ["P1"]

    def test_nothing_matches_words_without_letters_or_digits(self, shop: SearchEngine) -> None:
        assert found(shop, "*:* \"'; --") == []

    @pytest.mark.parametrize("words", ["id:P1", "colour:Red", "P1 OR P2", "[a TO z]", "sh?es NOT NOT", "(" * 500])
    def test_query_syntax_is_only_words(self, shop: SearchEngine, words: str) -> None:
        assert "P3" not in found(shop, words, correct=False, prefix_last=False)

    def test_long_input_is_cut(self, shop: SearchEngine) -> None:
        assert isinstance(found(shop, "running " * 20_000), list)

    # Spelling and fewer words

    def test_a_slip_is_corrected_when_the_words_find_nothing(self, shop: SearchEngine) -> None:
        result = shop.search(SITE, PRODUCTS, SearchRequest(words="wlaking"))
        assert (result.suggestion, result.corrected, [hit.id for hit in result.hits]) == ("walking", True, ["P2"])

    def test_a_correction_is_only_offered_when_it_may_not_be_used(self, shop: SearchEngine) -> None:
        result = shop.search(SITE, PRODUCTS, SearchRequest(words="wlaking", correct=False))
        assert (result.total, result.suggestion, result.corrected) == (0, "walking", False)

    def test_a_correction_is_not_even_offered_when_none_is_wanted(self, shop: SearchEngine) -> None:
        result = shop.search(SITE, PRODUCTS, SearchRequest(words="wlaking", correct=False, suggest=False))
        assert (result.total, result.suggestion, result.corrected, result.full_matches) == (0, None, False, 0)
        partly = shop.search(SITE, PRODUCTS, SearchRequest(words="wlaking jacket", suggest=False))
        assert (partly.total > 0, partly.suggestion, partly.full_matches) == (True, None, 0)

    def test_known_words_are_not_corrected(self, shop: SearchEngine) -> None:
        result = shop.search(SITE, PRODUCTS, SearchRequest(words="running shoes"))
        assert (result.suggestion, result.corrected) == (None, False)

    def test_fewer_words_match_where_no_product_has_all(self, shop: SearchEngine) -> None:
        result = shop.search(SITE, PRODUCTS, SearchRequest(words="green jacket polish", correct=False))
        assert (result.relaxed, result.full_matches) == (True, 0)
        assert {hit.id for hit in result.hits} == {"P3", "P4"}

    def test_words_with_digits_may_be_missing_as_others_where_little_is_found(self, engine: SearchEngine) -> None:
        batteries = [shoe(n, f"ThinkPad battery {n} hours") for n in range(2, 9)]
        rebuild(engine, [shoe(1, "ThinkPad battery 9cell"), *batteries, shoe(10, "Kettle", codes=("AB-12",))])
        result = engine.search(SITE, PRODUCTS, SearchRequest(words="thinkpad battery 9cell"))
        assert (result.hits[0].id, result.full_matches, result.relaxed, result.total) == ("P1", 1, True, 8)

    def test_a_code_of_several_words_finds_its_product_alone(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(n, f"Kettle ab {n}", codes=(f"AB-{n}",)) for n in range(1, 20)])
        assert found(engine, "ab 12") == found(engine, "AB-12") == ["P12"]

    def test_results_that_have_all_words_are_counted_apart_from_those_that_lack_some(self, shop: SearchEngine) -> None:
        some = shop.search(SITE, PRODUCTS, SearchRequest(words="running shoes"))
        assert (some.relaxed, some.full_matches) == (some.total > 2, 2)
        every = shop.search(SITE, PRODUCTS, SearchRequest(words="shoes"))
        assert (every.relaxed, every.full_matches) == (False, every.total)
        assert shop.search(SITE, PRODUCTS, SearchRequest()).full_matches is None

    def test_strange_words_find_nothing(self, shop: SearchEngine) -> None:
        result = shop.search(SITE, PRODUCTS, SearchRequest(words="zzqqxx", facets=("colour",)))
        assert (result.total, result.hits, result.facets) == (0, (), {"colour": ()})

    # Filters, counts, order

    def test_values_of_a_filter_are_alternatives_and_filters_narrow_each_other(self, shop: SearchEngine) -> None:
        either = ValueFilter("colour", ("Red", "Blue"))
        assert set(found(shop, filters=(either,))) == {"P1", "P2", "P3"}
        assert set(found(shop, filters=(either, ValueFilter("brand", ("Bolt",))))) == {"P2", "P3"}

    def test_a_filter_without_values_and_an_unknown_value_keep_nothing(self, shop: SearchEngine) -> None:
        assert found(shop, filters=(ValueFilter("colour", ()),)) == []
        assert found(shop, filters=(ValueFilter("colour", ("Mauve",)),)) == []
        assert found(shop, filters=(ValueFilter("no such facet", ("Red",)),)) == []

    def test_counts_of_a_facet_leave_its_own_filter_out(self, shop: SearchEngine) -> None:
        request = SearchRequest(
            filters=(ValueFilter("colour", ("Red",)), ValueFilter("brand", ("Bolt",))), facets=("colour", "brand")
        )
        result = shop.search(SITE, PRODUCTS, request)
        assert result.total == 1
        assert dict(result.facets["colour"]) == {"Red": 1, "Blue": 1, "Green": 1}
        assert dict(result.facets["brand"]) == {"Acme": 1, "Bolt": 1}

    def test_a_document_counts_once_under_each_of_its_values(self, shop: SearchEngine) -> None:
        result = shop.search(SITE, PRODUCTS, SearchRequest(facets=("colour",)))
        assert result.facets["colour"] == (("Black", 2), ("Red", 2), ("Blue", 1), ("Green", 1))

    def test_a_range_keeps_its_ends_and_its_facet_leaves_its_own_filter_out(self, shop: SearchEngine) -> None:
        request = SearchRequest(ranges=(RangeFilter("price", 2000, 4000),), range_facets=("price",))
        result = shop.search(SITE, PRODUCTS, request)
        assert {hit.id for hit in result.hits} == {"P2", "P3", "P4"}
        span = result.ranges["price"]
        assert (span.low, span.high, span.count) == (1000, 5000, 5)

    def test_an_open_range_has_one_end(self, shop: SearchEngine) -> None:
        assert set(found(shop, ranges=(RangeFilter("price", low=4000),))) == {"P4", "P5"}

    def test_a_range_of_a_number_that_nothing_carries_is_empty(self, shop: SearchEngine) -> None:
        span = shop.search(SITE, PRODUCTS, SearchRequest(range_facets=("weight",))).ranges["weight"]
        assert (span.low, span.high, span.count) == (None, None, 0)

    def test_the_scope_narrows_words_and_counts_alike(self, shop: SearchEngine) -> None:
        request = SearchRequest(words="shoes", scope=(ValueFilter("brand", ("Bolt",)),), facets=("brand",))
        result = shop.search(SITE, PRODUCTS, request)
        assert [hit.id for hit in result.hits] == ["P2"]
        assert result.facets["brand"] == (("Bolt", 1),)

    @pytest.mark.parametrize(
        ("sort", "order"),
        [
            (Sort.PRICE_ASC, ["P1", "P2", "P3", "P4", "P5"]),
            (Sort.PRICE_DESC, ["P5", "P4", "P3", "P2", "P1"]),
            (Sort.NEWEST, ["P5", "P4", "P3", "P2", "P1"]),
            (Sort.NAME, ["P3", "P1", "P4", "P5", "P2"]),
        ],
    )
    def test_orders(self, shop: SearchEngine, sort: Sort, order: list[str]) -> None:
        assert found(shop, sort=sort) == order

    def test_the_named_documents_lead_the_featured_order(self, engine: SearchEngine) -> None:
        rebuild(engine, [*SHOES, shoe(6, "Laces", values={"featured": ("true",)})])
        expected = ["P2", "P1", "P6", "P5", "P4", "P3"]
        assert found(engine, sort=Sort.FEATURED, first=("P2", "P99", "P1")) == expected
        assert found(engine, sort=Sort.RELEVANCE, first=("P2", "P99", "P1")) == expected

    def test_the_documents_named_last_end_the_featured_order_as_they_would_follow_each_other(
        self, engine: SearchEngine
    ) -> None:
        rebuild(engine, [*SHOES, shoe(6, "Laces", values={"featured": ("true",)})])
        last, first = ("P3", "P99", "P6", "P2"), ("P2", "P1")
        for sort in (Sort.FEATURED, Sort.RELEVANCE):
            assert found(engine, sort=sort, last=last) == ["P5", "P4", "P1", "P6", "P3", "P2"]
            assert found(engine, sort=sort, last=last, first=first) == ["P1", "P5", "P4", "P6", "P3", "P2"]
        assert found(engine, sort=Sort.NEWEST, last=last) == found(engine, sort=Sort.NEWEST)
        pages = [found(engine, sort=Sort.FEATURED, last=last, first=first, page=n, per_page=4) for n in (1, 2, 3)]
        assert pages == [["P1", "P5", "P4", "P6"], ["P3", "P2"], []]
        scope = (ValueFilter("brand", ("Acme",)),)
        everything = found(engine, sort=Sort.NEWEST, scope=scope)
        assert sorted(found(engine, sort=Sort.FEATURED, scope=scope, last=last)) == sorted(everything)

    def test_products_without_a_price_come_last_in_both_directions(self, engine: SearchEngine) -> None:
        bare = IndexDocument(id="P9", name="Gift")
        rebuild(engine, [bare, *SHOES[:2]])
        assert found(engine, sort=Sort.PRICE_ASC) == ["P1", "P2", "P9"]
        assert found(engine, sort=Sort.PRICE_DESC) == ["P2", "P1", "P9"]

    def test_pages_cover_everything_once(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(n, "Same shoe", price=500) for n in range(1, 26)])
        for sort in Sort:
            pages = [found(engine, "shoe", sort=sort, page=page, per_page=10) for page in (1, 2, 3, 4)]
            assert [len(page) for page in pages] == [10, 10, 5, 0]
            assert len({id for page in pages for id in page}) == 25

    def test_no_products_asked_for_gives_total_and_counts_alone(self, shop: SearchEngine) -> None:
        result = shop.search(SITE, PRODUCTS, SearchRequest(words="shoes", per_page=0, facets=("brand",)))
        assert (result.total, result.hits) == (3, ())
        assert dict(result.facets["brand"]) == {"Acme": 2, "Bolt": 1}

    def test_a_card_comes_back_as_it_was_given(self, engine: SearchEngine) -> None:
        card = {"name": "Crème – 5″", "price": 1999, "images": ["a.svg"], "salePrice": None}
        rebuild(engine, [IndexDocument(id="é1", name="Crème", card=card)])
        (hit,) = engine.search(SITE, PRODUCTS, SearchRequest(words="creme")).hits
        assert (hit.id, hit.card) == ("é1", card)

    # Bounds

    def test_pages_end_at_the_result_window_and_the_total_does_not(
        self, engine: SearchEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("app.domain.search.engine.RESULT_WINDOW", 8)
        rebuild(engine, [shoe(n, "Shoe") for n in range(1, 13)])
        pages = [SearchRequest(words="shoe", sort=Sort.PRICE_ASC, page=page, per_page=5) for page in (1, 2, 3, 10**9)]
        results = engine.search_many(SITE, PRODUCTS, pages)
        assert [len(result.hits) for result in results] == [5, 3, 0, 0]
        assert {result.total for result in results} == {12}
        pinned = found(engine, "shoe", pins=(Pin("P1", 8), Pin("P2", 9)), page=2, per_page=5)
        assert (pinned[-1], len(pinned)) == ("P1", 3)

    def test_a_facet_names_its_commonest_values_up_to_a_limit(self, engine: SearchEngine) -> None:
        colours = [f"Colour {n:04}" for n in range(MOST_FACET_VALUES + 5)]
        first = shoe(1, "Painter's shoe", colours=tuple(colours))
        rebuild(engine, [first, shoe(2, "Shoe", colours=(colours[-1],))])
        result = engine.search(SITE, PRODUCTS, SearchRequest(facets=("colour",)))
        assert len(result.facets["colour"]) == MOST_FACET_VALUES
        assert result.facets["colour"][:2] == ((colours[-1], 2), (colours[0], 1))

    # Many searches at once

    def test_many_searches_are_answered_in_their_order(self, shop: SearchEngine) -> None:
        requests = [SearchRequest(words=words) for words in ("walking", "nothing at all", "jacket", "walking")]
        results = shop.search_many(SITE, PRODUCTS, requests)
        assert results == [shop.search(SITE, PRODUCTS, request) for request in requests]
        assert [hit.id for result in results[::2] for hit in result.hits] == ["P2", "P3"]
        assert shop.search_many(SITE, PRODUCTS, []) == []

    # Changes

    def test_a_fresh_search_has_every_change_although_another_thread_is_reading(self, shop: SearchEngine) -> None:
        def names(number: int) -> list[object]:
            apply(shop, Upsert(shoe(number, f"Fresh {number}")))
            return found(shop, f"fresh {number}", fresh=True, correct=False, prefix_last=False)[:1]

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(names, range(100, 120))) == [[f"P{number}"] for number in range(100, 120)]

    def test_a_change_is_found_at_once_and_replaces_what_was(self, shop: SearchEngine) -> None:
        apply(shop, Upsert(shoe(2, "Climbing boots", colours=("Orange",))), Delete("P4"), Upsert(shoe(6, "Laces")))
        assert found(shop, "walking", correct=False) == []
        assert found(shop, "climbing") == ["P2"]
        assert found(shop, filters=(ValueFilter("colour", ("Orange",)),)) == ["P2"]
        assert set(found(shop)) == {"P1", "P2", "P3", "P5", "P6"}

    def test_changes_may_come_twice_and_the_last_of_an_id_wins(self, shop: SearchEngine) -> None:
        changes = (Delete("P1"), Upsert(shoe(1, "First name")), Upsert(shoe(1, "Last name")))
        apply(shop, *changes)
        apply(shop, *changes)
        assert found(shop, "last name", correct=False) == ["P1"]
        assert shop.status(SITE, PRODUCTS).documents == 5

    def test_many_small_changes_leave_every_document_once(self, shop: SearchEngine) -> None:
        for number in range(1, 60):
            apply(shop, Upsert(shoe(number % 12 + 1, f"Shoe {number}", price=number)))
        result = shop.search(SITE, PRODUCTS, SearchRequest(sort=Sort.PRICE_DESC, facets=("brand",)))
        assert sorted(hit.id for hit in result.hits) == sorted(f"P{n}" for n in range(1, 13))
        assert (result.total, result.facets["brand"]) == (12, (("Acme", 12),))
        assert [hit.card["name"] for hit in result.hits[:2]] == ["Shoe 59", "Shoe 58"]

    def test_the_version_changes_with_every_visible_change_and_the_generation_with_every_swap(
        self, shop: SearchEngine
    ) -> None:
        before = shop.status(SITE, PRODUCTS)
        apply(shop, Delete("P1"))
        changed = shop.status(SITE, PRODUCTS)
        rebuild(shop, SHOES)
        swapped = shop.status(SITE, PRODUCTS)
        assert changed.generation == before.generation != swapped.generation
        assert len({before.version, changed.version, swapped.version}) == 3

    def test_digests_tell_what_is_in_the_index(self, shop: SearchEngine) -> None:
        apply(shop, Delete("P1"), Upsert(shoe(2, "Walking boots")))
        expected = {shoe.id: shoe.digest for shoe in SHOES[2:]} | {"P2": "Walking boots 2000"}
        assert dict(shop.digests(SITE, PRODUCTS)) == expected
        some = {"P2", "P1", "P99"}  # The second is deleted, and the third was never there.
        assert dict(shop.digests(SITE, PRODUCTS, some)) == {"P2": expected["P2"]}

    # Generations

    def test_without_an_index_search_says_so(self, engine: SearchEngine) -> None:
        for search in (
            lambda: engine.search(SITE, PRODUCTS, SearchRequest(words="shoes")),
            lambda: engine.search_many(SITE, PRODUCTS, [SearchRequest(words="shoes")]),
            lambda: engine.explain(SITE, PRODUCTS, SearchRequest(words="shoes"), "P1"),
            lambda: list(engine.digests(SITE, PRODUCTS)),
            lambda: engine.verify(SITE, PRODUCTS),
            lambda: apply(engine, Delete("P1")),
        ):
            with pytest.raises(SearchUnavailable, match="Rebuild"):
                search()
        status = engine.status(SITE, PRODUCTS)
        assert (status.state, status.documents) == (EngineState.UNREACHABLE, None)
        assert status.error

    def test_an_index_that_was_damaged_while_it_served_answers_no_more_and_says_so(self, shop: SearchEngine) -> None:
        assert found(shop, "shoes")
        self.damage(shop)
        for search in (
            lambda: shop.search(SITE, PRODUCTS, SearchRequest(words="running shoes", facets=("brand",))),
            lambda: shop.search_many(SITE, PRODUCTS, [SearchRequest(sort=Sort.NAME)]),
            lambda: shop.explain(SITE, PRODUCTS, SearchRequest(words="shoes"), "P1"),
            lambda: list(shop.digests(SITE, PRODUCTS)),
            lambda: shop.verify(SITE, PRODUCTS),
            lambda: apply(shop, Delete("P1")),
        ):
            with pytest.raises(SearchUnavailable, match="Rebuild"):
                search()
        if shop.supports_trials:
            with pytest.raises(SearchUnavailable, match="Rebuild"), shop.trial(SITE, PRODUCTS, [Delete("P1")]):
                pass
        status = shop.status(SITE, PRODUCTS)
        assert (status.state, status.documents) == (EngineState.UNREACHABLE, None)
        assert status.error and status.fault

    def test_a_new_generation_takes_the_place_of_a_damaged_index(self, shop: SearchEngine) -> None:
        self.damage(shop)
        rebuild(shop, SHOES[:2])
        shop.verify(SITE, PRODUCTS)
        assert shop.status(SITE, PRODUCTS).state is EngineState.HEALTHY
        assert set(found(shop)) == {"P1", "P2"}

    def test_an_index_that_is_whole_passes_its_verification(self, shop: SearchEngine) -> None:
        apply(shop, Delete("P1"))
        shop.verify(SITE, PRODUCTS)
        assert set(found(shop)) == {"P2", "P3", "P4", "P5"}

    def test_a_generation_is_invisible_until_published(self, shop: SearchEngine) -> None:
        generation = shop.start_generation(SITE, PRODUCTS)
        generation.add([shoe(7, "Sandals")])
        assert generation.seal() == 1
        assert found(shop, "sandals", correct=False) == []
        with shop.exclusive(SITE, PRODUCTS):
            generation.replay([Upsert(shoe(8, "Slippers")), Delete("P99")])
            assert found(shop, "slippers", correct=False) == []
            generation.publish()
        generation.discard()
        assert set(found(shop)) == {"P7", "P8"}

    def test_a_discarded_generation_leaves_the_old_one_live(self, shop: SearchEngine) -> None:
        generation = shop.start_generation(SITE, PRODUCTS)
        generation.add([shoe(7, "Sandals")])
        generation.discard()
        generation.discard()
        assert set(found(shop)) == {"P1", "P2", "P3", "P4", "P5"}
        rebuild(shop, SHOES[:1])
        assert found(shop) == ["P1"]

    @pytest.mark.parametrize("is_sealed", [False, True])
    def test_a_later_build_takes_the_place_of_one_in_the_making(self, shop: SearchEngine, is_sealed: bool) -> None:
        late = shop.start_generation(SITE, PRODUCTS)
        late.add([shoe(7, "Sandals")])
        if is_sealed:
            late.seal()
        shop.start_generation(SITE, IndexName.CONTENT).discard()
        generation = shop.start_generation(SITE, PRODUCTS)
        with pytest.raises(SearchUnavailable), shop.exclusive(SITE, PRODUCTS):
            late.publish() if is_sealed else late.seal()
        late.discard()
        assert set(found(shop)) == {"P1", "P2", "P3", "P4", "P5"}
        generation.add([shoe(8, "Slippers")])
        assert generation.seal() == 1
        with shop.exclusive(SITE, PRODUCTS):
            generation.publish()
        assert found(shop) == ["P8"]

    def test_of_two_indexes_both_are_published_or_neither(self, shop: SearchEngine) -> None:
        content = IndexName.CONTENT
        for breaks in (True, False):
            made = {index: shop.start_generation(SITE, index) for index in (PRODUCTS, content)}
            for generation in made.values():
                generation.add([shoe(7, "Sandals")])
                generation.seal()
            before = {index: shop.status(SITE, index).generation for index in made}
            locks = shop.exclusive(SITE, PRODUCTS), shop.exclusive(SITE, content)
            with suppress(ZeroDivisionError), locks[0], locks[1], shop.together(SITE, [content, PRODUCTS]):
                made[PRODUCTS].publish()
                assert not breaks or 1 / 0
                made[content].publish()
            for generation in made.values():
                generation.discard()
            if breaks:
                assert {index: shop.status(SITE, index).generation for index in made} == before
                assert "P7" not in found(shop) and len(found(shop)) == 5
        assert found(shop) == ["P7"]
        assert shop.status(SITE, content).documents == 1

    def test_an_empty_generation_is_an_index_that_finds_nothing(self, engine: SearchEngine) -> None:
        rebuild(engine, [])
        assert found(engine, "shoes") == found(engine) == []
        result = engine.search(SITE, PRODUCTS, SearchRequest(facets=("brand",), range_facets=("price",)))
        assert (result.total, dict(result.facets), result.ranges["price"].count) == (0, {"brand": ()}, 0)
        assert engine.search(SITE, PRODUCTS, SearchRequest(words="shoes")).full_matches == 0
        apply(engine, Upsert(SHOES[0]))
        assert found(engine, "shoes") == ["P1"]

    def test_the_last_document_can_go(self, engine: SearchEngine) -> None:
        rebuild(engine, SHOES[:1])
        apply(engine, Delete("P1"))
        result = engine.search(SITE, PRODUCTS, SearchRequest(words="shoes", facets=("brand",), range_facets=("price",)))
        assert (result.total, engine.status(SITE, PRODUCTS).documents) == (0, 0)

    def test_sites_and_indexes_are_apart(self, shop: SearchEngine) -> None:
        rebuild(shop, [shoe(7, "Canary shoes")], site=2)
        assert found(shop, "canary", correct=False) == []
        assert found(shop, "canary", site=2) == ["P7"]
        shop.forget(2)
        assert shop.status(2, PRODUCTS).state is EngineState.UNREACHABLE
        assert found(shop, "running shoes")

    def test_one_process_at_a_time_is_exclusive(self, shop: SearchEngine) -> None:
        names = [f"Shoe {n}" for n in range(8)]

        def add(place: int) -> None:
            apply(shop, Upsert(shoe(100 + place, names[place])))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(add, range(8)))
        assert shop.status(SITE, PRODUCTS).documents == 13

    # Trials

    def test_a_trial_answers_as_the_index_would_after_the_changes_and_changes_nothing(self, shop: SearchEngine) -> None:
        if not shop.supports_trials:
            with pytest.raises(TrialsUnsupported), shop.trial(SITE, PRODUCTS, []):
                pass
            return
        changes = [Upsert(shoe(2, "Climbing boots")), Delete("P4"), Delete("P99")]
        request = [SearchRequest(words=words, facets=("brand",)) for words in ("climbing", "shoes", "walking", "")]
        before = shop.search_many(SITE, PRODUCTS, request)
        with shop.trial(SITE, PRODUCTS, changes) as trial:
            tried = trial.search_many(SITE, PRODUCTS, request)
            assert [trial.search(SITE, PRODUCTS, one) for one in request] == tried
            assert shop.search_many(SITE, PRODUCTS, request) == before
        apply(shop, *changes)
        assert shop.search_many(SITE, PRODUCTS, request) == tried != before

    # Why

    def test_an_explanation_comes_with_each_hit_that_asks_for_it(self, shop: SearchEngine) -> None:
        request = SearchRequest(words="running shoes", pins=(Pin("P5", 2),), explain=True)
        hits = shop.search(SITE, PRODUCTS, request).hits
        assert len(hits) > 2
        assert [hit.explanation for hit in hits] == [shop.explain(SITE, PRODUCTS, request, hit.id) for hit in hits]
        assert [hit.explanation.rank for hit in hits if hit.explanation] == list(range(1, len(hits) + 1))
        plain = shop.search(SITE, PRODUCTS, replace(request, explain=False)).hits
        assert [hit.explanation for hit in plain] == [None] * len(hits)

    def test_explains_a_found_document(self, shop: SearchEngine) -> None:
        why = shop.explain(SITE, PRODUCTS, SearchRequest(words="running shoes"), "P4")
        matches = {match.field: match.words for match in why.matches}
        assert (why.tokens, why.indexed, why.missing_words) == (("running", "shoe"), True, ())
        assert matches["name"] == ("shoe",)
        assert matches["description"] == ("running", "shoe")
        ranked = found(shop, "running shoes")
        assert why.rank == ranked.index("P4") + 1
        assert why.score is not None and why.score > 0

    def test_explains_a_document_that_is_not_found_or_not_there(self, shop: SearchEngine) -> None:
        absent = shop.explain(SITE, PRODUCTS, SearchRequest(words="jacket"), "P99")
        missing = shop.explain(SITE, PRODUCTS, SearchRequest(words="jacket"), "P1")
        assert (absent.indexed, absent.rank) == (False, None)
        assert (missing.indexed, missing.rank, missing.missing_words) == (True, None, ("jacket",))

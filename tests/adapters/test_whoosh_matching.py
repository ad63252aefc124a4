"""Which products answer words, and in which order: what the shop's own engine adds to Whoosh's scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import Delete, IndexDocument, SearchRequest, SearchResult, Sort, Upsert, ValueFilter
from app.domain.search.ranking.spelling import one_edit_away
from tests.adapters.whoosh_catalogue import PRODUCTS, SITE, apply


def shop(directory: Path, *documents: IndexDocument) -> WhooshEngine:
    engine = WhooshEngine(directory)
    generation = engine.start_generation(SITE, PRODUCTS)
    generation.add(documents)
    generation.seal()
    with engine.exclusive(SITE, PRODUCTS):
        generation.publish()
    return engine


def named(number: int, name: str, kind: str = "", **given: object) -> IndexDocument:
    values = {"level": (kind,)} if kind else {}
    return IndexDocument(id=f"P{number}", name=name, kind=kind, values=values, card={"name": name}, **given)  # type: ignore[arg-type]


def searched(engine: WhooshEngine, words: str, **request: object) -> SearchResult:
    return engine.search(SITE, PRODUCTS, SearchRequest(words=words, **request))  # type: ignore[arg-type]


def ids(engine: WhooshEngine, words: str, **request: object) -> list[str]:
    return [hit.id for hit in searched(engine, words, **request).hits]


def laptops_and_bags() -> list[IndexDocument]:
    """Laptops have names that do not say so, bags have names that do."""
    laptops = [named(n, f"Acme Book {n}", "Laptops", kind_names=("Laptops",)) for n in range(20)]
    bags = [named(100 + n, f"Laptop case {n}", "Bags", kind_names=("Laptop bags and cases",)) for n in range(20)]
    return [*laptops, *bags]


def lifts(engine: WhooshEngine, words: str, id: str, optional: frozenset[str] = frozenset()) -> list[str]:
    """The kinds of those parts of a score that lift all others."""
    parts = engine.explain(SITE, PRODUCTS, SearchRequest(words=words, optional=optional), id).parts
    return [part.kind for part in parts if not part.field]


def test_a_level_that_the_words_name_comes_first(tmp_path: Path) -> None:
    engine = shop(tmp_path, *laptops_and_bags())
    assert set(ids(engine, "laptop", per_page=20)) == {f"P{n}" for n in range(20)}
    assert lifts(engine, "laptop", "P3") == ["level_name"]
    assert lifts(engine, "laptop", "P103") == ["level"]
    assert lifts(engine, "laptop case 3", "P103") == ["level"]
    assert lifts(engine, "laptop cases", "P103") == ["level"]
    assert lifts(engine, "cases", "P103") == ["level_name"]


def test_an_optional_word_may_be_part_of_a_levels_name(tmp_path: Path) -> None:
    names = "Gaming laptops", "Laptops"
    engine = shop(tmp_path, *laptops_and_bags(), named(50, "Acme Blade", "Gaming laptops", kind_names=names))
    optional = frozenset({"gaming"})
    assert "level_name" in lifts(engine, "gaming laptops", "P50", optional)
    assert "level_name" not in lifts(engine, "gaming laptops", "P3", optional)
    assert "level_name" in lifts(engine, "acme laptops", "P3", frozenset({"acme"}))


def test_a_level_has_as_many_names_as_it_was_given(tmp_path: Path) -> None:
    """Words that are in none of its texts do not find it: the names only rank."""
    notebook = named(1, "Acme Book", "Laptops", kind_names=("Laptops", "Notebooks", "Books"))
    engine = shop(tmp_path, notebook, named(2, "Picture book", "Toys", kind_names=("Toys",)))
    assert lifts(engine, "book", "P1") == ["level_name"]
    assert ids(engine, "notebooks", correct=False) == []


def test_the_names_of_levels_outlast_merges_of_the_index(tmp_path: Path) -> None:
    engine = shop(tmp_path, *laptops_and_bags())
    for number in range(40, 60):
        apply(engine, Upsert(named(number, f"Book {number}", "Laptops", kind_names=("Laptops",))))
    assert lifts(engine, "laptop", "P3") == lifts(engine, "laptop", "P41") == ["level_name"]
    apply(engine, Upsert(named(3, "Book 3", "Laptops", kind_names=("Notebooks",))))
    assert lifts(engine, "laptop", "P3") == ["level"]
    assert lifts(engine, "laptop", "P41") == ["level_name"]


def test_an_index_without_names_of_levels_is_searched_without_them(tmp_path: Path) -> None:
    engine = shop(tmp_path, *(replace(document, kind_names=()) for document in laptops_and_bags()))
    assert len(ids(engine, "laptop", per_page=60)) == 40
    assert lifts(engine, "laptop", "P103") == ["level"]


def test_the_level_of_most_of_the_best_results_is_lifted(tmp_path: Path) -> None:
    """One mention in another level's product does not lift that level as much."""
    bags = [named(n, "Sleeve for a laptop", "Bags") for n in range(10)]
    engine = shop(tmp_path, *bags, named(50, "Lamp with a laptop", "Lamps"), named(51, "Laptop of nothing"))
    assert ids(engine, "laptop", per_page=60)[-1] in {"P50", "P51"}
    assert lifts(engine, "laptop", "P51") == []


def test_only_first_results_show_what_kind_is_meant(tmp_path: Path) -> None:
    """However many products answer a little, their level is lifted by the best fifty alone."""
    best = [named(n, "Mouse mouse", "Mice") for n in range(60)]
    others = [named(100 + n, "Pad", "Pads", description="For a mouse") for n in range(200)]
    engine = shop(tmp_path, *best, *others)
    assert lifts(engine, "mouse", "P1") == ["level"]
    assert lifts(engine, "mouse", "P100") == []


def test_when_very_few_products_have_all_words_others_follow(tmp_path: Path) -> None:
    tablets = [named(n, f"Tablet {chr(97 + n)}{chr(97 + n)}") for n in range(10)]
    result = searched(shop(tmp_path, named(99, "Android tablet"), *tablets), "android tablet")
    assert (result.relaxed, result.total, result.hits[0].id) == (True, 11, "P99")
    assert result.full_matches == 1


def test_words_that_read_as_a_code_are_not_watered_down(tmp_path: Path) -> None:
    phones = [named(n, f"Phone x{n} 4g case") for n in range(10, 30)]
    assert ids(shop(tmp_path, *phones), "x17 4g") == ["P17"]
    assert ids(shop(tmp_path, *phones), "phone x17")[0] == "P17"
    assert len(ids(shop(tmp_path, *phones), "phone x17")) == 20


def test_linking_words_need_not_match_but_count(tmp_path: Path) -> None:
    engine = shop(tmp_path, named(1, "Case for phone"), named(2, "Phone case"), named(3, "Charger"))
    result = searched(engine, "case for a phone")
    assert ({hit.id for hit in result.hits}, result.relaxed) == ({"P1", "P2"}, False)


def test_what_the_shopper_filters_out_is_not_counted_among_the_full_matches(tmp_path: Path) -> None:
    tablets = [named(n, f"Tablet {chr(97 + n)}{chr(97 + n)}", "Tablets") for n in range(10)]
    engine = shop(tmp_path, named(99, "Android tablet", "Offers"), *tablets)
    others = searched(engine, "android tablet", filters=(ValueFilter("level", ("Tablets",)),))
    assert (others.relaxed, others.total, others.full_matches) == (True, 10, 0)
    alone = searched(engine, "android tablet", filters=(ValueFilter("level", ("Offers",)),))
    assert (alone.relaxed, alone.total, alone.full_matches) == (False, 1, 1)


def test_a_linking_word_alone_is_a_word(tmp_path: Path) -> None:
    assert ids(shop(tmp_path, named(1, "With"), named(2, "Without")), "with", prefix_last=False) == ["P1"]


def test_a_whole_code_comes_first(tmp_path: Path) -> None:
    chargers = [named(n, f"Charger for AB 12 C {n}") for n in range(20, 40)]
    engine = shop(tmp_path, *chargers, named(1, "Charger", codes=("AB-12/C",)))
    for words in ("AB-12/C", "ab12c", "ab 12 c"):
        assert ids(engine, words)[0] == "P1"


def test_words_side_by_side_in_the_name_come_first(tmp_path: Path) -> None:
    engine = shop(tmp_path, *(named(n, "Wine bottle red") for n in range(2, 8)), named(1, "Bottle red wine"))
    assert ids(engine, "red wine")[0] == "P1"


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("wireles mouse", "wireless mouse"),
        ("wireless mosue", "wireless mouse"),
        ("wirelessmouse", "wireless mouse"),
        ("keybaord", "keyboard"),
        ("KEYBAORD, Wireless", "keyboard wireless"),
    ],
)
def test_unknown_words_are_read_as_the_likeliest_known_ones(tmp_path: Path, typed: str, read: str) -> None:
    engine = shop(
        tmp_path,
        *(named(n, "Wireless keyboard") for n in range(5)),
        *(named(10 + n, "Wireless laser mouse") for n in range(5)),
    )
    result = searched(engine, typed)
    assert (result.suggestion, result.corrected) == (read, True)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("whirelss", "wireless"),
        ("keybordd", "keyboard"),
    ],
)
def test_a_spelling_that_is_not_near_enough_is_suggested_alone(tmp_path: Path, typed: str, read: str) -> None:
    engine = shop(tmp_path, *(named(n, "Wireless keyboard") for n in range(5)))
    result = searched(engine, typed)
    assert (result.suggestion, result.corrected, result.total) == (read, False, 0)


def test_words_written_apart_find_the_catalogues_one_word(tmp_path: Path) -> None:
    others = [named(n, "Wine glasses") for n in range(20)]
    engine = shop(tmp_path, *others, named(98, "Sun hat"), named(99, "Sunglasses"))
    result = searched(engine, "sun glasses", prefix_last=False)
    assert result.hits[0].id == "P99"
    why = engine.explain(SITE, PRODUCTS, SearchRequest(words="sun glasses"), "P99")
    assert (why.rank, why.missing_words) == (1, ())


def test_a_suggestion_is_written_as_the_catalogue_writes_it(tmp_path: Path) -> None:
    engine = shop(tmp_path, *(named(n, "Adidas trainers") for n in range(5)))
    assert searched(engine, "adiddas").suggestion == "adidas"


def test_a_word_that_went_with_its_last_product_is_unknown_again(tmp_path: Path) -> None:
    engine = shop(tmp_path, *(named(n, "Audio cable") for n in range(5)), named(9, "Audio cablo"))
    assert searched(engine, "cablo").suggestion is None
    apply(engine, Delete("P9"))
    assert searched(engine, "cablo").suggestion == "cable"


def test_numbers_and_codes_are_never_corrected(tmp_path: Path) -> None:
    engine = shop(tmp_path, named(1, "Cartridge 305xl"), named(2, "Cartridge 304"))
    assert searched(engine, "306").suggestion is None
    assert searched(engine, "305xk", prefix_last=False).suggestion is None


def test_one_edit_makes_every_slip_and_not_the_word_itself() -> None:
    assert {"cat", "at", "act", "ca", "bat", "cart", "cats"} - one_edit_away("cat") == {"cat"}


def test_what_bots_ask_for_is_remembered_within_a_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.adapters.whoosh.view.RECENT_BYTES", 50_000)
    engine = shop(tmp_path, named(1, "Lamp"))
    for number in range(500):
        searched(engine, f"bot{number} word{number}")
    recent = engine._reader(SITE, PRODUCTS).view()._recent
    assert recent.size <= 50_000
    assert len(recent) < 120


def test_the_order_by_name_holds_across_large_and_small_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.adapters.whoosh.ordering.LARGE", 5)
    engine = shop(tmp_path, *(named(n, f"Lamp {chr(98 + 2 * n)}") for n in range(10)))
    apply(engine, Upsert(named(20, "Lamp a")), Upsert(named(21, "Lamp c")), Upsert(named(22, "Lamp z")), Delete("P4"))
    apply(engine, Upsert(named(23, "lamp E")))
    names = [hit.card["name"] for hit in searched(engine, "lamp", sort=Sort.NAME).hits]
    assert names == sorted(names, key=lambda name: str(name).lower())
    assert len(names) == 13


def test_text_that_is_no_text_is_kept_without_harm(tmp_path: Path) -> None:
    half = "\ud800"
    engine = shop(tmp_path, IndexDocument(id=f"P{half}", name=f"Lamp {half}", values={"c": (half,)}, card={"n": half}))
    assert searched(engine, f"lamp {half}").total == 1

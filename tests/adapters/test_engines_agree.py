"""The shop's engines and the reference engine give the same results on random catalogues and requests. Where they
differ, one of them is wrong."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.adapters.opensearch import OpenSearchEngine
from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import (
    Change,
    Delete,
    IndexDocument,
    IndexName,
    LearnedFactors,
    Pin,
    PlacedGroup,
    RangeFilter,
    SearchEngine,
    SearchRequest,
    SearchResult,
    Sort,
    Upsert,
    ValueFilter,
)
from app.domain.search.ranking.scoring import LOW_STOCK, SALES
from app.domain.search.ranking_settings import RankingSettings, SoldOut, Weight
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet, SynonymType
from tests.adapters.reference_engine import Evaluation, ReferenceEngine
from tests.contracts.search_engine_contract import rebuild
from tests.examples import examples
from tests.fakes.sentence_model import WordSums
from tests.shared_node import engine_of, own_settings

SITE, PRODUCTS = 1, IndexName.PRODUCTS
REQUESTS = 12  # Of each catalogue, since building one costs most.
WORDS = (
    "laptop", "laptops", "lap", "top", "notebook", "note", "book", "sleeve", "bag", "for", "with", "cheap", "red",
    "keyboard", "key", "board", "wine", "glass", "glasses", "sunglasses", "sun", "rx45", "17ab", "4k", "cable", "table",
    "cabling", "cabled", "boarding", "boarded", "controller", "control",
)  # fmt: skip
# Words of the language, slips, and what is like two words of the shop, none of which a document has.
ABSENT_WORDS = (
    "bagel",
    "couch",
    "towable",
    "redtable",
    "lapp",
    "cabel",
    "keyboarrd",
    "glas",
    "wnie",
    "notebok",
    "cheep",
)
COLOURS, BRANDS = ("Red", "Blue", "Green", "Black"), ("Acme", "Bolt", "Crag")
MEANINGS = {"laptop": "notebook", "lap": "note", "bag": "sleeve", "wine": "glass", "cable": "table"}
MOST = 20  # Documents; beyond them, which names a spelling is taken from depends on the order of equal scores.


def document(chance: random.Random, number: int) -> IndexDocument:
    """Fields are short: Whoosh keeps the length of a longer one with less precision."""

    def words(most: int, least: int = 0) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(least, most)))

    values = {"brand": (chance.choice(BRANDS),), "colour": tuple(chance.sample(COLOURS, chance.randint(0, 3)))}
    if chance.random() < 0.8:
        values["level"] = (chance.choice(("Laptops", "Bags", "Glasses")),)
    if chance.random() < 0.2:
        values["featured"] = ("true",)
    numbers = {"price": float(chance.randint(1, 9))} if chance.random() < 0.9 else {}
    numbers |= {"createdAt": float(chance.randint(1, 9))} if chance.random() < 0.9 else {}
    if chance.random() < 0.5:
        values["inStock"] = ("true",)
        numbers |= {LOW_STOCK: 2.0} if chance.random() < 0.3 else {}
    numbers |= {SALES: float(chance.choice((1, 3, 40)))} if chance.random() < 0.5 else {}
    return IndexDocument(
        id=f"P{number}",
        name=words(4, 1).title(),
        terms=tuple(words(3, 1) for _ in range(chance.randint(0, 2))),
        manufacturer=chance.choice(BRANDS),
        kind=words(2),
        kind_names=tuple(words(2, 1) for _ in range(chance.randint(0, 2))),
        description=words(8),
        attributes=words(5),
        codes=(f"SKU-{number}", *(chance.sample(("AB-12/C", "0012345", "17AB"), chance.randint(0, 1)))),
        values=values,
        numbers=numbers,
        card={"number": number},
        digest=str(number),
    )


def typed(chance: random.Random, word: str) -> str:
    """A word as people type it: whole, unfinished, or with a slip."""
    place = chance.randrange(len(word))
    unfinished, slip = word[: place + 1], word[:place] + chance.choice("abelz") + word[place + chance.randint(0, 1) :]
    return chance.choices((word, unfinished, slip), (7, 1, 2))[0]


def ranking(chance: random.Random) -> RankingSettings:
    weights = [chance.choice(list(Weight)) for _ in range(3)]
    return RankingSettings(chance.choice(list(SoldOut)), *weights)


def request(chance: random.Random) -> SearchRequest:
    words = " ".join(typed(chance, word) for word in chance.choices((*WORDS, "zzqq", "sku 3"), k=chance.randint(0, 4)))
    words = f'"{words}"' if chance.random() < 0.1 else words
    ids = [f"P{number}" for number in range(MOST + 2)]

    def some(most: int) -> tuple[str, ...]:
        return tuple(chance.sample(ids, chance.choice((0, 0, most))))

    groups = [SynonymGroup(SynonymType.EQUIVALENT, None, tuple(chance.sample(WORDS, 3))) for _ in range(3)]
    groups.append(SynonymGroup(SynonymType.EQUIVALENT, None, ("sun glasses", "wine for glass", "cheap")))
    synonyms = SynonymSet.of(groups if chance.random() < 0.4 else ())
    colours = ValueFilter("colour", tuple(chance.sample(COLOURS, 2)))
    prices = chance.choice((RangeFilter("price", 2, 6), RangeFilter("price", low=4)))
    return SearchRequest(
        words=words,
        scope=chance.choice(((), (), (ValueFilter("brand", ("Acme", "Bolt")),))),
        filters=chance.choice(((), (), (colours,), (colours, ValueFilter("level", ("Bags",))))),
        ranges=chance.choice(((), (), (prices,))),
        facets=("colour", "brand", "level", "nothing"),
        range_facets=("price", "weight"),
        sort=chance.choice((Sort.RELEVANCE, *Sort)),
        first=some(3),
        per_page=MOST + 5,
        correct=chance.random() < 0.7,
        prefix_last=chance.random() < 0.7,
        is_typing=chance.random() < 0.3,
        alternatives=synonyms.expand(words).alternatives,
        optional=frozenset(("cheap",) if chance.random() < 0.3 else ()),
        pins=tuple(Pin(id, at) for id, at in zip(some(3), chance.sample(range(1, 25), 3), strict=False)),
        boosts=some(3),
        buries=some(3),
        groups=groups_of_documents(chance),
        ranking=RankingSettings() if chance.random() < 0.5 else ranking(chance),
        day=chance.choice((0, 30)),
        learned=learned(chance, ids),
    )


def groups_of_documents(chance: random.Random) -> tuple[PlacedGroup, ...]:
    brand = ValueFilter("brand", tuple(chance.sample((*BRANDS, "Nobody"), 2)))
    level, colour = ValueFilter("level", ("Bags",)), ValueFilter("colour", (chance.choice(COLOURS),))
    on_stock, price = ValueFilter("inStock", ("true",)), RangeFilter("price", chance.choice((None, 3)), 6)
    parts = (
        {"values": (brand,)},
        {"values": (brand, level)},
        {"values": (colour,), "ranges": (price,)},
        {"ranges": (RangeFilter("createdAt", low=4),)},
        {"excluded": (on_stock,)},
        {"values": (ValueFilter("nothing", ("x",)),), "ranges": (RangeFilter("weight", high=1),)},
    )
    chosen = chance.sample(parts, chance.choice((0, 0, 1, 3)))
    return tuple(PlacedGroup(chance.random() < 0.6, **part) for part in chosen)  # type: ignore[arg-type]


def learned(chance: random.Random, ids: list[str]) -> LearnedFactors:
    if chance.random() < 0.6:
        return LearnedFactors()
    levels = chance.sample(("Laptops", "Bags", "Nothing"), chance.randint(0, 2))
    return LearnedFactors(
        tuple((id, 1 + chance.random() / 2) for id in chance.sample(ids, 3)),
        tuple((level, 1 + chance.random() / 5) for level in levels),
    )


@contextmanager
def whoosh() -> Iterator[WhooshEngine]:
    with tempfile.TemporaryDirectory() as directory:
        yield WhooshEngine(Path(directory))


@contextmanager
def cluster(url: str) -> Iterator[OpenSearchEngine]:
    with tempfile.TemporaryDirectory() as directory, own_settings(url) as settings:
        yield engine_of(settings, Path(directory))


Made = Callable[[], AbstractContextManager[SearchEngine]]


@pytest.fixture(scope="session", params=["whoosh", "opensearch"])
def made(request: pytest.FixtureRequest) -> Made:
    """A new engine without an index."""
    if request.param == "whoosh":
        return whoosh
    url = request.getfixturevalue("opensearch_url")
    return lambda: cluster(url)


@contextmanager
def engines(made: Made, documents: list[IndexDocument]) -> Iterator[tuple[SearchEngine, ReferenceEngine]]:
    with made() as engine:
        both = engine, ReferenceEngine()
        for each in both:
            generation = each.start_generation(SITE, PRODUCTS)
            generation.add(documents)
            generation.seal()
            with each.exclusive(SITE, PRODUCTS):
                generation.publish()
        yield both


def catalogue(chance: random.Random) -> list[IndexDocument]:
    return [document(chance, number) for number in range(chance.randint(0, MOST))]


def same_but_for_order(ours: SearchResult, theirs: SearchResult) -> bool:
    assert {hit.id: hit.card for hit in ours.hits} == {hit.id: hit.card for hit in theirs.hits}
    assert replace(ours, hits=(), suggestion=None) == replace(theirs, hits=(), suggestion=None)
    return True


def same_order(ours: SearchResult, theirs: SearchResult, reference: Evaluation) -> bool:
    """Documents with equal keys may stand in any order; keys of 32 bits are equal where they are close."""
    for one, other in zip(ours.hits, theirs.hits, strict=True):
        numbers = [[part for part in reference.key(hit.id) if not isinstance(part, str)] for hit in (one, other)]
        names = [[part for part in reference.key(hit.id) if isinstance(part, str)] for hit in (one, other)]
        assert one.id == other.id or (names[0] == names[1] and numbers[0] == pytest.approx(numbers[1], rel=1e-4))
    return True


def pages_cover(engine: SearchEngine, search_request: SearchRequest, whole: SearchResult, size: int) -> bool:
    pages = [replace(search_request, page=page, per_page=size) for page in range(1, len(whole.hits) // size + 2)]
    hits = [hit for result in engine.search_many(SITE, PRODUCTS, pages) for hit in result.hits]
    assert hits == list(whole.hits)
    return True


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_a_fresh_index_gives_the_same_results(made: Made, seed: int) -> None:
    chance = random.Random(seed)
    with engines(made, catalogue(chance)) as (engine, reference):
        for query in (request(chance) for _ in range(REQUESTS)):
            ours, theirs = (each.search(SITE, PRODUCTS, query) for each in (engine, reference))
            assert ours.suggestion == theirs.suggestion
            assert same_but_for_order(ours, theirs)
            evaluation = Evaluation(reference.live[SITE, PRODUCTS], query)
            assert same_order(ours, theirs, evaluation)
            scores = {hit.id: hit.score for hit in theirs.hits}
            assert {hit.id: hit.score for hit in ours.hits} == pytest.approx(scores, rel=1e-4)
            assert pages_cover(engine, query, ours, chance.randint(1, 6))


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_words_that_no_document_has_are_spelled_alike(made: Made, seed: int) -> None:
    chance = random.Random(seed)
    with engines(made, catalogue(chance)) as (engine, reference):
        for _ in range(REQUESTS):
            some = [*chance.sample(ABSENT_WORDS, chance.randint(1, 2)), *chance.choices(WORDS, k=chance.randint(0, 2))]
            words = " ".join(chance.sample(some, len(some)))
            query = SearchRequest(words=words, per_page=MOST + 5, prefix_last=chance.random() < 0.5)
            ours, theirs = (each.search(SITE, PRODUCTS, query) for each in (engine, reference))
            assert ours.suggestion == theirs.suggestion
            assert same_but_for_order(ours, theirs)


@settings(max_examples=examples(25), deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_a_changed_index_finds_the_same(made: Made, seed: int) -> None:
    """How rare words are may still count what is gone, so scores, and what depends on them, are left out."""
    chance = random.Random(seed)
    with engines(made, catalogue(chance)) as (engine, reference):
        for _ in range(3):
            changes: list[Change] = [Upsert(document(chance, chance.randrange(MOST))) for _ in range(4)]
            changes += [Delete(f"P{chance.randrange(MOST)}") for _ in range(2)]
            for each in (engine, reference):
                with each.exclusive(SITE, PRODUCTS):
                    each.apply(SITE, PRODUCTS, changes)
            for query in (replace(request(chance), correct=False) for _ in range(REQUESTS // 3)):
                ours, theirs = (each.search(SITE, PRODUCTS, query) for each in (engine, reference))
                assert same_but_for_order(ours, theirs)
                if query.sort is not Sort.RELEVANCE:
                    assert same_order(ours, theirs, Evaluation(reference.live[SITE, PRODUCTS], query))
        assert dict(engine.digests(SITE, PRODUCTS)) == dict(reference.digests(SITE, PRODUCTS))


@settings(max_examples=examples(10), deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_an_index_that_was_open_while_it_changed_answers_like_one_opened_afterwards(seed: int) -> None:
    """Small segments are merged meanwhile, and values come that no document had before."""
    chance = random.Random(seed)
    with engines(whoosh, catalogue(chance)) as (engine, _):
        assert isinstance(engine, WhooshEngine)
        for _ in range(12):
            with engine.exclusive(SITE, PRODUCTS):
                engine.apply(SITE, PRODUCTS, [Upsert(document(chance, chance.randrange(MOST)))])
            query = request(chance)
            assert engine.search(SITE, PRODUCTS, query) == WhooshEngine(engine._directory).search(SITE, PRODUCTS, query)


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 1 << 32))
@example(seed=5912)  # A document has the words of an alternative only written as one.
def test_a_document_is_explained_alike(made: Made, seed: int) -> None:
    chance = random.Random(seed)
    with engines(made, catalogue(chance)) as (engine, reference):
        for query in (replace(request(chance), explain=True) for _ in range(REQUESTS)):
            ours, theirs = (each.search(SITE, PRODUCTS, query) for each in (engine, reference))
            expected = {hit.id: hit.explanation for hit in theirs.hits}
            for place, hit in enumerate(ours.hits, 1):
                why, other = hit.explanation, expected[hit.id]
                assert why is not None and other is not None
                assert (why.tokens, why.indexed, why.rank, why.placed) == (other.tokens, True, place, other.placed)
                assert why.missing_words == other.missing_words
                assert sum(part.worth for part in why.parts) == pytest.approx(hit.score, rel=1e-4)


def listed(engine: SearchEngine, query: SearchRequest, size: int) -> list[str]:
    """Return the ids of all pages, one after the other."""
    ids: list[str] = []
    for page in range(1, 2 * MOST):
        hits = engine.search(SITE, PRODUCTS, replace(query, page=page, per_page=size)).hits
        ids += [hit.id for hit in hits]
        if not hits:
            break
    return ids


@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_with_meaning_counts_and_pages_speak_of_the_same_products(seed: int) -> None:
    chance, model = random.Random(seed), WordSums(MEANINGS)
    made = {each.id: each for each in catalogue(chance)}
    with tempfile.TemporaryDirectory() as directory:
        engine = WhooshEngine(Path(directory), model, wait=60)
        rebuild(engine, list(made.values()))
        for query in (replace(request(chance), by_meaning=True, is_typing=False) for _ in range(REQUESTS)):
            result, ids = engine.search(SITE, PRODUCTS, query), listed(engine, query, chance.randint(1, 6))
            assert len(set(ids)) == len(ids) == result.total
            assert (result.full_matches or 0) + result.by_meaning_alone <= result.total
            plain = replace(query, by_meaning=False)
            assert set(ids) >= set(listed(engine, plain, MOST))
            assert result.full_matches == engine.search(SITE, PRODUCTS, plain).full_matches
            for name in query.facets:
                others = tuple(each for each in query.filters if each.name != name)
                among = listed(engine, replace(query, filters=others), MOST)
                counted = Counter(value for id in among for value in set(made[id].values.get(name, ())))
                assert dict(result.facets[name]) == counted


@pytest.mark.parametrize("seed", (0, 1, 2, 3, 6, 7))
def test_on_a_cluster_meaning_counts_as_much(opensearch_url: str, tmp_path: Path, seed: int) -> None:
    """Of fixed catalogues: where two texts lie nearly as far from a search, either may be the nearer one."""
    chance, model = random.Random(seed), WordSums(MEANINGS)
    documents, fused = [document(chance, number) for number in range(MOST)], 0
    always = {"by_meaning": True, "similar_below": MOST, "is_typing": False}
    with own_settings(opensearch_url) as settings:
        engine = engine_of(settings, tmp_path, model)
        both = engine, ReferenceEngine(model)
        for each in both:
            rebuild(each, documents)
        for query in (request(chance) for _ in range(REQUESTS)):
            # The reference embeds a word as often as it was typed.
            query = replace(query, words=" ".join(dict.fromkeys(query.words.replace('"', "").split())), **always)
            ours, theirs = (each.search(SITE, PRODUCTS, query) for each in both)
            assert same_but_for_order(replace(ours, similar=()), replace(theirs, similar=()))
            assert same_order(ours, theirs, Evaluation(both[1].live[SITE, PRODUCTS], query))
            assert {hit.id: hit.score for hit in ours.hits} == pytest.approx(
                {hit.id: hit.score for hit in theirs.hits}, rel=1e-4
            )
            assert {hit.id: hit.score for hit in ours.similar} == pytest.approx(
                {hit.id: hit.score for hit in theirs.similar}, rel=1e-4
            )
            plain = engine.search(SITE, PRODUCTS, replace(query, by_meaning=False))
            fused += [hit.score for hit in plain.hits] != [hit.score for hit in ours.hits]
    assert fused

"""Generations, versions and fences on a cluster: what a late builder or writer does changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from urllib.parse import urlsplit

import pytest
from opensearchpy import OpenSearch

from app.adapters.opensearch import OpenSearchEngine
from app.adapters.opensearch.fencing import writing
from app.config import OpenSearchSettings
from app.domain.search.engine import (
    Delete,
    EngineFault,
    Generation,
    IndexName,
    SearchRequest,
    SearchUnavailable,
    Upsert,
)
from tests.contracts.search_engine_contract import PRODUCTS, SHOES, SITE, apply, rebuild, shoe
from tests.fakes.sentence_model import WordSums
from tests.faults.proxy import Proxy, proxied
from tests.shared_node import engine_of, own_settings

CONTENT = IndexName.CONTENT


@pytest.fixture
def settings(opensearch_url: str) -> Iterator[OpenSearchSettings]:
    with own_settings(opensearch_url) as made:
        yield made


@pytest.fixture
def engine(settings: OpenSearchSettings, tmp_path: Path) -> OpenSearchEngine:
    return engine_of(settings, tmp_path)


@pytest.fixture
def client(opensearch_url: str) -> Iterator[OpenSearch]:
    made = OpenSearch([opensearch_url])
    yield made
    made.close()


def machine_without_the_lock(settings: OpenSearchSettings, at: float = 0) -> OpenSearchEngine:
    """One that lost its lock, as after a long pause, and does not know; its clock may be late."""
    return OpenSearchEngine(settings, lambda _name: nullcontext(), now=lambda: at)


def digests(engine: OpenSearchEngine) -> dict[str, str]:
    return dict(engine.digests(SITE, PRODUCTS))


def sealed(engine: OpenSearchEngine, index: IndexName = PRODUCTS) -> Generation:
    generation = engine.start_generation(SITE, index)
    generation.add(SHOES[:2])
    generation.seal()
    return generation


# Writers


def test_a_writer_that_was_overtaken_neither_puts_an_old_state_back_nor_believes_that_it_wrote(
    engine: OpenSearchEngine, settings: OpenSearchSettings
) -> None:
    rebuild(engine, SHOES)
    late = machine_without_the_lock(settings)
    with late.exclusive(SITE, PRODUCTS):
        apply(engine, Upsert(shoe(1, "New name")), Delete("P2"))
        for old in (Upsert(shoe(1, "Old name")), Upsert(shoe(2, "Deleted since")), Delete("P1")):
            with pytest.raises(SearchUnavailable, match="took over") as refused:
                late.apply(SITE, PRODUCTS, [old])
            assert refused.value.fault is None
    assert digests(engine)["P1"] == "New name 1000"
    assert "P2" not in digests(engine)


def test_a_writer_that_was_overtaken_on_other_documents_hears_of_it_too(
    engine: OpenSearchEngine, settings: OpenSearchSettings
) -> None:
    """It may have read before the later writer did, so what it wrote is to be written again."""
    rebuild(engine, SHOES)
    late = machine_without_the_lock(settings)
    with late.exclusive(SITE, PRODUCTS):
        apply(engine, Delete("P2"))
        with pytest.raises(SearchUnavailable, match="took over"):
            late.apply(SITE, PRODUCTS, [Upsert(shoe(3, "Perhaps old"))])
    apply(engine, Upsert(shoe(3, "As it is")))
    assert digests(engine)["P3"] == "As it is 3000"


def test_a_writer_that_was_overtaken_by_a_publication_changes_nothing(
    engine: OpenSearchEngine, settings: OpenSearchSettings
) -> None:
    """Documents of a build have the lowest version, and what was deleted before it is not remembered there."""
    rebuild(engine, SHOES)
    late = machine_without_the_lock(settings)
    with late.exclusive(SITE, PRODUCTS):
        apply(engine, Upsert(shoe(1, "New name")), Delete("P2"))
        rebuild(engine, [shoe(1, "New name"), *SHOES[2:]])
        for old in (Upsert(shoe(1, "Old name")), Upsert(shoe(2, "Deleted since")), Delete("P1")):
            with pytest.raises(SearchUnavailable, match="took over") as refused:
                late.apply(SITE, PRODUCTS, [old])
            assert refused.value.fault is None
    assert digests(engine)["P1"] == "New name 1000"
    assert "P2" not in digests(engine)


def test_changes_are_written_to_the_live_generation_alone(
    engine: OpenSearchEngine, settings: OpenSearchSettings, client: OpenSearch
) -> None:
    for _ in range(3):
        rebuild(engine, SHOES)
    apply(engine, Delete("P1"))
    aliases = client.indices.get_alias(index=f"{settings.prefix}-*-gen-*")
    written = [name for name, each in aliases.items() if writing(name) in each["aliases"]]
    (live,) = client.indices.get_alias(index=f"{settings.prefix}-1-products-LIVE")
    assert written == [live]


def test_vectors_that_were_prepared_are_forgotten_with_the_section(
    settings: OpenSearchSettings, tmp_path: Path
) -> None:
    model = WordSums()
    engine = engine_of(settings, tmp_path, model)
    rebuild(engine, SHOES)
    engine.prepare(SITE, PRODUCTS, [Upsert(shoe(1, "Climbing boots"))])
    with engine.exclusive(SITE, PRODUCTS):
        pass
    with engine.exclusive(SITE, PRODUCTS):
        engine.apply(SITE, PRODUCTS, [Upsert(shoe(1, "Climbing boots"))])
    assert engine.status(SITE, PRODUCTS).vectors == len(SHOES) - 1


def test_a_section_may_write_a_document_again(engine: OpenSearchEngine) -> None:
    rebuild(engine, SHOES)
    with engine.exclusive(SITE, PRODUCTS):
        for name in ("One", "Two"):
            engine.apply(SITE, PRODUCTS, [Upsert(shoe(1, name))])
    assert digests(engine)["P1"] == "Two 1000"


def test_tokens_go_on_growing_where_their_index_was_lost(
    engine: OpenSearchEngine, settings: OpenSearchSettings, client: OpenSearch
) -> None:
    rebuild(engine, SHOES)
    apply(engine, Upsert(shoe(1, "Before")))
    client.indices.delete(index=f"{settings.prefix}-fences")
    apply(engine, Upsert(shoe(1, "After")))
    assert digests(engine)["P1"] == "After 1000"


def test_the_index_of_tokens_is_made_again_where_the_cluster_makes_none_by_itself(
    engine: OpenSearchEngine, settings: OpenSearchSettings, client: OpenSearch
) -> None:
    rebuild(engine, SHOES)
    fences, setting = f"{settings.prefix}-fences", "action.auto_create_index"
    client.cluster.put_settings(body={"transient": {setting: f"-{fences},+*"}})
    try:
        client.indices.delete(index=fences)
        apply(engine, Upsert(shoe(1, "After")))
        assert client.indices.get_mapping(index=fences)[fences]["mappings"]["dynamic"] == "strict"
    finally:
        client.cluster.put_settings(body={"transient": {setting: None}})
    assert digests(engine)["P1"] == "After 1000"


def test_a_machine_with_a_late_clock_writes_like_others(engine: OpenSearchEngine, settings: OpenSearchSettings) -> None:
    rebuild(engine, SHOES)
    apply(engine, Upsert(shoe(1, "Before")))
    apply(machine_without_the_lock(settings, at=1), Upsert(shoe(1, "After")))
    assert digests(engine)["P1"] == "After 1000"


def test_a_builder_that_lost_the_lock_before_it_publishes_does_not(
    engine: OpenSearchEngine, settings: OpenSearchSettings
) -> None:
    """What was applied to the old index meanwhile would be missing from the new one."""
    rebuild(engine, SHOES)
    late = machine_without_the_lock(settings)
    generation = sealed(late)
    with late.exclusive(SITE, PRODUCTS):
        generation.replay([])
        apply(engine, Upsert(shoe(9, "Saved meanwhile")))
        with pytest.raises(SearchUnavailable, match="took over"):
            generation.publish()
    assert "P9" in digests(engine)


def test_a_document_that_is_refused_leaves_the_others_written(engine: OpenSearchEngine) -> None:
    rebuild(engine, SHOES)
    strange = shoe(8, "Strange", values={f"attribute {number}": ("x",) for number in range(10_001)})
    with pytest.raises(SearchUnavailable) as refused:
        apply(engine, strange_change := Upsert(strange), Upsert(shoe(9, "Ordinary")))
    assert refused.value.fault is EngineFault.MAPPING
    apply(engine, Upsert(shoe(9, "Ordinary")))
    assert digests(engine).keys() == {*(shoe.id for shoe in SHOES), "P9"}
    assert strange_change.document.id not in digests(engine)


def test_many_documents_go_in_requests_of_bounded_size(engine: OpenSearchEngine) -> None:
    many = [shoe(number, f"Shoe {number}", description="word " * 400) for number in range(2_500)]
    rebuild(engine, many)
    assert digests(engine) == {each.id: each.digest for each in many}
    engine.verify(SITE, PRODUCTS)


# Builders


def test_a_builder_of_which_another_took_the_place_can_do_nothing(
    engine: OpenSearchEngine, settings: OpenSearchSettings, client: OpenSearch
) -> None:
    rebuild(engine, SHOES)
    late = sealed(engine)
    engine.start_generation(SITE, PRODUCTS)
    with engine.exclusive(SITE, PRODUCTS):
        for attempt in (
            lambda: late.add(SHOES[2:]),
            late.seal,
            lambda: late.replay([Upsert(SHOES[0])]),
            lambda: late.replay([Delete("P1")]),
            late.publish,
        ):
            with pytest.raises(SearchUnavailable, match="took the place"):
                attempt()
    late.discard()
    assert len(digests(engine)) == len(SHOES)
    assert len(indices(client, settings)) == 2, "the live generation and the one in the making; none made by mistake"


def test_of_builders_that_begin_at_once_one_may_build(
    engine: OpenSearchEngine, settings: OpenSearchSettings, client: OpenSearch
) -> None:
    together = Barrier(4)

    def begin(_: int) -> Generation | None:
        together.wait(30)
        try:
            return engine.start_generation(SITE, PRODUCTS)
        except SearchUnavailable:
            return None

    with ThreadPoolExecutor(4) as pool:
        begun = [generation for generation in pool.map(begin, range(4)) if generation is not None]
    sealed_ones = []
    for generation in begun:
        try:
            generation.seal()
            sealed_ones.append(generation)
        except SearchUnavailable:
            continue
    assert len(sealed_ones) == 1
    with engine.exclusive(SITE, PRODUCTS):
        sealed_ones[0].publish()
    assert len(indices(client, settings)) == 1


def test_the_last_generation_stays_for_searches_that_began_on_it(
    engine: OpenSearchEngine, settings: OpenSearchSettings, client: OpenSearch
) -> None:
    for _ in range(3):
        rebuild(engine, SHOES)
    assert len(indices(client, settings)) == 2
    engine.start_generation(SITE, PRODUCTS).discard()
    assert len(indices(client, settings)) == 2
    engine.verify(SITE, PRODUCTS)
    assert len(indices(client, settings)) == 1


def test_a_builder_that_does_not_know_that_it_published_removes_nothing(engine: OpenSearchEngine) -> None:
    """The answer to its publication was lost."""
    generation = sealed(engine)
    with engine.exclusive(SITE, PRODUCTS):
        generation.publish()
    generation.is_published = False  # type: ignore[attr-defined]
    generation.discard()
    assert engine.status(SITE, PRODUCTS).documents == 2


def test_two_indexes_are_published_in_one_step(engine: OpenSearchEngine) -> None:
    products, content = sealed(engine), sealed(engine, CONTENT)
    with engine.exclusive(SITE, PRODUCTS), engine.exclusive(SITE, CONTENT):
        with pytest.raises(SearchUnavailable), engine.together(SITE, list(IndexName)):
            content.publish()
            content.discard()  # As another builder does.
            products.publish()
        assert engine.status(SITE, PRODUCTS).documents is None
    assert engine.status(SITE, CONTENT).documents is None


def test_what_is_forgotten_leaves_nothing_and_touches_no_other_shop(
    engine: OpenSearchEngine, settings: OpenSearchSettings, client: OpenSearch, tmp_path: Path
) -> None:
    for site in (SITE, 12):
        rebuild(engine, SHOES, site=site)
    engine.forget(SITE)
    assert [name for name in indices(client, settings) if f"{settings.prefix}-{SITE}-" in name] == []
    assert engine.status(12, PRODUCTS).documents == len(SHOES)


def test_an_index_of_another_text_analysis_or_other_fields_is_outdated(
    engine: OpenSearchEngine, settings: OpenSearchSettings, client: OpenSearch, tmp_path: Path
) -> None:
    rebuild(engine, SHOES)
    assert not engine.status(SITE, PRODUCTS).outdated
    (live,) = indices(client, settings)
    made = client.indices.get_mapping(index=live)[live]["mappings"]["_meta"]
    for older in ({**made, "analysis": "an older one"}, {**made, "mapping": "an older one"}, {"dimensions": None}):
        client.indices.put_mapping(index=live, body={"_meta": older})
        later = engine_of(settings, tmp_path)
        assert later.status(SITE, PRODUCTS).outdated
        assert later.search(SITE, PRODUCTS, SearchRequest(words="shoes")).total, "it answers meanwhile"


def test_new_fields_of_many_documents_are_added_at_once(engine: OpenSearchEngine, client: OpenSearch) -> None:
    """One by one, those of a new shop take longer than a request may."""

    def states() -> int:
        return int(client.cluster.state(metric="version")["version"])

    many = [
        replace(shoe(n, "Shoe"), values={f"attribute {n}": ("x",)}, numbers={f"number {n}": 1.0}) for n in range(300)
    ]
    before = states()
    rebuild(engine, many)
    with engine.exclusive(SITE, PRODUCTS):
        engine.apply(SITE, PRODUCTS, [Upsert(replace(each, values={f"later {each.id}": ("x",)})) for each in many])
    assert states() - before < 100
    found = engine.search(SITE, PRODUCTS, SearchRequest(facets=("later P7",), range_facets=("number 7",)))
    assert found.facets["later P7"] == (("x", 1),) and found.ranges["number 7"].count == 1


# Lost answers


@pytest.fixture
def proxy(opensearch_url: str) -> Iterator[Proxy]:
    port = urlsplit(opensearch_url).port
    assert port
    with proxied(port) as made:
        yield made


def addresses(proxy: Proxy, names: Sequence[str]) -> str:
    return ",".join(f"http://{name}:{proxy.port}" for name in names)


@pytest.mark.parametrize("lost", [b"_bulk", b"/_aliases", b"_refresh", b"-writes", b"-builds"])
def test_a_request_of_which_the_answer_is_lost_is_made_at_another_address_and_fails_no_rebuild(
    settings: OpenSearchSettings, tmp_path: Path, proxy: Proxy, lost: bytes
) -> None:
    url = addresses(proxy, ("127.0.0.1", "localhost"))
    engine = engine_of(replace(settings, url=url), tmp_path)
    rebuild(engine, SHOES[:1])
    proxy.loses = lost
    rebuild(engine, SHOES, [Upsert(shoe(9, "Saved meanwhile"))])
    assert proxy.loses == b""
    assert set(digests(engine)) == {*(shoe.id for shoe in SHOES), "P9"}
    apply(engine, Delete("P1"))


def test_a_publication_of_which_the_answer_is_lost_is_one(
    settings: OpenSearchSettings, tmp_path: Path, proxy: Proxy
) -> None:
    engine = engine_of(replace(settings, url=addresses(proxy, ["127.0.0.1"])), tmp_path)
    rebuild(engine, SHOES[:1])
    proxy.loses = b"/_aliases"
    rebuild(engine, SHOES)
    assert proxy.loses == b""
    assert len(digests(engine)) == len(SHOES)


def indices(client: OpenSearch, settings: OpenSearchSettings) -> list[str]:
    found = client.cat.indices(index=f"{settings.prefix}-*", params={"format": "json"})
    return sorted(index["index"] for index in found if not index["index"].endswith("-fences"))


# Vectors


def test_a_text_is_embedded_once_whatever_else_of_its_document_changes(
    settings: OpenSearchSettings, tmp_path: Path
) -> None:
    model = WordSums()
    engine = engine_of(settings, tmp_path, model)
    rebuild(engine, SHOES)
    assert len(model.embedded) == len(SHOES)
    rebuild(engine, SHOES, [Upsert(shoe(1, "Running shoes", price=1))])
    apply(engine, Upsert(shoe(2, "Walking shoes", price=2)))
    assert len(model.embedded) == len(SHOES)
    apply(engine, Upsert(shoe(2, "Climbing boots")))
    assert model.embedded[len(SHOES) :] == ["Climbing boots"]
    status = engine.status(SITE, PRODUCTS)
    assert (status.vectors, status.lacks_vectors, status.meaning_fault) == (len(SHOES), None, None)


def test_an_index_without_vectors_lacks_them_and_a_rebuild_adds_them(
    settings: OpenSearchSettings, tmp_path: Path
) -> None:
    rebuild(engine_of(settings, tmp_path), SHOES)
    engine = engine_of(settings, tmp_path, WordSums())
    apply(engine, Upsert(shoe(1, "Running shoes", price=1)))
    before = engine.status(SITE, PRODUCTS)
    assert (before.vectors, before.lacks_vectors) == (0, "word-sums")
    rebuild(engine, SHOES)
    assert engine.status(SITE, PRODUCTS).lacks_vectors is None

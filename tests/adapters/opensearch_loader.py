"""Loads documents into a real node and searches them, without the life of an engine: generations are indexes that a
dictionary names, and one process writes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from opensearchpy import OpenSearch

from app.adapters.opensearch.cluster import Cluster
from app.adapters.opensearch.evaluation import evaluate, explain
from app.adapters.opensearch.mapping import Body, StoredVector, index_body, source_of
from app.domain.search.engine import (
    Change,
    Delete,
    EngineState,
    EngineStatus,
    Explanation,
    IndexDocument,
    IndexName,
    SearchRequest,
    SearchResult,
    SearchUnavailable,
    TrialsUnsupported,
    Upsert,
)
from app.domain.search.ranking.scoring import meaning_text
from app.domain.search.sentence_model import Meanings, QueryVectors, SentenceModel
from tests.opensearch import running_node

BATCH = 500
KNN = "knn"  # The node has the plugin that compares vectors.
URL = os.environ.get("SHOP_TEST_OPENSEARCH")  # Of a node that runs already, for a developer's many runs.


@pytest.fixture(scope="session")
def node_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if URL:
        yield URL
        return
    with running_node(Path(tmp_path_factory.mktemp("opensearch")), KNN) as node:
        yield node.url


def client_of(url: str) -> OpenSearch:
    return OpenSearch(url, timeout=30)


class CountingCluster(Cluster):
    """Counts its round trips."""

    trips = 0

    def search_many(self, index: str, bodies: Sequence[Body]) -> list[Mapping[str, Any]]:
        self.trips += 1
        return super().search_many(index, bodies)

    def statistics(self, index: str, words: Mapping[str, Sequence[str]]) -> Mapping[str, Any]:
        self.trips += 1
        return super().statistics(index, words)


class Loader:
    supports_trials = False

    def __init__(self, client: OpenSearch, model: SentenceModel | None = None) -> None:
        self.client, self.cluster, self.model = client, CountingCluster(client), model
        self._meanings = None if model is None else Meanings(model, QueryVectors(model), 60)
        self.live: dict[tuple[int, IndexName], str] = {}
        self.begun: dict[tuple[int, IndexName], LoadedGeneration] = {}
        self._embedding: set[str] = set()
        self._locks: dict[tuple[int, IndexName], threading.Lock] = {}

    @property
    def trips(self) -> int:
        return self.cluster.trips

    @trips.setter
    def trips(self, trips: int) -> None:
        self.cluster.trips = trips

    def close(self) -> None:
        for generation in self.begun.values():
            self.client.indices.delete(index=generation.name, ignore=[404])

    def _name(self, site_id: int, index: IndexName) -> str:
        if (site_id, index) not in self.live:
            raise SearchUnavailable("There is no index yet. Rebuild to make it.")
        return self.live[site_id, index]

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        return self.search_many(site_id, index, [request])[0]

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        return evaluate(self.cluster, self._name(site_id, index), requests, self._meanings)

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation:
        return explain(self.cluster, self._name(site_id, index), request, document_id, self._meanings)

    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        try:
            name = self._name(site_id, index)
        except SearchUnavailable as error:
            return EngineStatus(EngineState.UNREACHABLE, error.message)
        counted = self.client.count(index=name)["count"]
        version = self.client.indices.stats(index=name)["indices"][name]["primaries"]["indexing"]
        deletes = version["delete_total"]
        return EngineStatus(EngineState.HEALTHY, None, counted, name, f"{name} {version['index_total']} {deletes}")

    def size(self, site_id: int, index: IndexName) -> int | None:
        return None

    def verify(self, site_id: int, index: IndexName) -> None:
        self._name(site_id, index)

    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> AbstractContextManager[Loader]:
        raise TrialsUnsupported

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[object]:
        return self._locks.setdefault((site_id, index), threading.Lock())

    @contextmanager
    def together(self, site_id: int, indexes: Sequence[IndexName]) -> Iterator[None]:
        before = {(site_id, index): self.live[site_id, index] for index in indexes if (site_id, index) in self.live}
        try:
            yield
        except BaseException:
            self.live |= before
            raise

    def prepare(self, site_id: int, index: IndexName, changes: Iterable[Change]) -> None:
        """Nothing is embedded."""

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        self.write(self._name(site_id, index), changes)

    def start_generation(self, site_id: int, index: IndexName, *, by_meaning: bool = True) -> LoadedGeneration:
        name = f"test-{uuid4().hex}"
        embeds = by_meaning and self.model is not None and index is IndexName.PRODUCTS
        self.client.indices.create(
            index=name, body=index_body(0, self.model.dimensions if embeds and self.model else None)
        )
        if embeds:
            self._embedding.add(name)
        self.begun[site_id, index] = LoadedGeneration(self, (site_id, index), name)
        return self.begun[site_id, index]

    def digests(self, site_id: int, index: IndexName) -> Iterator[tuple[str, str]]:
        answer = self.client.search(index=self._name(site_id, index), body={"size": 10_000})
        return ((hit["_source"]["id"], hit["_source"]["digest"]) for hit in answer["hits"]["hits"])

    def forget(self, site_id: int) -> None:
        for key in [key for key in self.live if key[0] == site_id]:
            del self.live[key]

    def write(self, name: str, changes: Sequence[Change]) -> None:
        for start in range(0, len(changes), BATCH):
            batch = changes[start : start + BATCH]
            lines = [
                line for change in batch for line in _lines(change, self.model if name in self._embedding else None)
            ]
            answer = self.client.bulk(body=lines, index=name)
            failed = [next(iter(item.values())) for item in answer["items"]]
            assert not [item for item in failed if "error" in item], failed
        self.client.indices.refresh(index=name)


class LoadedGeneration:
    def __init__(self, loader: Loader, key: tuple[int, IndexName], name: str) -> None:
        self._loader, self._key, self.name = loader, key, name
        self._documents: dict[str, IndexDocument] = {}

    def add(self, documents: Iterable[IndexDocument]) -> None:
        self._documents |= {document.id: document for document in documents}

    def seal(self) -> int:
        self._check()
        self._loader.write(self.name, [Upsert(document) for document in self._documents.values()])
        return len(self._documents)

    def preview(self) -> Loader:
        preview = Loader(self._loader.client, self._loader.model)
        preview.live[self._key] = self.name
        return preview

    def prepare(self, changes: Iterable[Change]) -> None:
        """Nothing is embedded."""

    def replay(self, changes: Sequence[Change]) -> None:
        self._check()
        self._loader.write(self.name, changes)

    def publish(self) -> None:
        self._check()
        self._loader.live[self._key] = self.name

    def discard(self) -> None:
        """The index goes with the loader."""

    def _check(self) -> None:
        if self._loader.begun[self._key] is not self:
            raise SearchUnavailable("A later generation was begun. Rebuild.")


def _lines(change: Change, model: SentenceModel | None) -> list[Mapping[str, object]]:
    if isinstance(change, Delete):
        return [{"delete": {"_id": change.id}}]
    vector = None
    if model is not None:
        vector = StoredVector(model.name, model.embed([meaning_text(change.document)])[0])
    return [{"index": {"_id": change.document.id}}, source_of(change.document, vector)]


@contextmanager
def loaded(url: str, model: SentenceModel | None = None) -> Iterator[Loader]:
    loader = Loader(client_of(url), model)
    try:
        yield loader
    finally:
        with suppress(Exception):
            loader.close()

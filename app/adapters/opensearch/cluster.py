"""The cluster, as the adapter speaks with it: every call has a time limit, and its failures are SearchUnavailable with
a sentence for people and its fault."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

import numpy as np
import structlog
from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConflictError, ConnectionError, NotFoundError, OpenSearchException, RequestError
from urllib3 import Timeout

from app.adapters.opensearch.connection import PROBE_SECONDS, Breaker, Client, time_limit
from app.adapters.opensearch.failures import NO_INDEX, refusal, unavailable
from app.adapters.opensearch.mapping import Body, StoredVector, field_of
from app.config import OpenSearchSettings
from app.domain.search.engine import EngineFault, SearchUnavailable

log = structlog.get_logger()
OLDEST = (2, 12)  # See docs/adr/0067-an-index-on-a-cluster.md.
WRITE_SECONDS = 30.0
# For so long the cluster itself waits for the machine that has an index, in a request of ours that has longer.
PATIENCE = "2s"
# The builder's requests have that long: each new name of an attribute is a change of the mapping, and a request of a
# thousand documents may bring hundreds, which a busy cluster makes one after the other.
BUILDING_PATIENCE = "25s"
PAGE = 2_000
KNN = "org.opensearch.knn.plugin.KNNPlugin"
PLUGINS_SECONDS = 60.0  # For so long it is believed which plugins a cluster has.

Outcome = TypeVar("Outcome")
Request = Callable[[OpenSearch, Timeout], Outcome]
Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LiveIndex:
    """The index behind an alias, and whether the disks of the cluster were so full that it takes no changes."""

    name: str
    is_full: bool


@dataclass(frozen=True, slots=True)
class Contents:
    """What an index holds that searches see: its documents, the number of the newest change among them, and how many
    have vectors, by the model that made these."""

    documents: int
    newest: int
    vectors: Mapping[str, int]


class Cluster:
    def __init__(self, settings: OpenSearchSettings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._client = Client(settings)
        self._read_limit = time_limit(settings.seconds)
        self._write_limit = time_limit(WRITE_SECONDS)
        self._breaker = Breaker(monotonic)
        self._monotonic = monotonic
        self._has_vectors, self._vectors_until = False, -inf
        self._is_checked = False
        self._last_fault: EngineFault | None = None

    # Searches

    def search_many(self, index: str, bodies: Sequence[Body]) -> list[Answer]:
        """Return the answer to each body of a search, in their order. Raises SearchUnavailable."""
        lines = [line for body in bodies for line in ({}, body)]
        answers = self._read(lambda client, limit: client.msearch(body=lines, index=index, request_timeout=limit))
        for answer in answers["responses"]:
            if "error" in answer:
                raise refusal(answer["error"], answer.get("status"))
            if answer["_shards"]["failed"]:
                raise refusal({**answer["_shards"], "failed_shards": answer["_shards"]["failures"]}, 503)
        return answers["responses"]  # type: ignore[no-any-return]

    def statistics(self, index: str, words: Mapping[str, Sequence[str]]) -> Answer:
        """Return what the index knows of words, given by the field of `scoring.FIELDS`: for each of these fields
        `field_statistics` and `terms`, in the form of the API of term vectors. A word that no document has is without
        `doc_freq`."""
        document = {"words": {field: " ".join(those) for field, those in words.items()}}
        body = {"doc": document, "term_statistics": True, "field_statistics": True, "positions": False}
        body |= {"offsets": False, "payloads": False, "fields": [field_of(field) for field in words]}
        vectors = self._read(lambda client, limit: client.termvectors(index=index, body=body, request_timeout=limit))
        found = vectors["term_vectors"]
        return {field: found[field_of(field)] for field in words if field_of(field) in found}

    # What there is

    def live_index(self, alias: str) -> LiveIndex:
        """Return the index behind an alias. Raises SearchUnavailable where there is none."""
        named = "*.settings.index.blocks,*.settings.index.provided_name"
        found = self._read(
            lambda client, limit: client.indices.get_settings(
                index=alias, params={"filter_path": named, "request_timeout": limit}
            )
        )
        if not found:
            raise SearchUnavailable(NO_INDEX)
        (name, described), *_ = found.items()
        blocks = described["settings"]["index"].get("blocks", {})
        return LiveIndex(name, blocks.get("read_only_allow_delete") == "true")

    def contents(self, index: str) -> Contents:
        wanted = {"newest": {"max": {"field": "_seq_no"}}, "models": {"terms": {"field": "model"}}}
        (answer,) = self.search_many(index, [{"size": 0, "track_total_hits": True, "aggs": wanted}])
        found = answer["aggregations"]
        vectors = {bucket["key"]: bucket["doc_count"] for bucket in found["models"]["buckets"]}
        return Contents(answer["hits"]["total"]["value"], int(found["newest"]["value"] or 0), vectors)

    def made_with(self, index: str) -> Mapping[str, Any]:
        """Return what an index was made with: the version of the text `analysis`, and the `dimensions` of its vectors,
        None where it has none."""
        found = self._read(
            lambda client, limit: client.indices.get_mapping(
                index=index, params={"filter_path": "*.mappings._meta", "request_timeout": limit}
            )
        )
        return next((each["mappings"]["_meta"] for each in found.values()), {})

    def compares_vectors(self) -> bool:
        """Whether every machine of the cluster has the plugin that does."""
        if self._vectors_until < self._monotonic():
            found = self._read(
                lambda client, limit: client.nodes.info(
                    metric="plugins", params={"filter_path": "nodes.*.plugins.classname", "request_timeout": limit}
                )
            )
            nodes = [node.get("plugins", ()) for node in found.get("nodes", {}).values()]
            self._has_vectors = bool(nodes) and all(any(one["classname"] == KNN for one in node) for node in nodes)
            self._vectors_until = self._monotonic() + PLUGINS_SECONDS
        return self._has_vectors

    def vectors(self, index: str, ids: Sequence[str]) -> list[StoredVector]:
        """Return the vectors that documents have."""
        found = self._write(
            lambda client, limit: client.mget(
                index=index, body={"ids": list(ids)}, _source=["model", "embedded", "vector"], request_timeout=limit
            )
        )
        sources = [each["_source"] for each in found["docs"] if "vector" in each.get("_source", {})]
        return [StoredVector(one["model"], one["embedded"], np.array(one["vector"], np.float32)) for one in sources]

    def indices(self, pattern: str) -> Mapping[str, frozenset[str]]:
        """Return the aliases of each index that fits a pattern."""
        found = self._write(
            lambda client, limit: client.indices.get_alias(
                index=pattern, params={"expand_wildcards": "all", "request_timeout": limit}
            )
        )
        return {name: frozenset(each["aliases"]) for name, each in found.items()}

    def size(self, index: str) -> int:
        """Return the bytes of an index on all machines."""
        found = self._read(
            lambda client, limit: client.indices.stats(index=index, metric="store", request_timeout=limit)
        )
        return int(found["_all"]["total"]["store"]["size_in_bytes"])

    def page(self, index: str, fields: Sequence[str], after: str | None) -> list[Mapping[str, Any]]:
        """Return the next PAGE documents in the order of their ids, each with the fields. They are read from what is
        stored, so that a document that a disk lost is an error."""
        body: Body = {"size": PAGE, "sort": ["id"], "_source": list(fields), "track_total_hits": False}
        (answer,) = self.search_many(index, [body | ({"search_after": [after]} if after is not None else {})])
        return [hit["_source"] for hit in answer["hits"]["hits"]]

    # Changes

    def create_index(self, name: str, body: Body) -> None:
        """Create an index, unless there is one of that name."""

        def create(client: OpenSearch, limit: Timeout) -> None:
            try:
                client.indices.create(index=name, body=body, request_timeout=limit)
            except RequestError as error:
                if error.error != "resource_already_exists_exception":
                    raise

        self._write(create)

    def delete_indices(self, names: Iterable[str]) -> None:
        """Delete indices; one that is gone already is none to delete."""

        def delete(client: OpenSearch, limit: Timeout) -> None:
            for name in names:
                with suppress(NotFoundError):
                    client.indices.delete(index=name, request_timeout=limit)

        self._write(delete)

    def change_aliases(self, actions: Sequence[Body]) -> None:
        """Make all of the actions, in one step, or none. Raises SearchUnavailable."""
        self._write(
            lambda client, limit: client.indices.update_aliases(body={"actions": list(actions)}, request_timeout=limit)
        )

    def bulk(self, payload: bytes, patience: str = PATIENCE) -> list[Answer]:
        """Send the lines of a bulk request and return what became of each action. For `patience` the cluster waits for
        the machine of the index, and for changes of its mapping."""
        answer = self._write(
            lambda client, limit: client.bulk(
                body=payload,
                params={"timeout": patience, "filter_path": "items.*.status,items.*.error", "request_timeout": limit},
            )
        )
        return [outcome for item in answer["items"] for outcome in item.values()]

    def refresh(self, index: str) -> None:
        """Let searches see what was written."""
        answer = self._write(lambda client, limit: client.indices.refresh(index=index, request_timeout=limit))
        if not answer["_shards"]["successful"]:
            raise refusal({"type": "no_shard_available_action_exception"}, 503)

    def raise_number(self, index: str, key: str, least: int) -> int:
        """Raise the number stored under a key, to `least` at the least, and return it: no two callers get the same."""
        script = {"source": _RAISE, "params": {"least": least}}
        body = {"scripted_upsert": True, "upsert": {"number": 0}, "script": script}
        options = {"_source": "number", "timeout": PATIENCE, "retry_on_conflict": 20}
        answer = self._write(
            lambda client, limit: client.update(
                index=index, id=key, body=body, params={**options, "request_timeout": limit}
            )
        )
        return int(answer["get"]["_source"]["number"])

    def number(self, index: str, key: str) -> int | None:
        answer = self._write(lambda client, limit: client.get(index=index, id=key, request_timeout=limit, ignore=[404]))
        return int(answer["_source"]["number"]) if answer.get("found") else None

    # Every call

    def _read(self, request: Request[Outcome]) -> Outcome:
        """Make a request of which shoppers or pages await the answer."""
        return self._call(request, self._read_limit, is_quick=True)

    def _write(self, request: Request[Outcome]) -> Outcome:
        return self._call(request, self._write_limit, is_quick=False)

    def _call(self, request: Request[Outcome], limit: Timeout, is_quick: bool) -> Outcome:
        self._breaker.check()
        try:
            client = self._client.get()
            self._check_version(client)
            if self._breaker.is_in_doubt:  # A page makes several requests; only one of them waits for long.
                client.info(request_timeout=time_limit(PROBE_SECONDS))
            outcome = request(client, limit)
        except (OpenSearchException, SearchUnavailable) as error:
            raise self._noted(error, is_quick) from error
        except (AttributeError, TypeError, ValueError) as error:
            # The client trips over JSON that is not of OpenSearch, such as that of a proxy.
            log.warning("search_cluster_answer_unreadable", exc_info=True)
            raise refusal("its answer cannot be read") from error
        self._breaker.note_answer()
        self._last_fault = None
        return outcome

    def _noted(self, error: OpenSearchException | SearchUnavailable, is_quick: bool) -> SearchUnavailable:
        failure = error if isinstance(error, SearchUnavailable) else unavailable(error)
        if isinstance(error, ConnectionError) and (is_quick or failure.fault is not EngineFault.SLOW):
            self._breaker.note_silence(failure)
        if failure.fault is not self._last_fault and not isinstance(error, NotFoundError | ConflictError):
            self._last_fault = failure.fault
            log.warning("search_cluster_failed", fault=failure.fault, error=failure.message)
        return failure

    def _check_version(self, client: OpenSearch) -> None:
        """Check once, at the first request, that the cluster is one that the shop was tried with."""
        if self._is_checked:
            return
        about = client.info(request_timeout=self._read_limit)["version"]
        number = str(about["number"])
        version = tuple(int(part) for part in re.findall(r"\d+", number)[:2])
        if about.get("distribution") != "opensearch" or version < OLDEST:
            least = ".".join(map(str, OLDEST))
            raise SearchUnavailable(
                f"The search cluster is {about.get('distribution', 'not OpenSearch, but')} {number}; the shop needs "
                f"OpenSearch {least} or later.",
                EngineFault.VERSION,
            )
        self._is_checked = True


_RAISE = "ctx._source.number = Math.max((long) ctx._source.number + 1L, ((Number) params.least).longValue())"

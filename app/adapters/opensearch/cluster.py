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
from opensearchpy.exceptions import (
    ConflictError,
    ConnectionError,
    NotFoundError,
    OpenSearchException,
    RequestError,
    TransportError,
)
from urllib3 import Timeout

from app.adapters.opensearch.connection import PROBE_SECONDS, Breaker, Client, time_limit
from app.adapters.opensearch.failures import refusal, unavailable
from app.adapters.opensearch.mapping import Body, StoredVector, as_json
from app.config import OpenSearchSettings
from app.domain.search.engine import EngineFault, SearchUnavailable

log = structlog.get_logger()
OLDEST = (2, 12)  # See docs/adr/0067-an-index-on-a-cluster.md.
WRITE_SECONDS = 30.0
# For so long the cluster itself waits for the machine that has an index, in a request of ours that has longer.
PATIENCE = "2s"
COPIES_LIMIT = "20s"  # For so long a build waits for the copies of its index, which were written along with it.
PAGE = 2_000
KNN = "org.opensearch.knn.plugin.KNNPlugin"
PLUGINS_SECONDS = 60.0  # For so long it is believed which plugins a cluster has, …
MANAGER_SECONDS = 2.0  # … and whether it has a manager, …
MOST_FOR_MANAGER = 1.0  # … for which it waits so long: a new one is elected in less.
NAME_AND_BLOCKS = "*.settings.index.blocks,*.settings.index.provided_name"

Outcome = TypeVar("Outcome")
Request = Callable[[OpenSearch, Timeout], Outcome]
Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """The index that searches are made on. `live` is the alias behind which it has to be at the first of them, None for
    one that is not published. Searches of one `preference` are answered by the same copy of the index, as long as that
    answers: each copy counts deleted documents in its scores until it merges its files."""

    index: str
    live: str | None = None
    preference: str | None = None


class SupersededError(Exception):
    """Another index took the place of the one that was searched."""


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
        # Well within the time limit it says that it has none.
        self._manager_limit = f"{int(1000 * min(MOST_FOR_MANAGER, settings.seconds / 2))}ms"
        self._write_limit = time_limit(WRITE_SECONDS)
        self._breaker = Breaker(monotonic)
        self._monotonic = monotonic
        self._has_vectors, self._vectors_until = False, -inf
        self._has_manager, self._manager_until = True, -inf
        self._is_checked = False
        self._last_fault: EngineFault | None = None

    # Searches

    def search_many(self, target: Target, bodies: Sequence[str], *, patient: bool = False) -> list[Answer]:
        """Return the answer to each body of a search, in their order; each is JSON. `patient` is for work of which
        nobody awaits the end. Raises SearchUnavailable, and SupersededError where the target is to be live and is
        not."""
        header = as_json({} if target.preference is None else {"preference": target.preference})
        lines = [line for body in bodies for line in (header, body)]
        lines += [] if target.live is None else [as_json({"index": target.live}), _ANY_DOCUMENT]
        index = target.index

        def answers(client: OpenSearch, limit: Timeout) -> list[Answer]:
            found = client.msearch(body=lines, index=index, request_timeout=limit)["responses"]
            if 2 * len(found) != len(lines):
                raise ValueError(f"{len(found)} answers to {len(lines) // 2} searches")
            return [_whole(answer) for answer in found]

        responses = self._write(answers) if patient else self._read(answers)
        if target.live is not None:
            self._check_live(target.index, target.live, responses.pop())
        return responses

    def _check_live(self, index: str, alias: str, answer: Answer) -> None:
        """Raise SupersededError unless the index is behind the alias, by a document found there."""
        found = answer["hits"]["hits"]
        if index != (found[0]["_index"] if found else self.live_index(alias).name):
            raise SupersededError

    def statistics(self, target: Target, words: Mapping[str, Sequence[str]]) -> Answer:
        """Return what the index knows of words, given by the field: for each of these fields `field_statistics` and
        `terms`, in the form of the API of term vectors. A word that no document has is without `doc_freq`."""
        document = {field: " ".join(those) for field, those in words.items()}
        body = {"doc": document, "term_statistics": True, "field_statistics": True, "positions": False}
        body |= {"offsets": False, "payloads": False, "fields": list(words)}
        options: dict[str, Any] = {} if target.preference is None else {"preference": target.preference}

        def known(client: OpenSearch, limit: Timeout) -> Answer:
            options["request_timeout"] = limit
            found = client.termvectors(index=target.index, body=body, params=options)["term_vectors"]
            return {field: found[field] for field in words if field in found}

        return self._read(known)

    # What there is

    def live_index(self, alias: str) -> LiveIndex:
        """Return the index behind an alias, as the machine that answers knows it: searches go on while the cluster has
        no manager. Raises SearchUnavailable where there is none."""

        def live(client: OpenSearch, limit: Timeout) -> LiveIndex:
            (name, described), *_ = self._known_settings(client, limit, alias).items()
            blocks = described["settings"]["index"].get("blocks", {})
            return LiveIndex(name, blocks.get("read_only_allow_delete") == "true")

        return self._read(live)

    def has_manager(self, alias: str) -> bool:
        """Whether the machines of the cluster are enough to have a manager, without whom nothing changes."""
        if self._manager_until < self._monotonic():
            self._manager_until = self._monotonic() + MANAGER_SECONDS  # Others need not wait for the same answer.
            self._has_manager = self._read(lambda client, limit: self._answers_by_manager(client, limit, alias))
        return self._has_manager

    def _known_settings(self, client: OpenSearch, limit: Timeout, alias: str) -> Answer:
        try:
            return self._settings(client, limit, alias, is_local=True)
        except NotFoundError:  # A machine that has just started knows of no index before it has found the others.
            return self._settings(client, limit, alias, is_local=False)

    def _answers_by_manager(self, client: OpenSearch, limit: Timeout, alias: str) -> bool:
        try:
            self._settings(client, limit, alias, is_local=False)
        except TransportError as error:
            if unavailable(error).fault is not EngineFault.QUORUM:
                raise
            return False
        return True

    def _settings(self, client: OpenSearch, limit: Timeout, alias: str, *, is_local: bool) -> Answer:
        options = {"local": str(is_local).lower(), "cluster_manager_timeout": self._manager_limit}
        found: Answer = client.indices.get_settings(
            index=alias, params={"filter_path": NAME_AND_BLOCKS, **options, "request_timeout": limit}
        )
        return found

    def contents(self, index: str) -> Contents:
        wanted = {"newest": {"max": {"field": "_seq_no"}}, "models": {"terms": {"field": "model"}}}
        body = as_json({"size": 0, "track_total_hits": True, "aggs": wanted})
        (answer,) = self.search_many(Target(index), [body])
        found = answer["aggregations"]
        vectors = {bucket["key"]: bucket["doc_count"] for bucket in found["models"]["buckets"]}
        return Contents(answer["hits"]["total"]["value"], int(found["newest"]["value"] or 0), vectors)

    def made_with(self, index: str) -> Mapping[str, Any]:
        """Return what an index was made with: the version of the text `analysis`, and the `dimensions` of its vectors,
        None where it has none."""

        def meta(client: OpenSearch, limit: Timeout) -> Mapping[str, Any]:
            options = {"filter_path": "*.mappings._meta", "local": "true", "request_timeout": limit}
            (found,) = client.indices.get_mapping(index=index, params=options).values()
            return dict(found["mappings"]["_meta"])

        return self._read(meta)

    def compares_vectors(self) -> bool:
        """Whether every machine of the cluster has the plugin that does."""
        if self._vectors_until < self._monotonic():
            self._has_vectors = self._read(_have_all_nodes_the_plugin)
            self._vectors_until = self._monotonic() + PLUGINS_SECONDS
        return self._has_vectors

    def vectors(self, index: str, ids: Sequence[str]) -> list[StoredVector]:
        """Return the vectors that documents have."""
        found = self.documents(index, ids, ("model", "embedded", "vector"))
        sources = [one for one in found if "vector" in one]
        return [StoredVector(one["model"], one["embedded"], np.array(one["vector"], np.float32)) for one in sources]

    def documents(self, index: str, ids: Sequence[str], fields: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return the documents of ids, as far as they are there, each with those of the fields that it has."""

        def stored(client: OpenSearch, limit: Timeout) -> list[Mapping[str, Any]]:
            found = client.mget(index=index, body={"ids": list(ids)}, _source=list(fields), request_timeout=limit)
            for each in found["docs"]:
                if "error" in each:
                    raise refusal(each["error"])
            return [each["_source"] for each in found["docs"] if each["found"]]

        return self._write(stored)

    def indices(self, pattern: str) -> Mapping[str, frozenset[str]]:
        """Return the aliases of each index that fits a pattern."""

        def aliases(client: OpenSearch, limit: Timeout) -> Mapping[str, frozenset[str]]:
            options = {"expand_wildcards": "all", "request_timeout": limit}
            found = client.indices.get_alias(index=pattern, params=options)
            return {name: frozenset(each["aliases"]) for name, each in found.items()}

        return self._write(aliases)

    def size(self, index: str) -> int:
        """Return the bytes of an index on all machines."""

        def stored(client: OpenSearch, limit: Timeout) -> int:
            found = client.indices.stats(index=index, metric="store", request_timeout=limit)
            return int(found["_all"]["total"]["store"]["size_in_bytes"])

        return self._read(stored)

    def page(self, index: str, fields: Sequence[str], after: str | None) -> list[Mapping[str, Any]]:
        """Return the next PAGE documents in the order of their ids, each with the fields. They are read from what is
        stored, so that a document that a disk lost is an error."""
        body: Body = {"size": PAGE, "sort": ["id"], "_source": list(fields), "track_total_hits": False}
        body |= {"search_after": [after]} if after is not None else {}
        (answer,) = self.search_many(Target(index), [as_json(body)], patient=True)
        return [hit["_source"] for hit in answer["hits"]["hits"]]

    def await_copies(self, index: str) -> None:
        """Wait until every copy of an index that has a machine is complete there. Raises SearchUnavailable where none
        is: the index is lost with the machine that had it."""

        def settled(client: OpenSearch, limit: Timeout) -> None:
            options: dict[str, Any] = {"wait_for_no_initializing_shards": "true", "timeout": COPIES_LIMIT}
            found = client.cluster.health(index=index, params={**options, "request_timeout": limit}, ignore=[408])
            if found["status"] == "red":
                raise refusal({"type": "no_shard_available_action_exception"}, 503)

        self._write(settled)

    # Changes

    def create_index(self, name: str, body: Body) -> None:
        """Create an index, unless there is one of that name."""

        def create(client: OpenSearch, limit: Timeout) -> None:
            try:
                _acknowledged(client.indices.create(index=name, body=body, request_timeout=limit))
            except RequestError as error:
                if error.error != "resource_already_exists_exception":
                    raise

        self._write(create)

    def declare_fields(self, index: str, mapping: Body) -> None:
        """Add fields to an index, where it has not got them."""
        self._write(
            lambda client, limit: _acknowledged(
                client.indices.put_mapping(index=index, body=mapping, request_timeout=limit)
            )
        )

    def delete_indices(self, names: Iterable[str]) -> None:
        """Delete indices; one that is gone already is none to delete."""

        def delete(client: OpenSearch, limit: Timeout) -> None:
            for name in names:
                with suppress(NotFoundError):
                    _acknowledged(client.indices.delete(index=name, request_timeout=limit))

        self._write(delete)

    def change_aliases(self, actions: Sequence[Body]) -> None:
        """Make all of the actions, in one step, or none. Raises SearchUnavailable."""
        body = {"actions": list(actions)}
        self._write(
            lambda client, limit: _acknowledged(client.indices.update_aliases(body=body, request_timeout=limit))
        )

    def bulk(self, payload: bytes, count: int) -> list[Answer]:
        """Send the lines of a bulk request and return what became of each of its `count` actions."""

        def outcomes(client: OpenSearch, limit: Timeout) -> list[Answer]:
            options = {"timeout": PATIENCE, "filter_path": "items.*.status,items.*.error", "request_timeout": limit}
            items = client.bulk(body=payload, params=options)["items"]
            found = [outcome for item in items for outcome in item.values()]
            if len(found) != count:
                raise ValueError(f"{len(found)} outcomes of {count}")
            return found

        return self._write(outcomes)

    def refresh(self, index: str) -> None:
        """Let searches see what was written."""

        def refresh(client: OpenSearch, limit: Timeout) -> None:
            copies = client.indices.refresh(index=index, request_timeout=limit)["_shards"]
            if copies["failed"] or not copies["successful"]:
                raise refusal({"type": "no_shard_available_action_exception"}, 503)

        self._write(refresh)

    def raise_number(self, index: str, key: str, least: int) -> int:
        """Raise the number stored under a key, to `least` at the least, and return it: no two callers get the same."""
        script = {"source": _RAISE, "params": {"least": least}}
        body = {"scripted_upsert": True, "upsert": {"number": 0}, "script": script}
        options = {"_source": "number", "timeout": PATIENCE, "retry_on_conflict": 20}

        def raised(client: OpenSearch, limit: Timeout) -> int:
            answer = client.update(index=index, id=key, body=body, params={**options, "request_timeout": limit})
            return int(answer["get"]["_source"]["number"])

        return self._write(raised)

    def number(self, index: str, key: str) -> int | None:
        def stored(client: OpenSearch, limit: Timeout) -> int | None:
            answer = client.get(index=index, id=key, request_timeout=limit, ignore=[404])
            if "error" in answer or not answer["found"]:
                return None
            return int(answer["_source"]["number"])

        return self._write(stored)

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
        except (OpenSearchException, SearchUnavailable, *_UNREADABLE) as error:
            raise self._noted(error, is_quick) from error
        self._breaker.note_answer()
        self._last_fault = None
        return outcome

    def _noted(self, error: Exception, is_quick: bool) -> SearchUnavailable:
        failure = error if isinstance(error, SearchUnavailable) else unavailable(error)
        if not isinstance(error, ConnectionError):
            self._breaker.note_answer()
        elif is_quick or failure.fault is not EngineFault.SLOW:
            self._breaker.note_silence(failure)
        if failure.fault not in (self._last_fault, EngineFault.INDEX) and not isinstance(error, ConflictError):
            self._last_fault = failure.fault
            trace = isinstance(error, _UNREADABLE)
            log.warning("search_cluster_failed", fault=failure.fault, error=failure.message, exc_info=trace)
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


def _whole(answer: Answer) -> Answer:
    """Return the answer to a search. Raises SearchUnavailable for an error, and for one that is not of the whole index
    or not of all of its documents."""
    if "error" in answer:
        raise refusal(answer["error"], answer.get("status"))
    if answer["_shards"]["failed"]:
        raise refusal({**answer["_shards"], "failed_shards": answer["_shards"]["failures"]}, 503)
    if answer["timed_out"]:
        raise refusal({"type": "timeout_exception"}, 503)
    return answer


def _acknowledged(answer: Answer) -> None:
    """Raise SearchUnavailable where not all machines made a change in time, KeyError for no answer of OpenSearch."""
    if not answer["acknowledged"]:
        raise refusal({"type": "timeout_exception"}, 503)


def _have_all_nodes_the_plugin(client: OpenSearch, limit: Timeout) -> bool:
    """Whether every machine of the cluster compares vectors. A machine without plugins has only its name."""
    options = {"filter_path": "nodes.*.name,nodes.*.plugins.classname", "request_timeout": limit}
    nodes = client.nodes.info(metric="plugins", params=options)["nodes"].values()
    return bool(nodes) and all(any(one["classname"] == KNN for one in node.get("plugins", ())) for node in nodes)


# What JSON that is not of OpenSearch, such as that of a proxy, makes the client and the functions above raise.
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)
_ANY_DOCUMENT = as_json({"size": 1, "_source": False, "terminate_after": 1, "track_total_hits": False})
_RAISE = "ctx._source.number = Math.max((long) ctx._source.number + 1L, ((Number) params.least).longValue())"

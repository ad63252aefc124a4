"""Changes of documents, written by bulk requests of bounded size. Each carries the token of its writer as the version
of the document, so that a writer that was overtaken cannot put an old state over a newer one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.adapters.opensearch.cluster import Cluster
from app.adapters.opensearch.embedding import StoredVectors, text_key
from app.adapters.opensearch.failures import refusal
from app.adapters.opensearch.fencing import OVERTAKEN
from app.adapters.opensearch.mapping import fields_named, names_of, source_of
from app.domain.search.engine import Change, EngineFault, SearchUnavailable, Upsert

MOST_BYTES = 4_000_000
MOST_ACTIONS = 1_000


Attempt = Callable[[Callable[[], None]], None]  # Sends one request, perhaps several times.


@dataclass(frozen=True, slots=True)
class Action:
    """What is done with one document: the lines of the request that say so, and the fields that it needs."""

    lines: bytes
    fields: frozenset[str]


def last_changes(changes: Iterable[Change]) -> list[Change]:
    """Return the last change of each document."""
    by_id = {change.document.id if isinstance(change, Upsert) else change.id: change for change in changes}
    return list(by_id.values())


def once(send: Callable[[], None]) -> None:
    send()


def write(
    cluster: Cluster,
    alias: str,
    changes: Iterable[Change],
    version: int,
    declared: set[str],
    vectors: StoredVectors | None = None,
    attempt: Attempt = once,
) -> int:
    """Write changes through an alias and return how many there were; a document has a vector where there is one of its
    text. `declared` are fields that the index is known to have, to which those of the documents are added.
    Searches see them after a refresh. Raises SearchUnavailable where one is not taken, with all others of its request
    written."""
    count = 0
    for batch in _batches(_action(alias, change, version, vectors) for change in changes):
        attempt(partial(_send, cluster, alias, batch, declared))
        count += len(batch)
    return count


def _send(cluster: Cluster, alias: str, batch: Sequence[Action], declared: set[str]) -> None:
    _declare(cluster, alias, frozenset().union(*(action.fields for action in batch)), declared)
    for outcome in cluster.bulk(b"".join(action.lines for action in batch), len(batch)):
        _refuse_failure(outcome)


def _declare(cluster: Cluster, alias: str, fields: frozenset[str], declared: set[str]) -> None:
    """Add the new fields of a request at once: for each that it finds in a document, the cluster changes its state,
    which for the hundreds of a new shop takes longer than a request may."""
    if fields <= declared:
        return
    try:
        cluster.declare_fields(alias, fields_named(sorted(fields - declared)))
    except SearchUnavailable as error:
        if error.fault is not EngineFault.MAPPING:
            raise  # Which document has too many fields, its own outcome says.
    else:
        declared |= fields


def _action(alias: str, change: Change, version: int, vectors: StoredVectors | None) -> Action:
    kind, id = ("index", change.document.id) if isinstance(change, Upsert) else ("delete", change.id)
    lines = [{kind: {"_index": alias, "_id": id, "version": version, "version_type": "external_gte"}}]
    if isinstance(change, Upsert):
        vector = vectors.get(text_key(change.document)) if vectors else None
        lines.append(source_of(change.document, vector))
    fields = names_of(change.document) if isinstance(change, Upsert) else frozenset[str]()
    return Action(b"".join(_line(line) for line in lines), fields)


def _line(content: Mapping[str, Any]) -> bytes:
    # Half of a surrogate pair is no character, and no JSON has it.
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _batches(actions: Iterator[Action]) -> Iterator[list[Action]]:
    batch: list[Action] = []
    size = 0
    for action in actions:
        if batch and (size + len(action.lines) > MOST_BYTES or len(batch) == MOST_ACTIONS):
            yield batch
            batch, size = [], 0
        batch.append(action)
        size += len(action.lines)
    if batch:
        yield batch


def _refuse_failure(outcome: Mapping[str, Any]) -> None:
    error = outcome.get("error")
    if error is None:  # Deleting what is not there is no failure.
        return
    if error["type"] == "version_conflict_engine_exception":
        raise SearchUnavailable(OVERTAKEN, fault=None)
    raise refusal(error, outcome["status"])

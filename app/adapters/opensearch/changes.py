"""Changes of documents, written by bulk requests of bounded size. Each carries the token of its writer as the version
of the document, so that a writer that was overtaken cannot put an old state over a newer one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.adapters.opensearch.cluster import PATIENCE, Cluster
from app.adapters.opensearch.embedding import StoredVectors, text_key
from app.adapters.opensearch.failures import refusal
from app.adapters.opensearch.fencing import OVERTAKEN
from app.adapters.opensearch.mapping import source_of
from app.domain.search.engine import Change, SearchUnavailable, Upsert

MOST_BYTES = 4_000_000
MOST_ACTIONS = 1_000
Action = tuple[str, bytes]  # What is done, and the lines of the request that say so.


def last_changes(changes: Iterable[Change]) -> list[Change]:
    """Return the last change of each document."""
    by_id = {change.document.id if isinstance(change, Upsert) else change.id: change for change in changes}
    return list(by_id.values())


def write(
    cluster: Cluster,
    alias: str,
    changes: Iterable[Change],
    version: int,
    vectors: StoredVectors | None = None,
    patience: str = PATIENCE,
) -> int:
    """Write changes through an alias and return how many documents are new; a document has a vector where there is one
    of its text. Searches see them after a refresh. Raises SearchUnavailable where one is not taken, with all others of
    its request written."""
    new = 0
    for batch in _batches(_action(alias, change, version, vectors) for change in changes):
        outcomes = cluster.bulk(b"".join(lines for _, lines in batch), patience)
        for (kind, _), outcome in zip(batch, outcomes, strict=True):
            _refuse_failure(kind, outcome)
            new += outcome["status"] == 201
    return new


def _action(alias: str, change: Change, version: int, vectors: StoredVectors | None) -> Action:
    kind, id = ("index", change.document.id) if isinstance(change, Upsert) else ("delete", change.id)
    lines = [{kind: {"_index": alias, "_id": id, "version": version, "version_type": "external_gte"}}]
    if isinstance(change, Upsert):
        vector = vectors.get(text_key(change.document)) if vectors else None
        lines.append(source_of(change.document, vector))
    return kind, b"".join(_line(line) for line in lines)


def _line(content: Mapping[str, Any]) -> bytes:
    # Half of a surrogate pair is no character, and no JSON has it.
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _batches(actions: Iterator[Action]) -> Iterator[list[Action]]:
    batch: list[Action] = []
    size = 0
    for action in actions:
        if batch and (size + len(action[1]) > MOST_BYTES or len(batch) == MOST_ACTIONS):
            yield batch
            batch, size = [], 0
        batch.append(action)
        size += len(action[1])
    if batch:
        yield batch


def _refuse_failure(kind: str, outcome: Mapping[str, Any]) -> None:
    error = outcome.get("error")
    if error is None:  # Deleting what is not there is no failure.
        return
    if error["type"] == "version_conflict_engine_exception":
        raise SearchUnavailable(OVERTAKEN, fault=None)
    raise refusal(error, outcome["status"])

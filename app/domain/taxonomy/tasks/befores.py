"""The classifications that a task found on its products, kept in its report so that the task can be undone. Pure.

They are kept for MOST products and LARGEST characters at most; of a larger task none are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.taxonomy.models import Kind, TaxonomyTask
from app.domain.work.models import State

MOST = 1_000
LARGEST = 1_000_000
KEPT, SIZE, TOO_LARGE, UNDONE_BY = "befores", "beforesSize", "isTooLarge", "undoneBy"
INTERNAL = frozenset((KEPT, SIZE, TOO_LARGE, UNDONE_BY))  # Keys of a report that only undo reads.
UNDOABLE = frozenset((Kind.ASSIGN_LEVEL.value, Kind.ASSIGN_VALUE.value, Kind.UNDO.value))


@dataclass(frozen=True, slots=True)
class Before:
    """The classification that a product had; `after` is the digest of the one that the task left."""

    level_id: str | None
    values: Mapping[str, Any]
    after: str


def digest(level_id: str | None, values: Mapping[str, Any]) -> str:
    written = json.dumps([level_id, values], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(written.encode(), digest_size=12).hexdigest()


def keep(report: dict[str, Any], product_id: int, before: Before) -> None:
    """Keep what a product had in the report of the task that changes it."""
    if report.get(TOO_LARGE):
        return
    entry = {"id": product_id, "level": before.level_id, "values": dict(before.values), "after": before.after}
    size = report.get(SIZE, 0) + len(json.dumps(entry))
    if size > LARGEST or len(report.get(KEPT, ())) >= MOST:
        report.pop(KEPT, None)
        report[TOO_LARGE] = True
        return
    report[SIZE] = size
    report.setdefault(KEPT, []).append(entry)


def befores_of(task: TaxonomyTask) -> Mapping[int, Before]:
    """Return what the products of a task had before, by product id."""
    kept = task.report.get(KEPT, ())
    return {one["id"]: Before(one["level"], one["values"], one["after"]) for one in kept}


def without_befores(report: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in INTERNAL}


def can_be_undone(task: TaxonomyTask) -> bool:
    """Whether undo is offered for a task; products may have changed since all the same."""
    return why_not_undone(task) is None


def is_too_large(task: TaxonomyTask) -> bool:
    """Whether a task that is done is not undone for its size alone."""
    return task.state == State.DONE and bool(task.report.get(TOO_LARGE))


def why_not_undone(task: TaxonomyTask) -> str | None:
    """Return the reason why a task cannot be undone whatever became of its products, else None."""
    if task.kind not in UNDOABLE:
        return "Work of this kind cannot be undone."
    if task.state != State.DONE:
        return "Only a task that is done can be undone."
    if task.report.get(UNDONE_BY):
        return "It is undone already."
    if task.report.get(TOO_LARGE):
        return f"It changed too much to be undone in one step: at most {MOST:,} products are."
    kept, changed = len(task.report.get(KEPT, ())), task.report.get("changed", 0)
    if not changed:
        return "It changed nothing."
    return None if kept == changed else "An earlier release of the shop did a part of it, of which nothing was kept."

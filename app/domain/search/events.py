"""What search tells upward."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexChangesWaiting:
    site_id: int


@dataclass(frozen=True, slots=True)
class RebuildRequested:
    run_id: str


@dataclass(frozen=True, slots=True)
class WordsChanged:
    """Synonyms or rules of a site were saved and are not served yet."""

    site_id: int

"""What indexing and trials of searches are handed."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.search.engine import SearchEngine
from app.domain.work.context import WorkContext


@dataclass(frozen=True, slots=True)
class SearchContext(WorkContext):
    """The context of work, with the search engine."""

    engine: SearchEngine

"""The context that indexing and previews of searches are given."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.search.engine import SearchEngine
from app.domain.work.context import WorkContext


@dataclass(frozen=True, slots=True)
class SearchContext(WorkContext):
    """The context of work, with the search engine."""

    engine: SearchEngine

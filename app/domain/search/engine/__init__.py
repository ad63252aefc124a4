"""The port to a search engine: what a shop requires of one, in the shop's own words.

No type, path or query syntax of an engine crosses this port, so an engine that runs in this
process on files and one that runs on a cluster with aliases fit alike. Every call names the site:
sites never share an index.
"""

from app.domain.search.engine.documents import Change, Delete, IndexDocument, IndexName, Upsert
from app.domain.search.engine.port import (
    EngineState,
    EngineStatus,
    Generation,
    SearchBeingPrepared,
    SearchEngine,
    Searching,
    SearchUnavailable,
    TrialsUnsupported,
)
from app.domain.search.engine.requests import (
    MOST_FACET_VALUES,
    RESULT_WINDOW,
    Alternatives,
    LearnedFactors,
    Pin,
    RangeFilter,
    SearchRequest,
    Sort,
    ValueFilter,
)
from app.domain.search.engine.results import Explanation, FieldMatch, Hit, RangeCount, ScorePart, SearchResult

__all__ = [
    "MOST_FACET_VALUES",
    "RESULT_WINDOW",
    "Alternatives",
    "Change",
    "Delete",
    "EngineState",
    "EngineStatus",
    "Explanation",
    "FieldMatch",
    "Generation",
    "Hit",
    "IndexDocument",
    "IndexName",
    "LearnedFactors",
    "Pin",
    "RangeCount",
    "RangeFilter",
    "ScorePart",
    "SearchBeingPrepared",
    "SearchEngine",
    "SearchRequest",
    "SearchResult",
    "SearchUnavailable",
    "Searching",
    "Sort",
    "TrialsUnsupported",
    "Upsert",
    "ValueFilter",
]

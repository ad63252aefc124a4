"""The spools of what is counted: searches with what follows from them, suggestions, and visits of crawlers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.adapters.line_spool import LARGEST, MOST_TRIES, PART, LineSpool
from app.domain.search_statistics.counting import daily_counts, events
from app.domain.search_statistics.counting.daily_counts import SuggestionsShown
from app.domain.search_statistics.counting.events import Event
from app.domain.seo import crawlers
from app.domain.seo.crawlers import CrawlerVisit

__all__ = ["MOST_TRIES", "FileSpool", "SuggestionSpool", "VisitSpool"]
LARGEST_OF_VISITS = 16 * 1024**2  # Pending bytes, some 200,000 visits.
LARGEST_OF_SUGGESTIONS = 16 * 1024**2  # Some 800,000 lists.


class FileSpool(LineSpool[Event]):
    """The spool of searches."""

    def __init__(
        self,
        folder: Path,
        largest: int = LARGEST,
        part: int = PART,
        notes: Callable[[OSError], bool] = lambda _error: False,
    ) -> None:
        super().__init__(folder, events.as_json, events.from_json, largest, part, notes, events.is_of_unknown_version)


class VisitSpool(LineSpool[CrawlerVisit]):
    """The spool of crawlers' visits."""

    def __init__(self, folder: Path, notes: Callable[[OSError], bool] = lambda _error: False) -> None:
        super().__init__(folder, crawlers.visit_to_json, crawlers.visit_from_json, LARGEST_OF_VISITS, notes=notes)


class SuggestionSpool(LineSpool[SuggestionsShown]):
    """The spool of lists of suggestions."""

    def __init__(self, folder: Path, notes: Callable[[OSError], bool] = lambda _error: False) -> None:
        super().__init__(
            folder,
            daily_counts.suggestions_as_json,
            daily_counts.suggestions_from_json,
            LARGEST_OF_SUGGESTIONS,
            notes=notes,
        )

"""What is said of a run that failed is what shoppers have."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.search.index.run_summary import summary_of
from app.domain.search.models import RebuildRun

WHEN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
Swaps = dict[str, dict[str, str | None]]


def failed(scope: str, generations: Swaps) -> RebuildRun:
    return RebuildRun(
        id="a", scope=scope, state="failed", done=0, requested_by="Mia", created_at=WHEN,
        generations=generations,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("scope", "generations", "live", "words"),
    [
        ("ALL", {}, {"products": "1"}, "The old index stays live"),
        ("ALL", {}, {}, "no index of products in use"),
        ("CONTENT", {}, {"products": "1"}, "no index of pages and collections in use"),
        ("ALL", {"products": {"before": "1", "after": "2"}}, {"products": "2"}, "new index of products is in use"),
        ("PRODUCTS", {"products": {"before": "1"}}, {"products": "2"}, "new index of products is in use"),
        ("PRODUCTS", {"products": {"before": "1"}}, {"products": "1"}, "The old index stays live"),
    ],
)
def test_a_failed_run_tells_what_shoppers_search_with(
    scope: str, generations: Swaps, live: dict[str, str | None], words: str
) -> None:
    assert words in (summary_of(failed(scope, generations), live).aftermath or "")

"""What is said of a run that failed is what shoppers have."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.search.index.rebuild_outcomes import describe_join, summary_of
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


@pytest.mark.parametrize(
    ("done", "total", "words"),
    [
        (0, None, "Counting the documents…"),
        (1, None, "1 document so far"),
        (2, None, "2 documents so far"),
        (0, 1, "0 of 1 document"),
        (1_000, 19_406, "1,000 of 19,406 documents"),
    ],
)
def test_progress_counts_documents(done: int, total: int | None, words: str) -> None:
    run = RebuildRun(
        id="a",
        scope="ALL",
        state="running",
        done=done,
        total=total,
        requested_by="Mia",
        created_at=WHEN,
        generations={},
    )
    assert summary_of(run, {}).progress == words


@pytest.mark.parametrize(
    ("scope", "queued", "words"),
    [
        ("PRODUCTS", "CONTENT", "Pages and collections are rebuilt right after it, since it rebuilds products only."),
        ("CONTENT", "PRODUCTS", "Products are rebuilt right after it, since it rebuilds pages and collections only."),
        ("PRODUCTS", "PRODUCTS", "Products are rebuilt again right after it."),
        ("PRODUCTS", "ALL", "Everything is rebuilt right after it, since it rebuilds products only."),
        ("PRODUCTS", None, "A rebuild of products, requested by Mia, is under way already. You joined it."),
    ],
)
def test_who_joins_a_run_learns_what_it_leaves_out(scope: str, queued: str | None, words: str) -> None:
    run = RebuildRun(
        id="a", scope=scope, queued_scope=queued, state="running", done=0, requested_by="Mia", created_at=WHEN
    )
    assert describe_join(run).endswith(words)

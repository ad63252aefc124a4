"""Hits of redirects: each batch is added once, whatever comes late or is gone."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from app.domain.search_statistics.counting.events import EventBatch
from app.domain.search_statistics.counting.file_spool import FileSpool
from app.domain.seo.models import Redirect
from app.domain.seo.redirects.redirect_hits import (
    REDIRECT_HITS,
    RedirectHit,
    hit_from_json,
    sums_by_redirect,
    write_hits,
)
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_redirect, make_site
from tests.fakes.clock import StoppedClock

MONDAY, TUESDAY = date(2026, 11, 23), date(2026, 11, 24)


def test_a_batch_counts_once_and_one_that_comes_late_changes_no_later_day(context: None, clock: StoppedClock) -> None:
    with transaction():
        redirect_id = make_redirect(make_site()).id

    def write(batch_id: str, *hits: RedirectHit) -> tuple[int, date | None]:
        with transaction():
            write_hits(clock, batch_id, sums_by_redirect(EventBatch(batch_id, hits)))
        row = db.session.get_one(Redirect, redirect_id, populate_existing=True)
        return row.hits, row.last_hit_on

    tuesday = RedirectHit(redirect_id, TUESDAY)
    assert write("a", tuesday, RedirectHit(redirect_id, MONDAY), tuesday, RedirectHit(redirect_id + 1, TUESDAY)) == (
        3,
        TUESDAY,
    )
    assert write("a", tuesday) == (3, TUESDAY)
    assert write("late", RedirectHit(redirect_id, MONDAY)) == (4, TUESDAY)
    assert write("empty") == (4, TUESDAY)


def test_hits_wait_in_a_spool_and_a_line_that_was_cut_off_counts_nothing(tmp_path: Path) -> None:
    hits = [RedirectHit(7, MONDAY), RedirectHit(8, TUESDAY)]
    FileSpool(REDIRECT_HITS, tmp_path).note(hits)
    with FileSpool(REDIRECT_HITS, tmp_path).batches() as batches:
        assert [hit for batch in batches for hit in batch.events] == hits
    assert [hit_from_json(value) for value in ([7], ["x", "2026-11-23"], [7, "2026-13-01"], None)] == [None] * 4

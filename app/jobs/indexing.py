"""Jobs that keep the search indexes equal to the database. A job names rows by their ids; their site is read from the
database."""

from __future__ import annotations

from functools import partial

from app.domain.relevance import golden as golden_check
from app.domain.search.index import healing, outbox
from app.domain.search.index import rebuild as rebuilding
from app.jobs.follow_up import follow_up
from app.ports import queue
from app.work_context import work_context


def apply_outbox(site_id: int) -> bool:
    """Apply outbox entries of a site for a turn, and enqueue the rest as a job of its own. Return whether there is a
    rest that the queue did not take."""
    return outbox.apply_for_a_turn(work_context(), site_id) and not queue().enqueue("indexing:apply_outbox", site_id)


def make_first(site_id: int) -> None:
    """Make the first index of a site that was just saved. Never raises: a failure is logged, and noted in the run where
    there is one, so that neither saving the site nor what else follows from it fails."""
    with follow_up("first_index_failed", site=site_id):
        healing.build_first_index(work_context(), site_id)


def make_missing() -> None:
    """Make the small indexes that lack the products of their sites, before the shop is ready. Never raises."""
    with follow_up("first_index_failed"):
        healing.build_missing_indexes(work_context())


def heal() -> None:
    """Heal indexes and unfinished work; the scheduler calls it once a second."""
    healing.heal(work_context())


def rebuild(run_id: str) -> bool:
    """Rebuild; golden searches that the new index would break block it, where the site wants that."""
    indexing = work_context()
    return rebuilding.rebuild(indexing, run_id, examine=partial(golden_check.hold_back, indexing))

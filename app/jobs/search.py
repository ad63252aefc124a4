"""Search: its indexes are kept equal to the database, and saved synonyms and rules are published. A job names rows by
their ids; their site is read from the database."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.domain.relevance import golden, publishing
from app.domain.relevance.judgements import guard
from app.domain.search.events import ConfigurationSaved
from app.domain.search.index import healing, outbox
from app.domain.search.index import rebuild as rebuilding
from app.domain.search.index import reconcile as reconciling
from app.domain.search.serving import configuration
from app.domain.shared.problems import DomainError
from app.domain.shared.redaction import error_summary
from app.extensions import db
from app.jobs.events import follow_up
from app.operations.storage import note_storage_fault
from app.operations.work_context import work_context
from app.ports import clock, queue
from app.transaction import transaction

log = structlog.get_logger()


def apply_outbox(site_id: int) -> bool:
    """Apply outbox entries of a site for a turn, and enqueue the rest as a job of its own. Return whether there is a
    rest that the queue did not take."""
    return outbox.apply_for_a_turn(work_context(), site_id) and not queue().enqueue("search:apply_outbox", site_id)


def rebuild(run_id: str) -> bool:
    """Rebuild; golden searches that the new index would break block it, and judgement lists whose figures it lowers,
    where the site wants that."""
    context = work_context()
    examine, judge = partial(golden.hold_back, context), partial(guard.hold_back, context)
    return rebuilding.rebuild(context, run_id, examine=examine, judge=judge)


def make_first_index(site_id: int) -> None:
    """Make the first index of a site that was just saved. Never raises: a failure is logged, and noted in the run where
    there is one, so that neither saving the site nor what else follows from it fails."""
    with follow_up("first_index_failed", site=site_id):
        healing.build_first_index(work_context(), site_id)


def make_missing_indexes() -> None:
    """Make the small indexes that lack the products of their sites, before the shop is ready. Never raises."""
    with follow_up("first_index_failed"):
        healing.build_missing_indexes(work_context())


def heal() -> None:
    """Heal indexes and unfinished work; the scheduler calls it once a second."""
    healing.heal(work_context())


def reconcile(site_id: int) -> None:
    """Compare the index of a site with the database, and repair it."""
    report = reconciling.reconcile(work_context(), site_id)
    if report is not None:
        log.info("reconciled", site=site_id, missing=report.missing, extra=report.extra, stale=report.stale)


def publish_words(saved: ConfigurationSaved, again: bool = False) -> bool:
    """Publish the saved synonyms and rules of a site at once and in this process, so that what a merchandiser saved is
    served when the next page answers; return whether that succeeded. Never raises: they are saved, and the scheduler
    publishes what was left, `again` each second, for which a line in the log is enough."""
    site_id = saved.site_id
    try:
        with transaction():
            publishing.publish(clock(), site_id)
    except (DomainError, SQLAlchemyError, OSError) as error:
        db.session.rollback()
        if not note_storage_fault(error):
            log.warning("words_not_published", site=site_id, error=error_summary(error))
        return False
    except Exception as error:
        db.session.rollback()
        log.error("words_not_published", site=site_id, error=error_summary(error), exc_info=not again)
        return False
    return True


def publish_forgotten_words() -> None:
    """Publish what was saved and, after a crash or a failure, not published."""
    for site_id in configuration.unpublished_sites():
        publish_words(ConfigurationSaved(site_id), again=True)


@dataclass
class SnapshotWatch:
    """The watch that has rules by condition published anew where an older release, which knows none, published them. It
    looks at each version once."""

    _looked: dict[int, int] = field(default_factory=dict)

    def look(self) -> None:
        for site_id, version in configuration.live_versions().items():
            if self._looked.get(site_id) != version:
                if publishing.lacks_conditions(site_id):
                    with transaction():
                        configuration.raise_version(site_id)
                    log.warning("rules_published_by_an_older_release", site=site_id, version=version)
                self._looked[site_id] = version

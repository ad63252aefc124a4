"""THE table of leased work: the job of each kind. To add a kind, declare it here (and the queue of its job in
app/adapters/queue.py and on its model)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog

from app.domain.bundles.runs import BUNDLE_RUN
from app.domain.catalogue.product_images import UPLOAD_WORK
from app.domain.orders import mails as order_mails
from app.domain.orders.mails import ORDER_MAIL
from app.domain.pos import journal_mails
from app.domain.pos import receipts as receipt_mails
from app.domain.pos.journal_mails import JOURNAL_MAIL
from app.domain.pos.receipts import RECEIPT_MAIL
from app.domain.pos.reconciliation.checks import PAYMENT_CHECKS
from app.domain.pos.reconciliation.nightly import RECONCILIATION
from app.domain.relevance.judgements.runs import JUDGEMENT
from app.domain.relevance.replays import REPLAY
from app.domain.relevance.synonym_suggestions import SUGGESTIONS
from app.domain.search.index import runs
from app.domain.search.index.runs import REBUILD
from app.domain.seo.site_check import SITE_CHECK
from app.domain.seo.sitemap.builds import SITEMAP
from app.domain.shared.clock import Clock
from app.domain.sites import account_mails
from app.domain.sites.account_mails import ACCOUNT_MAIL
from app.domain.system.backup_runs import BACKUP
from app.domain.taxonomy.tasks.queue import TASK
from app.domain.taxonomy.tasks.runner import sites_with_work
from app.domain.work import leases
from app.domain.work.models import LeasedWork, WorkKind
from app.jobs import accounts, backups, catalogue, orders, pos, relevance, search, seo
from app.ports import clock, machine_id, queue, search_engine, worker_locks
from app.transaction import transaction

REQUEST_AGAIN_AFTER = 10.0  # Seconds.

log = structlog.get_logger()
Background = Callable[[str, Callable[[], object]], bool]


@dataclass(frozen=True, slots=True)
class LeasedJob:
    """The job of a kind of leased work. `job` is what the queue runs for a key; `run` does the same, or all that is
    left, beside the scheduler while there is no queue, under the name `title`. `waiting` returns the keys that no
    worker has claimed, `expire` ends work that none will finish; None for what every kind does."""

    kind: WorkKind[Any]
    job: str
    title: str
    run: Callable[[Any], object]
    waiting: Callable[[], Iterable[Any]] | None = None
    expire: Callable[[Clock], list[Any]] | None = None

    def waiting_keys(self) -> list[Any]:
        return list(self.waiting() if self.waiting else leases.free_keys(self.kind, clock(), machine_id()))

    def expired(self, clock: Clock) -> list[LeasedWork]:
        return self.expire(clock) if self.expire else leases.expire(self.kind, clock)


LEASED_JOBS = {
    leased.kind.name: leased
    for leased in (
        LeasedJob(
            REBUILD,
            "search:rebuild",
            "rebuild {}",
            search.rebuild,
            expire=lambda clock: runs.expire_runs(clock, search_engine()),
        ),
        LeasedJob(
            TASK,
            "catalogue:work_off_tasks",
            "tasks of site {}",
            catalogue.work_off_all_tasks,
            waiting=lambda: sites_with_work(clock()),
        ),
        LeasedJob(SUGGESTIONS, "relevance:suggest_synonyms", "suggestions of site {}", relevance.suggest_synonyms),
        LeasedJob(UPLOAD_WORK, "catalogue:prepare_picture", "picture {}", catalogue.prepare_picture),
        LeasedJob(REPLAY, "relevance:replay", "replay {}", relevance.replay),
        LeasedJob(JUDGEMENT, "relevance:judge", "figures of a judgement list {}", relevance.judge),
        LeasedJob(SITEMAP, "seo:build_sitemap", "sitemap {}", seo.build_sitemap),
        LeasedJob(PAYMENT_CHECKS, "pos:check_payments", "open payments of site {}", pos.check_payments),
        LeasedJob(RECONCILIATION, "pos:reconcile", "reconciliation {}", pos.reconcile),
        LeasedJob(
            RECEIPT_MAIL,
            "pos:send_receipt",
            "receipt {}",
            pos.send_receipt,
            waiting=lambda: receipt_mails.due_mails(clock()),
        ),
        LeasedJob(
            JOURNAL_MAIL,
            "pos:send_journal_mail",
            "mail of the journal {}",
            pos.send_journal_mail,
            waiting=lambda: journal_mails.due(clock()),
        ),
        LeasedJob(
            ORDER_MAIL,
            "orders:send_mail",
            "mail about an order {}",
            orders.send_mail,
            waiting=lambda: order_mails.due(clock()),
        ),
        LeasedJob(
            ACCOUNT_MAIL,
            "accounts:send_mail",
            "mail to a user {}",
            accounts.send_mail,
            waiting=lambda: account_mails.due(clock()),
        ),
        LeasedJob(BUNDLE_RUN, "catalogue:run_bundle", "import or export {}", catalogue.run_bundle),
        LeasedJob(BACKUP, "backups:make", "backup {}", backups.make),
        LeasedJob(SITE_CHECK, "seo:check_site", "site check {}", seo.check_whole_site),
    )
}


@dataclass
class LeasedWatch:
    """The watch over one kind of leased work, as far as this machine may do it. It requests the jobs of waiting work
    again, since the queue may have lost them, or does the work beside the scheduler while there is no queue; it ends
    work that no worker will finish, and releases the leases of workers that died."""

    leased: LeasedJob
    clock: Clock
    _requested: dict[Any, float] = field(default_factory=dict)

    def look(self, in_background: Background) -> None:
        self._release_dead()
        self._expire()
        now = clock().monotonic()
        self._requested = {key: self._requested.get(key, now) for key in self.leased.waiting_keys()}
        for key, requested_at in self._requested.items():
            if now - requested_at >= REQUEST_AGAIN_AFTER:
                self._requested[key] = now
                machine = machine_id() if self.leased.kind.is_of_machine else ""
                if not queue().enqueue(self.leased.job, key, machine=machine):
                    in_background(self.leased.title.format(key), partial(self.leased.run, key))

    def _release_dead(self) -> None:
        if leases.dead_claims(self.leased.kind, clock(), worker_locks()):
            with transaction():
                leases.release_dead(self.leased.kind, clock(), worker_locks())

    def _expire(self) -> None:
        if not self.leased.kind.can_expire or not leases.any_unfinished(self.leased.kind):
            return  # Without the lock that every write takes on SQLite.
        with transaction():
            ended = [(row.state, row.error) for row in self.leased.expired(self.clock)]
        for state, error in ended:
            log.warning("work_expired", kind=self.leased.kind.name, state=state, error=error)

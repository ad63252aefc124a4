"""An example of every kind of leased work: how it is requested, and a request that waits."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select

from app.domain.bundles import runs as bundle_runs
from app.domain.bundles.parts import Part
from app.domain.bundles.runs import BUNDLE_RUN
from app.domain.catalogue import product_images
from app.domain.catalogue.models import Product
from app.domain.catalogue.product_images import UPLOAD_WORK
from app.domain.orders import mails as order_mails
from app.domain.orders.mail_contents import OrderMailKind
from app.domain.orders.mails import ORDER_MAIL
from app.domain.orders.models import Order
from app.domain.pos import journal, journal_mails, receipts
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.journal_mails import JOURNAL_MAIL
from app.domain.pos.receipts import RECEIPT_MAIL
from app.domain.pos.reconciliation import checks as payment_checks
from app.domain.pos.reconciliation import nightly
from app.domain.pos.reconciliation.checks import PAYMENT_CHECKS
from app.domain.pos.reconciliation.nightly import RECONCILIATION
from app.domain.relevance import replays, synonym_suggestions
from app.domain.relevance.judgements import runs as judgement_runs
from app.domain.relevance.judgements.runs import JUDGEMENT
from app.domain.relevance.proposals import SynonymProposal
from app.domain.relevance.replays import REPLAY
from app.domain.relevance.synonym_suggestions import SUGGESTIONS
from app.domain.search.engine import SearchContext
from app.domain.search.index import runs
from app.domain.search.index.runs import REBUILD
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.seo import site_check
from app.domain.seo.site_check import SITE_CHECK
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.builds import SITEMAP
from app.domain.shared.author import Author
from app.domain.sites import account_mails
from app.domain.sites.account_mails import ACCOUNT_MAIL, AccountMailKind
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.system import backup_runs
from app.domain.system.backup_runs import BACKUP
from app.domain.taxonomy import tasks
from app.domain.taxonomy.tasks.queue import TASK
from app.domain.work import leases
from app.domain.work.leases import Claim
from app.domain.work.models import LeasedWork, State, WorkKind
from app.extensions import db
from app.jobs.scheduler import Scheduler
from app.ports import images, machine_id
from app.transaction import transaction
from tests.factories import (
    make_agent,
    make_judged_search,
    make_judgement_list,
    make_location,
    make_transaction,
    make_user,
)
from tests.searching import add_product

A_PICTURE = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")  # A GIF of one pixel.
CHANGE = SynonymProposal(SynonymGroup(SynonymType.EQUIVALENT, None, ("mug", "cup")))


@dataclass(frozen=True)
class Example:
    """How work of a kind is requested; the row of some is named by the site, and the job of some. `end` is the state in
    which it ends in a shop of tests; `is_alone`: a machine has one at a time, from whichever site."""

    kind: WorkKind[Any]
    request: Callable[[SearchContext, Author], Any]
    is_keyed_by_site: bool = False
    job_is_per_site: bool = False
    end: State = State.DONE
    is_alone: bool = False


def upload_picture(_context: SearchContext, author: Author) -> None:
    product = db.session.scalars(select(Product).where(Product.site_id == author.site_id)).first()
    product = product or add_product(author.site_id, "mug")
    file = images().receive(author.site_id, A_PICTURE)
    product_images.request_upload(author, product.id, file, "mug.png", "A mug")


def mail_receipt(_context: SearchContext, author: Author) -> None:
    site = db.session.get_one(Site, author.site_id)
    location = make_location(site)
    payment = make_transaction(make_agent(site, make_user(site), location), location, "SUCCEEDED")
    receipts.request_mail(author, payment.id, "sam@home.test", "https://shop.test/r/x")


def mail_journal(_context: SearchContext, author: Author) -> None:
    change_settings(author.site_id, {"posJournalMail": "ada@books.test"})
    sale = journal.append(author.clock, author.site_id, MoneyEvent(EntryType.SALE, author.now()))
    journal_mails.request_mail(author, sale)


def compute_figures(_context: SearchContext, author: Author) -> None:
    site = db.session.get_one(Site, author.site_id)
    judgements = make_judgement_list(site)
    make_judged_search(judgements, "mug", {"MUG-1": 3})
    judgement_runs.request(author, judgements.id)


def mail_about_order(_context: SearchContext, author: Author) -> None:
    numbers = select(func.count()).select_from(Order).where(Order.site_id == author.site_id)
    number = (db.session.scalar(numbers) or 0) + 1
    order = Order(
        id=f"order-{author.site_id}-{number}",
        site_id=author.site_id,
        number=number,
        status="SUBMITTED",
        currency="gbp",
        contact_email="sam@home.test",
        created_at=author.now(),
        updated_at=author.now(),
    )
    db.session.add(order)
    db.session.flush()
    order_mails.request_mail(author, order, OrderMailKind.RECEIVED)


def mail_link_to_user(_context: SearchContext, author: Author) -> None:
    user = make_user(db.session.get_one(Site, author.site_id))
    account_mails.request_mail(author, user, AccountMailKind.RESET)


def export_shop(_context: SearchContext, author: Author) -> None:
    user = make_user(db.session.get_one(Site, author.site_id))
    bundle_runs.request_export(author, user.id, "shop.zip", frozenset(Part))


EXAMPLES = {
    example.kind.name: example
    for example in (
        Example(REBUILD, lambda context, author: runs.request_rebuild(author, context.engine, context.locks, "ALL")),
        Example(TASK, lambda _, author: tasks.request(author, tasks.Kind.RECOMPUTE, {}), job_is_per_site=True),
        Example(
            SUGGESTIONS,
            lambda _, author: synonym_suggestions.request_run(author),
            is_keyed_by_site=True,
            job_is_per_site=True,
        ),
        Example(REPLAY, lambda _, author: replays.request(author, CHANGE)),
        Example(JUDGEMENT, compute_figures),
        Example(UPLOAD_WORK, upload_picture),
        Example(SITEMAP, lambda _, author: builds.request_build(author, machine_id())),
        Example(
            PAYMENT_CHECKS,
            lambda _, author: payment_checks.request(author),
            is_keyed_by_site=True,
            job_is_per_site=True,
        ),
        Example(RECONCILIATION, lambda _, author: nightly.request(author)),
        Example(RECEIPT_MAIL, mail_receipt),
        Example(JOURNAL_MAIL, mail_journal),
        Example(ORDER_MAIL, mail_about_order),
        Example(ACCOUNT_MAIL, mail_link_to_user),
        Example(SITE_CHECK, lambda _, author: site_check.request_check(author)),
        Example(BUNDLE_RUN, export_shop),
        Example(
            BACKUP,
            lambda _, author: backup_runs.request_backup(author, machine_id()),
            end=State.FAILED,  # There is no folder for backups.
            is_alone=True,
        ),
    )
}


@dataclass
class Requested:
    """Work of a kind that waits."""

    example: Example
    context: SearchContext
    site_id: int

    def __post_init__(self) -> None:
        with transaction():
            self.example.request(self.context, Author(self.site_id, "Mia Moss", self.context.clock))
        self.key = db.session.scalars(select(self.kind.key).where(self.kind.model.site_id == self.site_id)).one()
        self.job_key = self.site_id if self.example.job_is_per_site else self.key

    @property
    def kind(self) -> WorkKind[Any]:
        return self.example.kind

    @property
    def row(self) -> LeasedWork:
        db.session.rollback()
        row: LeasedWork = db.session.get_one(self.kind.model, self.key)
        return row

    def claim(self, lease: timedelta | None = None) -> Claim[Any] | None:
        with transaction():
            return leases.claim(self.kind, self.context.clock, self.kind.key == self.key, lease=lease)

    def claimed(self, lease: timedelta | None = None) -> Claim[Any]:
        claim = self.claim(lease)
        assert claim is not None
        return claim

    def is_ended_by_the_scheduler(self) -> bool:
        Scheduler(lambda _name, _work: False).look()
        return self.row.has_failed

    def free_keys(self) -> list[Any]:
        db.session.rollback()
        return list(leases.free_keys(self.kind, self.context.clock, self.context.machine))

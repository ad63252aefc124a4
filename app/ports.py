"""Accessors for what create_app chose and set up: the ports, where the outside world begins, and the stores of this
machine, which are files and memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from flask import Flask, current_app

from app.config import Config
from app.domain.alerts.messages import AlertChannel
from app.domain.alerts.safeguards import CertificateReader, NoCertificates
from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.picture_source import NoPictureSource, PictureSource
from app.domain.catalogue.picture_storage import PictureStorage
from app.domain.machines.identity import MachineFile
from app.domain.personal_data.erasure_list import ErasureList
from app.domain.pos.processor import NoProcessor, PaymentProcessor
from app.domain.pos.receipt_printer import NoPrinter, ReceiptPrinter
from app.domain.pos.simulator import PaymentSimulator
from app.domain.relevance.synonym_mining import MinedSuggestions, SuggestionSource
from app.domain.search.engine import SearchEngine
from app.domain.search.sentence_model import SentenceModel
from app.domain.search_statistics.counting.daily_counts import SUGGESTIONS_SHOWN, SuggestionsShown
from app.domain.search_statistics.counting.events import Event
from app.domain.search_statistics.counting.file_spool import FileSpool
from app.domain.search_statistics.counting.spool import SEARCHES, ReportError, Spool, SpoolMaker
from app.domain.seo.crawlers import CRAWLER_VISITS, CrawlerVisit
from app.domain.seo.landing.directory import LandingDirectory
from app.domain.seo.redirects.redirect_hits import REDIRECT_HITS, RedirectHit
from app.domain.seo.sitemap.store import SitemapStore
from app.domain.shared.clock import Clock
from app.domain.shared.memory import MachineMemory, SharedMemory
from app.domain.system.facts import JobFacts
from app.domain.work.context import WorkerLocks
from app.domain.work.mailing import Mailer, NoMailer
from app.domain.work.models import WorkKind
from app.domain.work.progress import QueueOverview

EXTENSION = "shop-ports"
STORES = "shop-stores"
LANDING_DIRECTORY = "shop-landing-directory"
SCHEDULED_JOBS = "shop-scheduled-jobs"
WORK_KINDS = "shop-work-kinds"
WITH_PAGES = "shop-application-with-pages"


class JobQueue(Protocol):
    """The queue that wakes the worker. Losing a wake-up loses nothing: what must happen stands in the database."""

    def enqueue(self, job: str, *args: object, machine: str = "") -> bool:
        """Queue `job` ("module:function" below app.jobs) to run soon, by a worker of the machine with this id where the
        job needs what lies on its disk; False when the queue does not answer. Never raises and never takes longer than
        half a second."""
        ...

    def ping(self) -> None:
        """Check the queue. Raises OSError with the reason when it does not answer."""
        ...

    def overview(self) -> QueueOverview | None:
        """Return the jobs that the queue holds; None where none is set up. Raises OSError when it does not answer."""
        ...

    def idle_kinds(self) -> list[str] | None:
        """Return the kinds of jobs that no worker of this machine takes; None where no queue is set up. Raises OSError
        when the queue does not answer."""
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports, each with the adapter that was chosen for it."""

    search_engine: SearchEngine
    clock: Clock
    queue: JobQueue
    sentence_model: SentenceModel | None = None
    suggestions: tuple[SuggestionSource, ...] = (MinedSuggestions(),)
    certificates: CertificateReader = field(default_factory=NoCertificates)
    alert_channels: tuple[AlertChannel, ...] = ()
    payment_processor: PaymentProcessor = field(default_factory=NoProcessor)
    retired_simulator: PaymentProcessor | None = None
    mailer: Mailer = field(default_factory=NoMailer)
    receipt_printer: ReceiptPrinter = field(default_factory=NoPrinter)
    picture_source: PictureSource = field(default_factory=NoPictureSource)


@dataclass(frozen=True, slots=True)
class Stores:
    """What the shop keeps outside its database, in one form: files and memory of this machine, or what machines share.
    `picture_storages` and `erasure_lists` are those that are set up, by their names in PICTURES."""

    images: ImageStore
    picture_storages: Mapping[str, PictureStorage]
    counting: Spool[Event]
    suggestions_shown: Spool[SuggestionsShown]
    crawler_visits: Spool[CrawlerVisit]
    redirect_hits: Spool[RedirectHit]
    sitemaps: SitemapStore
    worker_locks: WorkerLocks
    memory: SharedMemory
    erasures: ErasureList
    erasure_lists: Mapping[str, ErasureList]
    machine: MachineFile


def stores_of(
    config: Config,
    report_error: ReportError,
    pictures: Mapping[str, PictureStorage],
    erasures: Mapping[str, ErasureList],
    spool: SpoolMaker | None = None,
    memory: SharedMemory | None = None,
) -> Stores:
    """Return the stores where the configuration places them: files and the memory of this machine, but for what is
    given. `report_error` gets the errors of spools that are files, which raise none; `pictures` and `erasures`
    are the storages and lists that are set up."""
    spool = spool or partial(FileSpool, report_error=report_error)
    # Who decodes takes locks of this machine: beside the pictures where those are its files, else beside other locks.
    decoding = config.media_dir if config.pictures == "files" else config.lock_folder.with_name("decoding")
    return Stores(
        images=ImageStore(pictures[config.pictures], decoding),
        picture_storages=pictures,
        counting=spool(SEARCHES, config.counting_folder),
        suggestions_shown=spool(SUGGESTIONS_SHOWN, config.counting_folder / "suggestions"),
        crawler_visits=spool(CRAWLER_VISITS, config.counting_folder / "crawlers"),
        redirect_hits=spool(REDIRECT_HITS, config.counting_folder / "redirects"),
        sitemaps=SitemapStore(config.sitemap_folder),
        worker_locks=WorkerLocks(config.lock_folder),
        memory=memory or MachineMemory(config.memory),
        erasures=erasures[config.pictures],
        erasure_lists=erasures,
        machine=MachineFile(config.machine_file),
    )


def _ports() -> Ports:
    ports: Ports = current_app.extensions[EXTENSION]
    return ports


def _stores() -> Stores:
    stores: Stores = current_app.extensions[STORES]
    return stores


def search_engine() -> SearchEngine:
    return _ports().search_engine


def sentence_model() -> SentenceModel | None:
    return _ports().sentence_model


def clock() -> Clock:
    return _ports().clock


def queue() -> JobQueue:
    return _ports().queue


def suggestion_sources() -> tuple[SuggestionSource, ...]:
    return _ports().suggestions


def certificates() -> CertificateReader:
    return _ports().certificates


def alert_channels() -> tuple[AlertChannel, ...]:
    return _ports().alert_channels


def payment_processor() -> PaymentProcessor:
    return _ports().payment_processor


def retired_simulator() -> PaymentProcessor | None:
    """Return the simulator where the shop takes payments with another processor, to settle those that it has open."""
    return _ports().retired_simulator


def processor_to_settle(name: str) -> PaymentProcessor:
    """Return the processor that open payments of the processor `name` are settled with. It is another one where the
    shop no longer has theirs."""
    retired = retired_simulator()
    return retired if retired is not None and retired.name == name else payment_processor()


def payment_simulator() -> PaymentSimulator | None:
    """Return the payment processor where it is the simulator, else None."""
    processor = payment_processor()
    return processor if isinstance(processor, PaymentSimulator) else None


def mailer() -> Mailer:
    return _ports().mailer


def receipt_printer() -> ReceiptPrinter:
    return _ports().receipt_printer


def picture_source() -> PictureSource:
    return _ports().picture_source


def images() -> ImageStore:
    return _stores().images


def picture_storages() -> Mapping[str, PictureStorage]:
    return _stores().picture_storages


def counting() -> Spool[Event]:
    return _stores().counting


def suggestions_shown() -> Spool[SuggestionsShown]:
    return _stores().suggestions_shown


def crawler_visits() -> Spool[CrawlerVisit]:
    return _stores().crawler_visits


def redirect_hits() -> Spool[RedirectHit]:
    return _stores().redirect_hits


def sitemaps() -> SitemapStore:
    return _stores().sitemaps


def worker_locks() -> WorkerLocks:
    return _stores().worker_locks


def shared_memory() -> SharedMemory:
    return _stores().memory


def erasures() -> ErasureList:
    return _stores().erasures


def erasure_lists() -> Mapping[str, ErasureList]:
    return _stores().erasure_lists


def machine_file() -> MachineFile:
    return _stores().machine


def machine_id() -> str:
    """Return the id of this machine; empty where its disk takes no file to keep one."""
    return machine_file().id


def machine_of_uploads() -> str:
    """Return the id of the machine on whose disk uploads wait for a worker, which is this one; "" where they wait in
    storage that every machine reaches."""
    return "" if images().is_shared else machine_id()


def scheduled_jobs() -> list[JobFacts]:
    """Return the jobs that run by the clock. No port: app.jobs, which pages do not import, registers them."""
    facts: Callable[[], list[JobFacts]] = current_app.extensions[SCHEDULED_JOBS]
    return facts()


def work_kinds() -> Sequence[WorkKind[Any]]:
    """The kinds of leased work that workers do."""
    kinds: Sequence[WorkKind[Any]] = current_app.extensions[WORK_KINDS]
    return kinds


def landing_directory() -> LandingDirectory:
    """Return the landing pages that this process knows. No port, but like one it is there once for each process."""
    directory: LandingDirectory = current_app.extensions[LANDING_DIRECTORY]
    return directory


def application_with_pages() -> Flask:
    """Return the current application or, where that only runs jobs, one with the same ports that has pages, too."""
    if "storefront" in current_app.blueprints:
        return current_app._get_current_object()  # type: ignore[attr-defined, no-any-return]
    make: Callable[[], Flask] = current_app.extensions[WITH_PAGES]
    return make()

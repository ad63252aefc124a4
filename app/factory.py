"""The making of the application: read create_app top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

from flask import Flask
from sqlalchemy import make_url

from app import jobs
from app.adapters import postgresql, sqlite
from app.adapters.ai import AiSuggestions
from app.adapters.clock import ServerClock, SystemClock
from app.adapters.erasure_file import ErasureFile
from app.adapters.mail import FolderMailer, MailChannel, SmtpMailer
from app.adapters.null_engine import NullEngine
from app.adapters.picture_download import PictureDownload
from app.adapters.picture_files import PictureFiles
from app.adapters.queue import NoQueue, RqQueue
from app.adapters.receipt_printer import NetworkPrinter
from app.adapters.redis.connection import RestingRedis
from app.adapters.redis.memory import TIMEOUT as TIMEOUT_OF_MEMORY
from app.adapters.redis.memory import RedisMemory
from app.adapters.redis.stream_spool import TIMEOUT as TIMEOUT_OF_STREAMS
from app.adapters.redis.stream_spool import StreamSpool
from app.adapters.sentence_model import installed_model
from app.adapters.simulator import Simulator
from app.adapters.tls import TlsCertificates
from app.adapters.whoosh import WhooshEngine
from app.adapters.write_locks import write_lock_for
from app.config import Config, ConfigurationError, from_environment
from app.domain.alerts.messages import AlertChannel
from app.domain.catalogue.picture_storage import PictureStorage
from app.domain.machines.identity import MachineFile
from app.domain.personal_data.erasure_list import ErasureList
from app.domain.pos.processor import NoProcessor, PaymentProcessor
from app.domain.pos.receipt_printer import PrinterReach
from app.domain.relevance import rule_categories
from app.domain.relevance.synonym_mining import MinedSuggestions, SuggestionSource
from app.domain.search.engine import SearchEngine
from app.domain.search.index import outbox
from app.domain.search.index.healing import is_awaited
from app.domain.search.sentence_model import SentenceModel
from app.domain.search_statistics.counting import before_after
from app.domain.search_statistics.counting.spool import SpoolMaker
from app.domain.seo.redirects import moved_addresses
from app.domain.shared.clock import Clock
from app.domain.shared.memory import MachineMemory, SharedMemory
from app.domain.sites import versioning
from app.domain.work.mailing import Mailer
from app.extensions import csrf, db, login_manager
from app.operations.logs import init_logs
from app.operations.storage import note_storage_fault
from app.ports import EXTENSION, STORES, WITH_PAGES, JobQueue, Ports, Stores, stores_of
from app.subscribers import init_subscribers
from app.web.errors import init_errors
from app.web.guards import init_guards, init_robots
from app.web.permissions import check_every_route_declares
from app.web.session_end import init_session_end
from app.web.themes.drawing import init_themes

# Of the database, beside the five that each process keeps: one for each thread of a web server that needs one.
MOST_MORE_CONNECTIONS = 12


class SynchronousFlask(Flask):
    """A Flask none of whose views and hooks is a coroutine, so that none is looked at anew in each request."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func


def create_app(
    config: Config | None = None, ports: Ports | None = None, surfaces: bool = True, stores: Stores | None = None
) -> Flask:
    """Create the application. Without `surfaces` it has no pages, and no commands but those that run jobs. Raises
    ConfigurationError when the environment does not allow a start."""
    config = config or from_environment()
    app = SynchronousFlask(__name__)
    app.config.from_mapping(flask_settings(config))

    init_logs(app, config.log_level)
    app.url_map.merge_slashes = (
        False  # An address has one form; another is none, instead of a redirect to the host asked.
    )
    init_guards(app, config)
    init_robots(app)
    db.init_app(app)
    login_manager.init_app(app)
    csrf.init_app(app)
    app.extensions[EXTENSION] = ports = ports or _ports(config)
    app.extensions[STORES] = stores = stores or stores_for(config)

    with app.app_context():
        sqlite.prepare(db.engine)
        postgresql.prepare(db.engine)
        if isinstance(ports.clock, ServerClock):
            ports.clock.follow(db.engine)
        versioning.listen(db.session)
        outbox.listen(db.session)
        before_after.listen(db.session)
        rule_categories.listen(db.session)
        moved_addresses.listen(db.session)

    init_subscribers()
    init_errors(app)
    jobs.register(app)
    app.extensions[WITH_PAGES] = cache(lambda: create_app(config, ports, stores=stores))
    if surfaces:
        _add_surfaces(app)
    init_session_end(app)
    return app


def _add_surfaces(app: Flask) -> None:
    """Add pages and commands. Their code, half of the whole, is imported only here: processes that only run jobs
    neither wait for it nor hold it in memory."""
    from app import blueprints, cli

    init_themes(app, app.config["SHOP"].themes_dir)
    blueprints.register_blueprints(app)
    cli.register(app)
    check_every_route_declares(app)


def _ports(config: Config) -> Ports:
    model = installed_model(config.embedding_model_dir)
    machine = MachineFile(config.machine_file)
    queue: JobQueue = NoQueue()
    if config.redis_url:
        queue = RqQueue(config.redis_url, config.queue_prefix, lambda: machine.id)
    clock = SystemClock() if config.database_url.startswith("sqlite") else ServerClock(SystemClock())
    return Ports(
        search_engine=search_engine_for(config, model),
        sentence_model=model,
        clock=clock,
        queue=queue,
        certificates=TlsCertificates(),
        suggestions=_suggestion_sources(config),
        payment_processor=payment_processor_for(config, clock, queue),
        retired_simulator=retired_simulator_for(config, clock),
        alert_channels=tuple(channels_of_alerts(config)),
        mailer=_mailer(config),
        picture_source=PictureDownload(),
        receipt_printer=NetworkPrinter(PrinterReach(config.printer_networks, not config.production)),
    )


def stores_for(config: Config) -> Stores:
    """Return the stores of this machine, and those that it shares with others where it is to."""
    spool: SpoolMaker | None = None
    if config.counting == "redis" and config.redis_url:
        streams = RestingRedis(config.redis_url, "counting", TIMEOUT_OF_STREAMS)
        spool = partial(StreamSpool, streams, config.queue_prefix, report_error=note_storage_fault)
    memory: SharedMemory = MachineMemory(config.memory)
    if config.limits_redis_url:
        limits = RestingRedis(config.limits_redis_url, "rate limits", TIMEOUT_OF_MEMORY)
        memory = RedisMemory(limits, config.queue_prefix, config.key_for("rate limits"), memory)
    return stores_of(config, note_storage_fault, picture_storages(config), erasure_lists(config), spool, memory)


def search_engine_for(config: Config, model: SentenceModel | None) -> SearchEngine:
    """Return the search engine that was chosen. The client of OpenSearch is loaded only where it is."""
    if config.search_engine == "opensearch":
        from app.adapters.opensearch import OpenSearchEngine

        return OpenSearchEngine(config.opensearch, write_lock_for(config), is_awaited, model=model)
    if config.search_engine == "whoosh":
        return WhooshEngine(config.index_dir, model, is_awaited=is_awaited)
    return NullEngine()


def payment_processor_for(config: Config, clock: Clock, queue: JobQueue) -> PaymentProcessor:
    """Return the payment processor that was chosen. Stripe's SDK takes half a second to load, so it is loaded only for
    Stripe."""
    if config.payment_processor == "stripe":
        from app.adapters.stripe import StripeProcessor

        chosen = config.stripe
        return StripeProcessor(chosen.secret_key, chosen.webhook_secrets, chosen.publishable_key, chosen.api_base)
    if config.payment_processor == "none":
        return NoProcessor()
    return Simulator(clock, config.key_for("payment-simulator"), lambda: queue.enqueue("pos:deliver_simulated_events"))


def retired_simulator_for(config: Config, clock: Clock) -> PaymentProcessor | None:
    """Return the simulator where another processor was chosen, else None. Nobody awaits its events."""
    if config.payment_processor == "simulator":
        return None
    return Simulator(clock, config.key_for("payment-simulator"))


def picture_storages(config: Config) -> dict[str, PictureStorage]:
    """Return the storages of pictures that are set up, by their names in PICTURES. The client of S3 is loaded only
    where a bucket is named. Raises ConfigurationError where it is not installed."""
    storages: dict[str, PictureStorage] = {"files": PictureFiles(config.media_dir)}
    if config.s3 is not None:
        try:
            from app.adapters.s3 import S3Pictures
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                f"S3_BUCKET is set, and {error.name} is not installed: install the shop with its extra “s3”."
            ) from error
        storages["s3"] = S3Pictures(config.s3)
    return storages


def erasure_lists(config: Config) -> dict[str, ErasureList]:
    """Return the lists of erasures that are set up, by the names of the storages of pictures: machines that share these
    share a list."""
    lists: dict[str, ErasureList] = {"files": ErasureFile(config.erasure_list)}
    if config.s3 is not None:
        from app.adapters.s3 import Bucket, S3Erasures

        lists["s3"] = S3Erasures(Bucket(config.s3), config.s3.bucket)
    return lists


def _suggestion_sources(config: Config) -> tuple[SuggestionSource, ...]:
    """Return the sources of suggestions: the shop's own data, and a language model where one is set up."""
    if config.ai_base_url is None:
        return (MinedSuggestions(),)
    return (MinedSuggestions(), AiSuggestions(config.ai_base_url, config.ai_api_key, config.ai_model))


def _mailer(config: Config) -> Mailer:
    """Return the mailer: the owner's mail server, else a folder of files."""
    if config.mail_from:
        return SmtpMailer(config.smtp, config.mail_from)
    return FolderMailer(config.mail_folder)


def channels_of_alerts(config: Config) -> Iterator[AlertChannel]:
    """Return the channels of alerts, loaded only where they are set up."""
    if config.alert_email:
        yield MailChannel(config.smtp, config.alert_email_from, config.alert_email)
    if config.alert_webhook_url is not None:
        from app.adapters.webhook import WebhookChannel

        yield WebhookChannel(config.alert_webhook_url, config.alert_webhook_secret)


def _engine_options(database_url: str) -> dict[str, object]:
    options = {"hide_parameters": True, "connect_args": postgresql.connection_limits(database_url)}
    has_pool = make_url(database_url).database not in (None, ":memory:")  # SQLite in memory has one connection.
    return {**options, "max_overflow": MOST_MORE_CONNECTIONS} if has_pool else options


def flask_settings(config: Config) -> dict[str, object]:
    secure = config.production
    return {
        "SHOP": config,
        "TESTING": config.testing,
        "SECRET_KEY": config.secret_key,
        "SQLALCHEMY_DATABASE_URI": config.database_url,
        "SQLALCHEMY_ENGINE_OPTIONS": _engine_options(config.database_url),
        "SESSION_COOKIE_NAME": "__Host-shop" if secure else "shop",
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_SECURE": secure,
        "LOCAL_ADDRESS": "" if secure else f"http://localhost:{config.port}",
        "WTF_CSRF_TIME_LIMIT": None,
        "WTF_CSRF_CHECK_DEFAULT": True,
        "MAX_CONTENT_LENGTH": 256 * 1024,
        "MAX_FORM_PARTS": 2_000,
        "MAX_FORM_MEMORY_SIZE": 512 * 1024,
        **config.extra,
    }

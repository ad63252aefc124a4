"""The shop platform: search, taxonomy, SEO and till. Read create_app top to bottom."""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from app import cli, jobs
from app.adapters import sqlite
from app.adapters.ai import AiSuggestions
from app.adapters.clock import SystemClock
from app.adapters.counting_spool import FileSpool
from app.adapters.images import FileImages
from app.adapters.null_engine import NullEngine
from app.adapters.queue import NoQueue, RqQueue
from app.adapters.whoosh import WhooshEngine
from app.blueprints import register_blueprints
from app.config import Config, from_environment
from app.domain.search.counting import term_history
from app.domain.search.index import outbox
from app.domain.search.synonyms.source import MinedSuggestions, SuggestionSource
from app.domain.sites import versioning
from app.errors import init_errors
from app.extensions import csrf, db, login_manager, migrate
from app.guards import init_guards
from app.logs import init_logs
from app.permissions import check_every_route_declares
from app.ports import EXTENSION, JobQueue, Ports
from app.subscribers import init_subscribers


def create_app(config: Config | None = None, ports: Ports | None = None) -> Flask:
    """Raises ConfigurationError when the environment does not allow a start."""
    config = config or from_environment()
    app = Flask(__name__)
    app.config.from_mapping(flask_settings(config))

    init_logs(app, config.log_level)
    init_guards(app, config)
    db.init_app(app)
    migrate.init_app(app, db, directory=str(Path(__file__).parents[1] / "migrations"))
    login_manager.init_app(app)
    csrf.init_app(app)
    app.extensions[EXTENSION] = ports or _ports(config)

    with app.app_context():
        sqlite.prepare(db.engine)
        versioning.listen(db.session)
        outbox.listen(db.session)
        term_history.listen(db.session)

    init_subscribers()
    init_errors(app)
    register_blueprints(app)
    cli.register(app)
    jobs.register(app)
    check_every_route_declares(app)
    return app


def _ports(config: Config) -> Ports:
    engine = WhooshEngine(config.index_dir) if config.search_engine == "whoosh" else NullEngine()
    queue: JobQueue = RqQueue(config.redis_url, config.queue_prefix) if config.redis_url else NoQueue()
    return Ports(
        search_engine=engine,
        clock=SystemClock(),
        queue=queue,
        images=FileImages(config.media_dir),
        suggestions=_suggestion_sources(config),
        counting=FileSpool(config.counting_folder),
    )


def _suggestion_sources(config: Config) -> tuple[SuggestionSource, ...]:
    """The shop's own words always; a language model where one is set up."""
    if config.ai_base_url is None:
        return (MinedSuggestions(),)
    return (MinedSuggestions(), AiSuggestions(config.ai_base_url, config.ai_api_key, config.ai_model))


def flask_settings(config: Config) -> dict[str, object]:
    secure = config.production
    return {
        "SHOP": config,
        "TESTING": config.testing,
        "SECRET_KEY": config.secret_key,
        "SQLALCHEMY_DATABASE_URI": config.database_url,
        "SESSION_COOKIE_NAME": "__Host-shop" if secure else "shop",
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_SECURE": secure,
        "WTF_CSRF_TIME_LIMIT": None,
        "WTF_CSRF_CHECK_DEFAULT": True,
        "MAX_CONTENT_LENGTH": 256 * 1024,
        "MAX_FORM_PARTS": 2_000,
        "MAX_FORM_MEMORY_SIZE": 512 * 1024,
        **config.extra,
    }

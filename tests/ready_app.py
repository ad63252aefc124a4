"""An application for each test, made quickly: routes and statements are compiled and templates read once in a process,
since each takes longer than most tests. Whatever a test could change is its own."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Flask
from jinja2 import Undefined
from jinja2.utils import missing
from sqlalchemy import Dialect, Engine, event
from sqlalchemy.util import LRUCache

from app import create_app
from app.adapters import postgresql, sqlite
from app.adapters.clock import ServerClock
from app.blueprints import health
from app.blueprints.storefront.blueprint import empty_caches
from app.config import Config
from app.extensions import db
from app.factory import erasure_lists, flask_settings, picture_storages
from app.operations.storage import note_storage_fault
from app.ports import EXTENSION, STORES, Ports, stores_of
from app.web.session_end import close_session

HOOKS = ("before_request_funcs", "after_request_funcs", "teardown_request_funcs")
MOST_STATEMENTS = 5_000
_made: list[tuple[Flask, dict[str, Any]]] = []
_compiled: dict[str, tuple[Dialect, LRUCache[Any, Any]]] = {}


class MissingAttributes(Undefined):
    """A template that names what an object does not have fails its test; shoppers would see a gap."""

    def __init__(self, hint: str | None = None, obj: Any = missing, name: str | None = None, **more: Any) -> None:
        if obj is not missing and not isinstance(obj, Mapping | Undefined):
            raise AttributeError(f"{type(obj).__name__} has no {name!r}")
        super().__init__(hint, obj, name, **more)


def config_for(database_url: str, folder: Path) -> Config:
    return Config(
        environment="testing",
        secret_key="a key for tests that is long enough to be one",
        database_url=database_url,
        index_dir=folder / "index",
        media_dir=folder / "media",
        password_memory_kib=8,
        log_level="ERROR",
        testing=True,
    )


def application(config: Config, ports: Ports) -> Flask:
    """As create_app makes it, but for a SQLite that waits for no disk: nothing here outlives the tests."""
    app = durable_application(config, ports)
    with app.app_context():
        if db.engine.dialect.name == "sqlite":
            event.listen(db.engine, "connect", _wait_for_no_disk)
        _share_statements(db.engine)
    return app


def durable_application(config: Config, ports: Ports) -> Flask:
    """As create_app makes it. The one before is not used any more: some extensions look at the first one's settings, so
    all share that object, which begins anew."""
    if not _made:
        first = create_app(config, ports)
        assert first.jinja_env.loader is not None, "the copies share this environment"
        first.jinja_env.undefined = MissingAttributes
        _made.append((first, dict(first.config)))
    first, settings = _made[0]
    app = copy.copy(first)
    app.config.clear()
    app.config.update(settings | flask_settings(config))
    for name in HOOKS:
        hooks = {scope: list(functions) for scope, functions in getattr(app, name).items()}
        setattr(app, name, defaultdict(list, hooks))
    app.extensions = {name: kept for name, kept in app.extensions.items() if name != "sqlalchemy"}
    app.extensions[EXTENSION] = ports
    app.extensions[STORES] = stores_of(config, note_storage_fault, picture_storages(config), erasure_lists(config))
    app.teardown_appcontext_funcs, app.shell_context_processors = [], []
    empty_caches(app)
    app.extensions[health.EXTENSION] = health.WriteCheck()
    db.init_app(app)
    app.teardown_appcontext(close_session)
    with app.app_context():
        sqlite.prepare(db.engine)
        postgresql.prepare(db.engine)
        if isinstance(ports.clock, ServerClock):
            ports.clock.follow(db.engine)
    return app


def _share_statements(engine: Engine) -> None:
    """Compiling takes longer than running, and SQLAlchemy keeps what it compiled by engine and dialect."""
    if engine.dialect.name not in _compiled:
        engine.connect().close()  # The dialect asks the first connection what the database can do.
        _compiled[engine.dialect.name] = engine.dialect, LRUCache(MOST_STATEMENTS)
    engine.dialect, engine._compiled_cache = _compiled[engine.dialect.name]


def _wait_for_no_disk(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA synchronous=OFF")

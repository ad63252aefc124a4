"""An application for each test, made quickly: routes are compiled and templates read once in a process, since both take
longer than most tests. Whatever a test could change is its own."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

from flask import Flask

from app import create_app, flask_settings
from app.adapters import sqlite
from app.blueprints.storefront.blueprint import keep_nothing_yet
from app.config import Config
from app.extensions import db
from app.ports import EXTENSION, Ports

HOOKS = ("before_request_funcs", "after_request_funcs", "teardown_request_funcs")
_made: list[tuple[Flask, dict[str, Any]]] = []


def application(config: Config, ports: Ports) -> Flask:
    """As create_app makes it. The one before is not used any more: some extensions look at the first one's settings, so
    all share that object, which begins anew."""
    if not _made:
        first = create_app(config, ports)
        assert first.jinja_env.loader is not None, "the copies share this environment"
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
    app.teardown_appcontext_funcs, app.shell_context_processors = [], []
    keep_nothing_yet(app)
    db.init_app(app)
    with app.app_context():
        sqlite.prepare(db.engine)
    return app

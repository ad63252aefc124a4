"""Bring the database up to date and make the demo shop, once."""

from __future__ import annotations

import importlib
import io
import signal
import sys
from contextlib import redirect_stdout
from typing import NoReturn

from flask import Flask
from flask.cli import ScriptInfo
from sqlalchemy.exc import OperationalError

READY = 0
READY_WITH_DEMO = 10


def run(production: bool) -> NoReturn:
    """Ends this process; its exit status is READY, READY_WITH_DEMO or a failure."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _flask("db", "upgrade")
        if production:
            sys.exit(READY)
        with redirect_stdout(io.StringIO()):
            _flask("demo", "create")
        status = READY_WITH_DEMO if _has_demo_users() else READY
    except OperationalError as error:
        print(f"The database does not answer: {error.orig}", file=sys.stderr)
        sys.exit(1)
    sys.exit(status)


def _has_demo_users() -> bool:
    with _application().app_context():
        has_them: bool = importlib.import_module("app.demo.shop").has_demo_users()
        return has_them


def _flask(*arguments: str) -> None:
    application = _application()
    application.cli.main(args=list(arguments), obj=ScriptInfo(create_app=lambda: application), standalone_mode=False)


def _application() -> Flask:
    application: Flask = importlib.import_module("wsgi").app
    return application

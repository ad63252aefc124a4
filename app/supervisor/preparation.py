"""Bring the database up to date and make the demo shop, once."""

from __future__ import annotations

import importlib
import io
import signal
import sys
from contextlib import redirect_stdout
from typing import NoReturn

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
    except OperationalError as error:
        print(f"The database does not answer: {error.orig}", file=sys.stderr)
        sys.exit(1)
    sys.exit(READY_WITH_DEMO)


def _flask(*arguments: str) -> None:
    application = importlib.import_module("wsgi").app
    application.cli.main(args=list(arguments), obj=ScriptInfo(create_app=lambda: application), standalone_mode=False)

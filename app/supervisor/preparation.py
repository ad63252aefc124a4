"""`python -m app.supervisor.preparation`: bring the database up to date, make the demo shop, once, and make searchable
what takes only seconds. With `production` there is no demo shop; with `upgrade` the release before still runs."""

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

from app.config import Config
from app.supervisor import migrating
from app.supervisor.outcomes import FAILED, NEEDS_A_STOP, READY, READY_WITH_DEMO


def run(production: bool, is_upgrade: bool) -> NoReturn:
    """Run the preparation and end this process; its exit status is READY, READY_WITH_DEMO, NEEDS_A_STOP or a
    failure."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _migrate(is_upgrade)
        if not production:
            with redirect_stdout(io.StringIO()):
                _flask("demo", "create")
        if not is_upgrade:
            _make_searchable()
        status = READY_WITH_DEMO if not production and _has_demo_users() else READY
    except OperationalError as error:
        print(f"The database does not answer: {error.orig}", file=sys.stderr)
        sys.exit(FAILED)
    sys.exit(status)


def _migrate(is_upgrade: bool) -> None:
    application = _application()
    config: Config = application.config["SHOP"]
    instance = config.instance_folder
    with application.app_context():
        revision = migrating.revision_of(importlib.import_module("app.extensions").db.engine)
    if migrating.lives_with(instance, revision):
        print("The database is of a later release, with which this one can live.", file=sys.stderr)
        return
    if is_upgrade and migrating.needs_a_stop(revision):
        sys.exit(NEEDS_A_STOP)
    migrating.note_upgrade(instance, revision)
    _flask("db", "upgrade")


def _make_searchable() -> None:
    """Build the small indexes that are missing. Where that fails the shop starts all the same, and its workers try."""
    with _application().app_context():
        importlib.import_module("app.jobs.indexing").make_missing()


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


if __name__ == "__main__":
    run(production="production" in sys.argv, is_upgrade="upgrade" in sys.argv)

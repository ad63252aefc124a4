"""`python -m app.operations.supervisor.preparation`: bring the database up to date, make the demo shop, once, and make
searchable what takes only seconds. With `production` there is no demo shop; with `upgrade` the release before still
runs, so nothing is done to the database, and the exit status is NEEDS_A_STOP, where that could not live with it; and
this process starts nothing, so it is not noted among the machines of the shop.

Migrations only add what the previous release can live with, unless they say `NEEDS_A_STOP = True`. Each upgrade notes
the previous release beside the database, so that it may come back; on PostgreSQL in the database too, as a comment on
Alembic's table, since it may come back on another machine than the one that migrated."""

from __future__ import annotations

import importlib
import io
import json
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import NoReturn

from alembic.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from flask import Flask
from flask.cli import ScriptInfo
from sqlalchemy import Engine, MetaData, Table, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.schema import SetTableComment

from app.config import Config
from app.domain.system.release import MIGRATIONS, known_revisions, newest_revision
from app.operations.instance import CannotStart
from app.operations.supervisor.parts import FAILED, NEEDS_A_STOP, PREPARED, PREPARED_WITH_DEMO, REFUSED

NOTE = "older-releases.json"
NOTED_AT = "alembic_version"  # The table whose comment is the note that machines share.


def run(production: bool, is_upgrade: bool) -> NoReturn:
    """Run the preparation and end this process; its exit status is PREPARED, PREPARED_WITH_DEMO, NEEDS_A_STOP, REFUSED
    or a failure."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _admit(is_upgrade)  # Before the migrations, which a machine that may not start leaves to others, …
        _migrate(is_upgrade)
        _admit(is_upgrade)  # … and after them, for a database that had no machines yet.
        if not production:
            with redirect_stdout(io.StringIO()):
                _flask("demo", "create")
        if not is_upgrade:
            _make_searchable()
        status = PREPARED_WITH_DEMO if not production and _has_demo_users() else PREPARED
    except OperationalError as error:
        print(f"The database does not answer: {error.orig}", file=sys.stderr)
        sys.exit(FAILED)
    except CannotStart as refused:
        print(refused, file=sys.stderr)
        sys.exit(REFUSED)
    sys.exit(status)


def _admit(is_upgrade: bool) -> None:
    machine = importlib.import_module("app.operations.machine")
    with _application().app_context():
        if is_upgrade:
            machine.check_others()
        else:
            machine.admit(is_whole=True)


def _migrate(is_upgrade: bool) -> None:
    application = _application()
    with application.app_context():
        engine: Engine = importlib.import_module("app.extensions").db.engine
    turns = importlib.import_module("app.operations.supervisor.migration_turn")
    with turns.turn_to_migrate(application, engine):
        _migrate_in_turn(application, engine, is_upgrade)


def _migrate_in_turn(application: Flask, engine: Engine, is_upgrade: bool) -> None:
    config: Config = application.config["SHOP"]
    instance = config.instance_folder
    revision = revision_of(engine)
    if lives_with([read_note(instance), read_shared_note(engine)], revision):
        print("The database is of a later release, with which this one can live.", file=sys.stderr)
        return
    if is_upgrade and needs_a_stop(revision):
        print("The release that runs could not live with what the migrations make of the database.", file=sys.stderr)
        sys.exit(NEEDS_A_STOP)
    with application.app_context():
        _check_machines(revision, is_upgrade)
    note_upgrade(instance, revision, engine)
    _flask("db", "upgrade")


def _check_machines(revision: str | None, is_upgrade: bool) -> None:
    """Check that what runs on other machines can live with what the pending migrations make of the database. Raises
    CannotStart."""
    if not _pending_migrations(revision):
        return
    machine = importlib.import_module("app.operations.machine")
    if is_upgrade:
        machine.check_one_release()
    elif needs_a_stop(revision) and (other := machine.running_beside()) is not None:
        raise CannotStart(
            f"The machine {other.name} runs, and its release could not live with what the migrations make of the "
            "database: stop the shop on every machine first."
        )


def _make_searchable() -> None:
    """Build the small indexes that are missing. Where that fails the shop starts all the same, and its workers try."""
    with _application().app_context():
        importlib.import_module("app.jobs.search").make_missing_indexes()


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


def revision_of(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def needs_a_stop(revision: str | None) -> bool:
    """Whether a release that runs on this revision could not run on what the pending migrations make of the database.
    None runs on an empty one, which has no revision."""
    return revision is not None and any(
        getattr(script.module, "NEEDS_A_STOP", False) for script in _pending_migrations(revision)
    )


def lives_with(notes: Sequence[object], revision: str | None) -> bool:
    """Whether the database's revision is of a later release, which noted this release as compatible."""
    is_later = revision is not None and revision not in known_revisions()
    return is_later and {"database": revision, "livesWith": newest_revision()} in notes


def read_note(instance: Path) -> object:
    """Return the note of the last upgrade on this machine; None without one, and where a power cut left part of it."""
    try:
        return json.loads((instance / NOTE).read_text())
    except (FileNotFoundError, ValueError):
        return None


def read_shared_note(engine: Engine) -> object:
    """Return the note of the last upgrade in the database; None without one."""
    if engine.dialect.name != "postgresql":
        return None
    with engine.connect() as connection:
        comment = connection.scalar(
            text("SELECT obj_description(to_regclass(:table), 'pg_class')"), {"table": NOTED_AT}
        )
    try:
        return json.loads(comment or "")
    except ValueError:
        return None


def note_upgrade(instance: Path, before: str | None, engine: Engine) -> None:
    """Note the release `before` as compatible with the upgraded database, or remove the note where it is not. To be
    called before the migrations."""
    if before in (None, newest_revision()):
        return
    note = None if needs_a_stop(before) else json.dumps({"database": newest_revision(), "livesWith": before})
    if note is None:
        (instance / NOTE).unlink(missing_ok=True)
    else:
        (instance / NOTE).write_text(note)
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            connection.execute(SetTableComment(Table(NOTED_AT, MetaData(), comment=note or "")))


def _pending_migrations(revision: str | None) -> Sequence[Script]:
    return list(ScriptDirectory(str(MIGRATIONS)).iterate_revisions("heads", revision))


if __name__ == "__main__":
    run(production="production" in sys.argv, is_upgrade="upgrade" in sys.argv)

"""Kills this process at a point of its next writing transaction.

`statement:3` is before the third statement, `amid:UPDATE products` in the middle of the first one that begins so,
`commit` when all is done but the commit, `committed` right after that, before anybody is told; `none` kills nobody.
"""

from __future__ import annotations

import os
import signal
from itertools import count
from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import Session

from app.extensions import db
from tests.injected_faults import injected

STEPS_INTO_A_STATEMENT = 5_000  # Instructions of SQLite's machine: a statement about 10,000 products takes many more.


def die(*_arguments: object) -> Any:
    injected()
    os.kill(os.getpid(), signal.SIGKILL)


def _die_unless_nested(session: Session) -> None:
    """Savepoints commit as well."""
    if not session.in_nested_transaction():
        die()


def kill_at(point: str) -> None:
    """Call it before the transaction."""
    name, _, which = point.partition(":")
    if name == "commit":
        event.listen(db.session, "before_commit", _die_unless_nested)
    elif name == "committed":
        event.listen(db.session, "after_commit", _die_unless_nested)
    elif name == "statement":
        _kill_before_statement(int(which))
    elif name == "amid":
        _kill_amid_statement(which)


def _kill_before_statement(wanted: int) -> None:
    numbers = count(1)

    def reach(*_arguments: object) -> None:
        if next(numbers) == wanted:
            die()

    event.listen(db.engine, "before_cursor_execute", reach)


def _kill_amid_statement(beginning: str) -> None:
    def reach(connection: Any, _cursor: object, statement: str, *_arguments: object) -> None:
        if statement.startswith(beginning):
            connection.connection.dbapi_connection.set_progress_handler(die, STEPS_INTO_A_STATEMENT)

    event.listen(db.engine, "before_cursor_execute", reach)

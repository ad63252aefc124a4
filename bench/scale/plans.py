"""The plans of PostgreSQL: what the pages and the bulk tasks of the admin ask of a large shop's database, statement by
statement, and which of it reads a large table from end to end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import event, text

from app.extensions import db

MANY_ROWS = 10_000  # A table with more is not read from end to end for a page.
EXPLAINED = ("SELECT", "WITH")
CHANGES = ("UPDATE", "DELETE")


@dataclass(slots=True)
class Statement:
    """A statement that was executed, with the parameters of its slowest execution; times in milliseconds."""

    sql: str
    parameters: Any
    times: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Scan:
    """A table that a statement reads: how, and how many of its rows."""

    table: str
    kind: str
    rows: int

    @property
    def is_sequential(self) -> bool:
        return self.kind == "Seq Scan"

    def __str__(self) -> str:
        return f"{self.kind} of {self.table} ({self.rows:,} rows)"


@dataclass(slots=True)
class Piece:
    """A piece of work, such as a page, with its statements."""

    name: str
    statements: dict[str, Statement] = field(default_factory=dict)

    @property
    def executed(self) -> int:
        return sum(len(one.times) for one in self.statements.values())

    @property
    def slowest(self) -> Statement | None:
        return max(self.statements.values(), key=lambda one: max(one.times), default=None)

    @property
    def slowest_time(self) -> float:
        return max(self.slowest.times) if self.slowest else 0.0


@contextmanager
def collected(name: str) -> Iterator[Piece]:
    """The statements that the current application executes meanwhile."""
    piece, started = Piece(name), [0.0]

    def begin(*_: object) -> None:
        started[0] = time.perf_counter()

    def note(_connection: object, _cursor: object, sql: str, parameters: Any, *_: object) -> None:
        took = 1000 * (time.perf_counter() - started[0])
        known = piece.statements.setdefault(sql, Statement(sql, parameters))
        if took >= max(known.times, default=0):
            known.parameters = parameters
        known.times.append(took)

    engine = db.engine
    event.listen(engine, "before_cursor_execute", begin)
    event.listen(engine, "after_cursor_execute", note)
    try:
        yield piece
    finally:
        event.remove(engine, "before_cursor_execute", begin)
        event.remove(engine, "after_cursor_execute", note)


def large_tables() -> frozenset[str]:
    """The tables with more rows than MANY_ROWS, by the database's statistics."""
    query = text("select relname from pg_class where relkind = 'r' and reltuples > :many")
    found = frozenset(db.session.scalars(query, {"many": MANY_ROWS}))
    db.session.rollback()
    return found


def scans_of(statement: Statement) -> list[Scan]:
    """The tables that a statement reads. Reading ones are executed again, changing ones are planned only; none of any
    other."""
    word = statement.sql.lstrip().split(None, 1)[0].upper() if statement.sql.strip() else ""
    if word not in (*EXPLAINED, *CHANGES):
        return []
    options = "ANALYZE, TIMING OFF, FORMAT JSON" if word in EXPLAINED else "FORMAT JSON"
    connection = db.engine.raw_connection()
    try:
        cursor = connection.cursor()
        cursor.execute(f"EXPLAIN ({options}) {statement.sql}", statement.parameters)
        (found,) = cursor.fetchone() or (None,)
    finally:
        connection.rollback()
        connection.close()
    plan = json.loads(found) if isinstance(found, str) else found
    return list(scans_in(plan[0]["Plan"]))


def scans_in(plan: Mapping[str, Any]) -> Iterator[Scan]:
    """Yield the scans of a plan as EXPLAIN gives it. Pure. Rows are those that are read, the ones that a filter throws
    away included."""
    if "Relation Name" in plan and plan["Node Type"] != "ModifyTable":
        loops = plan.get("Actual Loops", 1)
        read = plan.get("Actual Rows", plan["Plan Rows"]) + plan.get("Rows Removed by Filter", 0)
        yield Scan(plan["Relation Name"], plan["Node Type"], round(read * loops))
    for below in plan.get("Plans", ()):
        yield from scans_in(below)


def examine(name: str, work: Callable[[], object]) -> tuple[Piece, list[tuple[Statement, Scan]]]:
    """Do a piece of work; return it with its scans of large tables that read many rows."""
    with collected(name) as piece:
        work()
    large = large_tables()
    found = [
        (statement, scan)
        for statement in piece.statements.values()
        for scan in scans_of(statement)
        if scan.table in large and (scan.is_sequential or scan.rows > MANY_ROWS)
    ]
    return piece, found

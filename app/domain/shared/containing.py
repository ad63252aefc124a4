"""A condition that means the same on every database: a text contains another, whatever the case of ASCII letters."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, ColumnElement, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

ESCAPE = "/"


class _Like(FunctionElement[bool]):
    """A LIKE without case: LIKE itself on SQLite, ILIKE on PostgreSQL. lower() on both sides would make a scan twice as
    slow."""

    name = "contains_text"
    type = Boolean()
    inherit_cache = True


def containing(column: ColumnElement[str] | InstrumentedAttribute[str], text: str) -> ColumnElement[bool]:
    """Return the condition that the column contains the text, whatever the case of ASCII letters; `%` and `_` have no
    special meaning."""
    escaped = text.replace(ESCAPE, ESCAPE * 2).replace("%", f"{ESCAPE}%").replace("_", f"{ESCAPE}_")
    return _Like(column, literal(f"%{escaped}%"))


@compiles(_Like)
def _like(element: _Like, compiler: SQLCompiler, **options: Any) -> str:
    return _written(element, compiler, "LIKE", options)


@compiles(_Like, "postgresql")
def _ilike(element: _Like, compiler: SQLCompiler, **options: Any) -> str:
    return _written(element, compiler, "ILIKE", options)


def _written(element: _Like, compiler: SQLCompiler, operator: str, options: dict[str, Any]) -> str:
    column, pattern = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column} {operator} {pattern} ESCAPE '{ESCAPE}')"

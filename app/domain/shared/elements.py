"""The elements of a list that is stored as JSON, as rows that a condition can query, on every database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.selectable import TableValuedAlias


class _Elements(FunctionElement[Any]):
    name = "list_elements"
    inherit_cache = True


def elements(column: InstrumentedAttribute[list[str]]) -> TableValuedAlias:
    """Return the texts of a list as rows with one column, `value`."""
    return _Elements(column).table_valued("value")


def value_of(rows: TableValuedAlias) -> ColumnElement[str]:
    return rows.c.value


@compiles(_Elements)
def _each(element: _Elements, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(_Elements, "postgresql")
def _elements_text(element: _Elements, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_array_elements_text({compiler.process(element.clauses, **options)})"

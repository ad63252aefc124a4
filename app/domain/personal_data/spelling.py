"""Addresses as a database finds them, whatever their case. SQLite makes ASCII letters lower alone."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import InstrumentedAttribute


def has_address(column: ColumnElement[Any] | InstrumentedAttribute[Any], email: str) -> ColumnElement[bool]:
    """Return the condition that a column holds an email address, which is given in lower case."""
    return func.lower(column).in_(spellings(email))


def spellings(text: str) -> list[str]:
    """Return the forms that lower() of any database gives to a text of lower case, however it is stored: its letters
    beyond ASCII all lower, or all upper. Those that are stored mixed are not found on SQLite."""
    return sorted({text, "".join(sign if sign.isascii() else sign.upper() for sign in text)})

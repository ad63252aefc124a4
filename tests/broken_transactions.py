"""Transactions that the database breaks off, as for a deadlock. The shop tries them again, so nobody else sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from sqlalchemy.exc import OperationalError

from app.transaction import transaction


def noting(broken: list[str]) -> Callable[[], AbstractContextManager[None]]:
    """Transactions for a WorkContext, which add the error of each that was broken off to the list."""

    @contextmanager
    def noted() -> Iterator[None]:
        try:
            with transaction():
                yield
        except OperationalError as error:
            broken.append(str(error.orig))
            raise

    return noted

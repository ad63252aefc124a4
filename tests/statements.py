"""What a piece of work asks of the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask
from sqlalchemy import event, select

from app import ports
from app.blueprints.storefront.blueprint import WINDOW
from app.domain.sites.models import Domain
from app.extensions import db


@contextmanager
def statements(app: Flask) -> Iterator[list[str]]:
    """The statements that are executed meanwhile, by an application that has read its shops since they changed last."""
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    with app.app_context():
        engine = db.engine
        for host in db.session.scalars(select(Domain.host)).all():
            app.extensions[WINDOW].shop_at(ports.clock(), host)
        db.session.rollback()
    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)

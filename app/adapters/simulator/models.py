"""The tables of the simulator and its own transactions: it stands for another system, so nothing of the shop's refers
to its tables, and what it did stays done when its caller rolls back.

The shop never holds a transaction over a call of a processor; on SQLite, which has one writer, it would wait here for
itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, Integer, String, Text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from app.domain.pos.processor import Busy
from app.domain.shared.records import NEVER_REUSED, JsonValue, UtcDateTime
from app.extensions import Base, db

TRIES = 6  # Each waits as long as the database does by itself.


class SimulatorIntent(Base):
    """A payment intent of the simulator. `status` is where it ends up; until `settles_at` it is still processing.
    `card` is the name of the simulated card that was tapped last."""

    __tablename__ = "simulator_intents"
    __table_args__ = (Index(None, "account_id", "created_at"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(String(255))
    amount: Mapped[int] = mapped_column(Integer)
    currency: Mapped[str] = mapped_column(String(3))
    description: Mapped[str] = mapped_column(String(1000), default="")
    labels: Mapped[dict[str, str]] = mapped_column("metadata", JsonValue, default=dict)
    status: Mapped[str] = mapped_column(String(30))
    settles_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    card: Mapped[str | None] = mapped_column(String(30))
    has_pin: Mapped[bool] = mapped_column(default=False)
    charge_id: Mapped[str | None] = mapped_column(String(64))
    error_code: Mapped[str | None] = mapped_column(String(60))
    decline_code: Mapped[str | None] = mapped_column(String(60))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)

    refunds: Mapped[list[SimulatorRefund]] = relationship(lazy="selectin", order_by="SimulatorRefund.created_at")


class SimulatorRefund(Base):
    """A refund of the simulator. From `fails_at` on it has failed."""

    __tablename__ = "simulator_refunds"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(String(255))
    intent_id: Mapped[str] = mapped_column(ForeignKey("simulator_intents.id", ondelete="CASCADE"), index=True)
    amount: Mapped[int] = mapped_column(Integer)
    labels: Mapped[dict[str, str]] = mapped_column("metadata", JsonValue, default=dict, server_default="{}")
    fails_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class SimulatorLocation(Base):
    __tablename__ = "simulator_locations"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(String(255))
    display_name: Mapped[str] = mapped_column(String(1000))
    address: Mapped[dict[str, str]] = mapped_column(JsonValue, default=dict)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)


class SimulatorKey(Base):
    """The answer to a call, which its repetition with the same key gets again."""

    __tablename__ = "simulator_keys"

    account_id: Mapped[str] = mapped_column(String(255), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    request_hash: Mapped[str] = mapped_column(String(64))
    answer: Mapped[dict[str, Any]] = mapped_column(JsonValue)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class SimulatorEvent(Base):
    """An event on its way to the shop, `body` being what is signed and sent; the row goes when it was delivered. One
    that is sent twice has two rows."""

    __tablename__ = "simulator_events"
    __table_args__ = (NEVER_REUSED,)

    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    due_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


@contextmanager
def reading() -> Iterator[Session]:
    with Session(db.engine, expire_on_commit=False) as session:
        yield session


@contextmanager
def writing() -> Iterator[Session]:
    """Open a transaction that commits at its end. Raises Busy when others write for too long: then nothing was done."""
    with Session(db.engine, expire_on_commit=False) as session:
        _begin_writing(session)
        yield session
        session.commit()


def _begin_writing(session: Session) -> None:
    """Begin a transaction that may write, in several tries: SQLite serves writers in no order, so that one of many may
    wait in vain for its five seconds. Raises Busy."""
    for last in (*(False,) * (TRIES - 1), True):
        try:
            session.connection(execution_options={"writing": True})
            return
        except OperationalError as error:
            session.rollback()
            if last:
                raise Busy("The payment simulator is busy.") from error

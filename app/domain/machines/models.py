"""The table of machines."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.machines.coexistence import MachineFacts
from app.domain.shared.records import UtcDateTime
from app.extensions import Base


class Machine(Base):
    """A machine that runs, or ran, the shop: one instance folder, which keeps the `id`. The other texts are its facts
    as of `started_at`; `seen_at` is when it last said that it runs."""

    __tablename__ = "machines"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(255))
    release: Mapped[str] = mapped_column(String(40))
    engine: Mapped[str] = mapped_column(String(20))
    database: Mapped[str] = mapped_column(String(20))
    pictures: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    seen_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def facts(self) -> MachineFacts:
        return MachineFacts(self.name, self.release, self.engine, self.database, self.pictures)

"""A shop with a database, pictures and a secret of its own, made quickly; and what it holds, to compare."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flask_migrate import stamp
from sqlalchemy import select, text

from app.adapters.erasure_file import ErasureFile
from app.adapters.null_engine import NullEngine
from app.adapters.queue import NoQueue
from app.config import Config
from app.domain.system.release import MIGRATIONS
from app.extensions import db
from app.operations.backups.making import make_backup
from app.operations.backups.restoring import restore
from app.ports import Ports
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.ready_app import config_for, durable_application
from tests.searching import add_product, add_site

PICTURES = {"1/" + "a" * 32 + ".webp": b"a picture", "1/" + "b" * 32 + "-card.webp": b"smaller", "2/logo.webp": b""}
NOW = datetime(2026, 11, 22, 20, 0, tzinfo=UTC)
DATED = "shop-20261122-200000.zip"


class Installation:
    def __init__(self, folder: Path, database_url: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.instance = folder
        self.config: Config = config_for(database_url or f"sqlite:///{folder / 'shop.db'}", folder)

    @property
    def erasures(self) -> ErasureFile:
        return ErasureFile(self.config.erasure_list)

    @contextmanager
    def opened(self) -> Iterator[None]:
        ports = Ports(NullEngine(), StoppedClock(), NoQueue())
        app = durable_application(self.config, ports)
        with app.app_context():
            try:
                yield
            finally:
                db.session.remove()
                db.engine.dispose()

    def fill(self) -> Installation:
        with self.opened():
            db.create_all()
            stamp(str(MIGRATIONS))
            with transaction():
                site = add_site()
                for number in range(20):
                    add_product(site.id, f"sku-{number}", f"name-{number}")
        for name, content in PICTURES.items():
            picture = self.config.media_dir / name
            picture.parent.mkdir(parents=True, exist_ok=True)
            picture.write_bytes(content)
        (self.instance / "secret.key").write_text("a secret that the shop made itself")
        for made_anew in (self.config.index_dir, self.instance / "valkey-9"):
            made_anew.mkdir()
            (made_anew / "something").write_text("of before")
        return self

    def change(self, sku: str = "later") -> None:
        with self.opened(), transaction():
            add_product(1, sku, f"name-{sku}")

    def change_files(self) -> None:
        (self.config.media_dir / next(iter(PICTURES))).write_bytes(b"a picture of later")
        (self.instance / "secret.key").write_text("another secret")

    def digest(self) -> str:
        """Of every row of every table, every picture and the secret."""
        checksum = hashlib.sha256()
        with self.opened():
            checksum.update(str(db.session.scalar(text("SELECT version_num FROM alembic_version"))).encode())
            for name, table in sorted(db.metadata.tables.items()):
                rows = db.session.execute(select(table)).all()
                checksum.update(json.dumps([name, sorted(map(repr, rows))]).encode())
        for path in sorted(self.config.media_dir.rglob("*")):
            checksum.update(str(path.relative_to(self.config.media_dir)).encode())
            checksum.update(path.read_bytes() if path.is_file() else b"")
        secret = self.instance / "secret.key"
        return f"{checksum.hexdigest()} {secret.read_text() if secret.exists() else ''}"

    def back_up(self, path: Path, keep: int | None = None, minutes: int = 0, by_hand: bool = False) -> Path:
        now = NOW + timedelta(minutes=minutes)
        return make_backup(self.config, self.erasures, self.instance, path, now, keep, by_hand=by_hand).path

    def restore(self, path: Path, minutes: int = 60) -> tuple[str, ...]:
        return restore(self.config, self.erasures, self.instance, path, NOW + timedelta(minutes=minutes)).aside

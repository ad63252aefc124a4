"""A shop that many tests begin with, built once in a process: its rows and its index are copied for the others, since
both take longer to make than most tests take."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

from flask import Flask
from sqlalchemy import select

from app.domain.sites.models import Site
from app.extensions import db

T = TypeVar("T")
_kept: dict[tuple[str, Hashable], tuple[tempfile.TemporaryDirectory[str], object]] = {}


def built(app: Flask, build: Callable[[], T], name: Hashable = None) -> T:
    """What `build` returns. A function that is made for one call has a name by which it is known again. In a database
    that holds a shop already, the new one is built beside it."""
    index = app.config["SHOP"].index_dir
    with app.app_context():
        if db.session.scalar(select(Site.id).limit(1)) is not None:
            return build()
        db.session.remove()
        kind, key = db.engine.dialect.name, (db.engine.dialect.name, name or build)
        if key not in _kept:
            _kept[key] = _keep(build, index)
        else:
            folder = Path(_kept[key][0].name)
            (_load_sqlite if kind == "sqlite" else _load_postgresql)(folder)
            if (folder / "index").exists():
                shutil.copytree(folder / "index", index, symlinks=True, dirs_exist_ok=True)
        return _kept[key][1]  # type: ignore[return-value]


def _keep(build: Callable[[], object], index: Path) -> tuple[tempfile.TemporaryDirectory[str], object]:
    value = build()
    db.session.remove()
    folder = tempfile.TemporaryDirectory(prefix="shop-snapshot-")
    save = _save_sqlite if db.engine.dialect.name == "sqlite" else _save_postgresql
    save(Path(folder.name))
    if index.exists():
        shutil.copytree(index, f"{folder.name}/index", symlinks=True)
    return folder, value


def _save_sqlite(folder: Path) -> None:
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.connection.driver_connection.execute(f"VACUUM INTO '{folder}/shop.db'")


def _load_sqlite(folder: Path) -> None:
    db.engine.dispose()
    assert db.engine.url.database
    shutil.copy(folder / "shop.db", db.engine.url.database)


def _save_postgresql(folder: Path) -> None:
    """The rows of each table that has any, and where the sequences stand."""
    with db.engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        for table in db.metadata.tables:
            with driver.cursor().copy(f'COPY "{table}" TO STDOUT') as rows:
                if text := b"".join(rows):
                    (folder / f"{table}.rows").write_bytes(text)
        used = driver.execute("SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL")
        (folder / "sequences.sql").write_text("".join(f"SELECT setval('\"{name}\"', {last});" for name, last in used))


def _load_postgresql(folder: Path) -> None:
    with db.engine.begin() as connection:
        driver: Any = connection.connection.driver_connection
        driver.execute("SET LOCAL session_replication_role = replica")  # Foreign keys are not looked at.
        for file in folder.glob("*.rows"):
            with driver.cursor().copy(f'COPY "{file.stem}" FROM STDIN') as rows:
                rows.write(file.read_bytes())
        driver.execute((folder / "sequences.sql").read_text() or "SELECT 1")

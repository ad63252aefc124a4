"""The shop that grows: its database, its engines, and its products as far as they are imported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest import SkipTest

from flask import Flask
from sqlalchemy import func, select

from app import create_app
from app.config import from_environment
from app.domain.catalogue.models import Product
from app.extensions import db
from bench.apart import Step, apart
from bench.scale.postgresql import running_postgresql
from bench.scale.stock import import_products, originals_in
from bench.shop import empty_shop, settings
from tests.opensearch import running_node

ENGINES = ("whoosh", "opensearch")
HEAP = 2_048  # Megabytes of the node of OpenSearch.
MEASURED_SECONDS = "30"  # A search that takes longer than shoppers would wait is measured all the same.
JAVA = ("-XX:+UseG1GC",)  # As a server of it is run.


@dataclass(slots=True)
class Shop:
    """A shop in a folder. `database` is its address, `cluster` that of a node of OpenSearch; `missing` says by engine
    why there is none."""

    folder: Path
    database: str
    bundle: Path
    cluster: str = ""
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def is_made_up(self) -> bool:
        return self.bundle.is_relative_to(self.folder)

    @property
    def kind_of_database(self) -> str:
        return "PostgreSQL" if self.database.startswith("postgresql") else "SQLite"

    def environment(self, engine: str) -> Mapping[str, str]:
        """The settings of a process with this engine, whose files are its own."""
        own = self.folder / engine
        own.mkdir(exist_ok=True)
        chosen = {"SEARCH_ENGINE": "opensearch", "OPENSEARCH_URL": self.cluster, "OPENSEARCH_PREFIX": "scale"}
        chosen["OPENSEARCH_TIMEOUT"] = MEASURED_SECONDS
        return settings(own) | {"DATABASE_URL": self.database} | (chosen if engine == "opensearch" else {})

    def application(self, engine: str) -> Flask:
        return create_app(from_environment(self.environment(engine)))

    def count(self) -> int:
        """Return how many products it has; its tables are made where there are none."""
        with empty_shop(dict(self.environment("whoosh"))).app_context():
            there = db.session.scalar(select(func.count()).select_from(Product)) or 0
            db.session.remove()
            db.engine.dispose()
        return there

    def grow_to(self, products: int) -> tuple[int, Step] | None:
        """Import what is missing; return how many products that were, and the import, or None for none."""
        there = self.count()
        if there >= products:
            return None
        work = partial(import_products, self.bundle, self.folder, there, products)
        return products - there, apart(self.environment("whoosh"), work)

    def require_postgresql(self) -> None:
        if self.kind_of_database != "PostgreSQL":
            raise SkipTest("there is no PostgreSQL, whose plans are looked at (on Debian: apt install postgresql)")


@contextmanager
def running_shop(folder: Path, engines: Sequence[str]) -> Iterator[Shop]:
    """The shop with what this machine has: PostgreSQL, or else SQLite, and OpenSearch where there is Java."""
    bundle, name = originals_in(folder)
    with ExitStack() as stack:
        shop = Shop(folder, _database(stack, folder), bundle)
        if "opensearch" in engines:
            shutil.rmtree(folder / "node", ignore_errors=True)
            try:
                node = stack.enter_context(running_node(folder / "node", heap=HEAP, java=JAVA))
                shop.cluster = node.url
            except SkipTest as missing:
                shop.missing["opensearch"] = str(missing)
        print(f"Products made from {name}; {shop.kind_of_database}; {os.cpu_count()} processors")
        yield shop


def _database(stack: ExitStack, folder: Path) -> str:
    if named := os.environ.get("BENCH_DATABASE_URL"):
        return named
    try:
        return stack.enter_context(running_postgresql(folder / "pg"))
    except SkipTest as missing:
        print(f"Without PostgreSQL, on SQLite: {missing}.")
        return f"sqlite:///{folder / 'shop.db'}"

"""A shop whose processes are started, killed and stopped, and the check that nothing was lost."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from app import create_app
from app.adapters.images import FileImages
from app.adapters.queue import NoQueue
from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import EngineState, IndexName, SearchRequest
from app.domain.search.index import builders, wishes
from app.domain.search.index.apply import apply_waiting
from app.domain.search.index.documents import product_documents
from app.domain.search.index.indexing import Indexing
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import RebuildRun
from app.extensions import db
from app.ports import JobQueue, Ports
from app.transaction import transaction
from tests.conftest import config_for
from tests.fakes.clock import StoppedClock
from tests.faults.act import saves
from tests.faults.deeds import Deed, do, run_program, traced
from tests.processes import plain_environment
from tests.searching import add_product, add_site, request
from tests.surroundings import ROOT, missing

PRODUCTS = 120
SITE = 1


class Shop:
    """A shop in `folder`, with a built index of a few products."""

    def __init__(self, folder: Path, redis_url: str | None = None) -> None:
        self.folder = folder
        self.redis_url = redis_url
        self.running: list[Deed] = []
        self.config = config_for(f"sqlite:///{folder / 'shop.db'}", folder)

    @property
    def index(self) -> Path:
        return self.folder / "index" / str(SITE) / "products"

    @property
    def generations(self) -> set[str]:
        return {path.name for path in self.index.iterdir() if path.name.startswith("gen-")}

    @property
    def live(self) -> str:
        return os.readlink(self.index / "current")

    def environment(self, **more: str) -> dict[str, str]:
        environment = plain_environment() | {
            "SHOP_ENV": "testing",
            "SECRET_KEY": "for tests",
            "DATABASE_URL": self.config.database_url,
            "INDEX_DIR": str(self.config.index_dir),
            "MEDIA_DIR": str(self.config.media_dir),
            "LOG_LEVEL": "ERROR",
        }
        return environment | ({"REDIS_URL": self.redis_url} if self.redis_url else {}) | more

    def do(self, *deed: str, fault: str = "", strace: tuple[str, ...] = ()) -> Deed:
        """Start a deed of tests/faults/act.py, perhaps with a fault, perhaps with injected system calls."""
        environment = self.environment(FAULT=fault)
        started = traced(deed, self.folder, environment, strace) if strace else do(deed, self.folder, environment)
        self.running.append(started)
        return started

    def scheduler(self) -> Deed:
        command = [sys.executable, "-m", "flask", "--app", "wsgi", "scheduler"]
        self.running.append(run_program(command, self.folder, self.environment()))
        return self.running[-1]

    def end_all(self) -> None:
        for deed in self.running:
            deed.end()

    @contextmanager
    def opened(self, minutes_from_now: int = 0, queue: JobQueue | None = None) -> Iterator[Indexing]:
        """The shop in this process, as somebody sees it who comes some minutes later."""
        engine = WhooshEngine(self.config.index_dir)
        clock = StoppedClock(datetime.now(UTC) + timedelta(minutes=minutes_from_now))
        app = create_app(self.config, Ports(engine, clock, queue or NoQueue(), FileImages(self.config.media_dir)))
        with app.app_context():
            yield Indexing(engine, clock, transaction)
            db.session.remove()
            db.engine.dispose()

    def run(self) -> tuple[str, str | None]:
        """State and error of the latest rebuild."""
        with self.opened():
            latest = select(RebuildRun.state, RebuildRun.error).order_by(RebuildRun.created_at.desc())
            row = db.session.execute(latest.limit(1)).one()
            return row.state, row.error

    def save(self, times: int) -> list[str]:
        """Changes in this process; what was acknowledged."""
        with self.opened():
            return list(saves(times))

    def found(self) -> dict[str, str]:
        """The name that search shows for every SKU."""
        with self.opened() as indexing:
            hits = indexing.engine.search(SITE, IndexName.PRODUCTS, SearchRequest(per_page=100_000)).hits
            return {str(hit.card["sku"]): str(hit.card["name"]) for hit in hits}


def make_shop(folder: Path) -> Shop:
    shop = Shop(folder)
    with shop.opened() as indexing:
        db.create_all()
        with transaction():
            site = add_site()
            assert site.id == SITE
            for number in range(PRODUCTS):
                add_product(SITE, f"sku-{number}", f"name-{number}")
        rebuild(indexing, request(indexing, SITE, "PRODUCTS"))
    return shop


def check(shop: Shop, said: Sequence[str] = ()) -> None:
    """After the fault is over and a while has passed: no run claims to be running, what was acknowledged is found,
    index and database are equal, and the next rebuild leaves nothing lying about."""
    with shop.opened(minutes_from_now=10) as indexing:
        with transaction():
            builders.end_dead_runs(indexing.clock, indexing.engine)
        assert not db.session.scalars(select(RebuildRun).where(RebuildRun.state == "running")).all()
        apply_waiting(indexing, SITE)
        _check_equal(indexing)
    _check_acknowledged(shop, said)
    gc.collect()  # Engines of this process that nobody uses any more let go of what they read.
    with shop.opened(minutes_from_now=20) as indexing:
        run_id = request(indexing, SITE, "PRODUCTS")
        assert rebuild(indexing, run_id)
        assert db.session.get_one(RebuildRun, run_id).state == "done"
        _check_equal(indexing)
        assert wishes.all_of(SITE, IndexName.PRODUCTS) == []
    # Others stay only while a process reads them, this one for one.
    assert len(shop.generations) <= 4 and not any(name.endswith(".tmp") for name in shop.generations)


def _check_equal(indexing: Indexing) -> None:
    status = indexing.engine.status(SITE, IndexName.PRODUCTS)
    assert status.state is EngineState.HEALTHY, status.error
    wanted = {document.id: document.digest for document in product_documents(SITE)}
    assert dict(indexing.engine.digests(SITE, IndexName.PRODUCTS)) == wanted


def _check_acknowledged(shop: Shop, said: Sequence[str]) -> None:
    """The last word about each SKU holds. A change that was announced and not told any more may have come or not."""
    told: dict[str, list[str]] = {}
    announced: set[str] = set()
    for line in said:
        words = line.split()
        if words[0] == "about":
            announced.add(words[2])
        elif words[0] in ("saved", "deleted"):
            announced.discard(words[1])
            told[words[1]] = words
    found = shop.found()
    for sku in told.keys() - announced:
        assert found.get(sku) == (told[sku][2] if told[sku][0] == "saved" else None), told[sku]


def need_strace() -> None:
    """System calls are made to fail by strace, which needs the permission to trace."""
    try:
        tried = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], check=False, capture_output=True, cwd=ROOT)
    except FileNotFoundError:
        missing("strace is not installed (on Debian: apt install strace)")
    if tried.returncode:
        missing("strace may not trace processes here")

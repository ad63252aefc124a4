"""A shop whose processes are started, killed and stopped, and the check that nothing was lost."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from app.adapters.queue import NoQueue
from app.adapters.whoosh import WhooshEngine
from app.domain.search.engine import EngineState, IndexName, SearchContext, SearchEngine, SearchRequest
from app.domain.search.index import outbox, runs
from app.domain.search.index.documents import product_documents
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import RebuildRun
from app.extensions import db
from app.ports import JobQueue, Ports, machine_id, worker_locks
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.faults.act import saves
from tests.faults.deeds import Deed, do
from tests.processes import plain_environment
from tests.ready_app import application, config_for
from tests.searching import add_product, add_site, request
from tests.surroundings import ROOT, missing

PRODUCTS = 120
SITE = 1


class Shop:
    """A shop in `folder`, with a built index of a few products."""

    def __init__(self, folder: Path, redis_url: str | None = None, database_url: str | None = None) -> None:
        self.folder = folder
        self.redis_url = redis_url
        self.clock_file: Path | None = None
        self.running: list[Deed] = []
        self.config = config_for(database_url or f"sqlite:///{folder / 'shop.db'}", folder)

    @property
    def index(self) -> Path:
        return self.folder / "index" / str(SITE) / "products"

    @property
    def generations(self) -> set[str]:
        return {path.name for path in self.index.iterdir() if path.name.startswith("gen-")}

    @property
    def live(self) -> str:
        return os.readlink(self.index / "current")

    def engine(self) -> SearchEngine:
        return WhooshEngine(self.config.index_dir)

    def environment(self, **more: str) -> dict[str, str]:
        environment = plain_environment() | {
            "SHOP_ENV": "testing",
            "SECRET_KEY": "for tests",
            "DATABASE_URL": self.config.database_url,
            "INDEX_DIR": str(self.config.index_dir),
            "MEDIA_DIR": str(self.config.media_dir),
            "LOG_LEVEL": "ERROR",
            "ALERT_FREE_DISK_MB": "1",
        }
        queue = {"REDIS_URL": self.redis_url} if self.redis_url else {}
        clock = {"CLOCK_FILE": str(self.clock_file)} if self.clock_file else {}
        return environment | queue | clock | more

    def do(self, *deed: str, fault: str = "", strace: tuple[str, ...] = (), **settings: str) -> Deed:
        """Start a deed of tests/faults/act.py, perhaps with a fault, with injected system calls, or with settings."""
        environment = self.environment(FAULT=fault, **settings)
        started = do(deed, self.folder, environment, strace)
        self.running.append(started)
        return started

    def end_all(self) -> None:
        for deed in self.running:
            deed.end()

    @contextmanager
    def opened(self, minutes_from_now: int = 0, queue: JobQueue | None = None) -> Iterator[SearchContext]:
        """The shop in this process, as somebody sees it who comes some minutes later."""
        engine = self.engine()
        clock = StoppedClock(datetime.now(UTC) + timedelta(minutes=minutes_from_now))
        app = application(self.config, Ports(engine, clock, queue or NoQueue()))
        with app.app_context():
            try:
                yield SearchContext(clock, transaction, engine, locks=worker_locks(), machine=machine_id())
            finally:
                db.session.remove()
                db.engine.dispose()

    def run(self) -> tuple[str, str | None]:
        """State and error of the latest rebuild."""
        with self.opened():
            latest = select(RebuildRun.state, RebuildRun.error).order_by(RebuildRun.created_at.desc())
            row = db.session.execute(latest.limit(1)).one()
            return row.state, row.error

    def runs(self) -> dict[str, str | None]:
        """The errors of the rebuilds after the first, by state."""
        with self.opened():
            rows = db.session.execute(select(RebuildRun.state, RebuildRun.error).order_by(RebuildRun.created_at))
            return {row.state: row.error for row in rows.all()[1:]}

    def save(self, times: int) -> list[str]:
        """Changes in this process; what was acknowledged."""
        with self.opened():
            return list(saves(times))

    def found(self) -> dict[str, str]:
        """The name that search shows for every SKU."""
        with self.opened() as indexing:
            return _found(indexing)


def _found(indexing: SearchContext) -> dict[str, str]:
    hits = indexing.engine.search(SITE, IndexName.PRODUCTS, SearchRequest(per_page=100_000)).hits
    return {str(hit.card["sku"]): str(hit.card["name"]) for hit in hits}


def make_shop(folder: Path, database_url: str | None = None) -> Shop:
    shop = Shop(folder, database_url=database_url)
    fill(shop)
    return shop


def fill(shop: Shop) -> None:
    with shop.opened() as indexing:
        db.create_all()
        with transaction():
            site = add_site()
            assert site.id == SITE
            for number in range(PRODUCTS):
                add_product(SITE, f"sku-{number}", f"name-{number}")
        rebuild(indexing, request(indexing, SITE, "PRODUCTS"))


def check(shop: Shop, said: Sequence[str] = ()) -> None:
    """After the fault is over and a while has passed: no run claims to be running, what was acknowledged is found,
    index and database are equal, and the next rebuild leaves nothing lying about."""
    with shop.opened(minutes_from_now=10) as indexing:
        with transaction():
            runs.expire_runs(indexing.clock, indexing.engine)
        assert not db.session.scalars(select(RebuildRun).where(RebuildRun.state == "running")).all()
        check_applied(indexing, said)
    gc.collect()  # Engines of this process that nobody uses any more let go of what they read.
    with shop.opened(minutes_from_now=20) as indexing:
        run_id = request(indexing, SITE, "PRODUCTS")
        assert rebuild(indexing, run_id)
        assert db.session.get_one(RebuildRun, run_id).state == "done"
        check_equal(indexing)
        assert list(outbox.all_of(SITE, IndexName.PRODUCTS)) == []
    # Others stay only while a process reads them, this one for one.
    assert len(shop.generations) <= 4 and not any(name.endswith(".tmp") for name in shop.generations)


def check_applied(indexing: SearchContext, said: Sequence[str]) -> None:
    """The essence of the check, of a shop that is opened already."""
    apply_waiting(indexing, SITE)
    check_equal(indexing)
    _check_acknowledged(_found(indexing), said)


def check_equal(indexing: SearchContext) -> None:
    status = indexing.engine.status(SITE, IndexName.PRODUCTS)
    assert status.state is EngineState.HEALTHY, status.error
    wanted = {document.id: document.digest for document in product_documents(SITE)}
    assert dict(indexing.engine.digests(SITE, IndexName.PRODUCTS)) == wanted


def _check_acknowledged(found: Mapping[str, str], said: Sequence[str]) -> None:
    """The last word about each SKU holds. A change that was announced and not told any more may have come or not."""
    result: dict[str, list[str]] = {}
    announced: set[str] = set()
    for line in said:
        words = line.split()
        if words[0] == "about":
            announced.add(words[2])
        elif words[0] in ("saved", "deleted"):
            announced.discard(words[1])
            result[words[1]] = words
    for sku in result.keys() - announced:
        assert found.get(sku) == (result[sku][2] if result[sku][0] == "saved" else None), result[sku]


def need_strace() -> None:
    """System calls are made to fail by strace, which needs the permission to trace."""
    try:
        tried = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], check=False, capture_output=True, cwd=ROOT)
    except FileNotFoundError:
        missing("strace is not installed (on Debian: apt install strace)")
    if tried.returncode:
        missing("strace may not trace processes here")

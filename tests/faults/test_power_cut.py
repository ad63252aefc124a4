"""F06: the power fails at each point of a rebuild and of an applied change (tests/faults/power.py)."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import select

from app.domain.search.engine import EngineState, IndexName, SearchContext
from app.domain.search.models import RebuildRun
from app.extensions import db
from tests.faults.power import Disk, anything_is_kept, entries_are_kept, nothing_is_kept, recording, the_last_is_kept
from tests.faults.shops import SITE, Shop, check_applied, need_strace
from tests.injected_faults import injected

pytestmark = pytest.mark.fault("F06")

# Of the states in which a disk may be left by a cut that follows no change of entries, one in so many is opened; `make
# torture` opens all.
EVERY = 13
ENTRIES = ("rename", "symlink", "mkdir")
LEAVES = (nothing_is_kept, entries_are_kept, the_last_is_kept, anything_is_kept)

Digests = Mapping[str, str]


@pytest.mark.parametrize("deed", ["save_and_rebuild", "apply"])
def test_after_a_power_cut_the_old_or_the_new_index_is_there(shop: Shop, tmp_path: Path, deed: str) -> None:
    cut_power(shop, tmp_path, deed, EVERY)


def test_after_a_power_cut_the_first_index_is_there_once_its_rebuild_is_done(shop: Shop, tmp_path: Path) -> None:
    shutil.rmtree(shop.folder / "index")
    cut_power(shop, tmp_path, "save_and_rebuild", EVERY)


@pytest.mark.torture
@pytest.mark.parametrize("deed", ["save_and_rebuild", "apply"])
def test_after_any_power_cut_the_old_or_the_new_index_is_there(shop: Shop, tmp_path: Path, deed: str) -> None:
    cut_power(shop, tmp_path, deed, every=1)


def cut_power(shop: Shop, folder: Path, deed: str, every: int) -> None:
    need_strace()
    said = shop.save(5)
    before = digests(shop)
    log = folder / "record.txt"
    disk = Disk(shop.folder)
    assert shop.do(deed, strace=recording(log)).finish() == 0
    after = digests(shop)
    assert after != before
    states, seen = count(), set[str]()
    for call in disk.replay(log):
        for leave in LEAVES:
            if (number := next(states)) % every == 0 or call in ENTRIES:
                left = Shop(folder / "left")
                leave(disk, left.folder, random.Random(number))
                if (fingerprint := f"{disk.said} {fingerprint_of(left.folder)}") not in seen:
                    seen.add(fingerprint)
                    injected()
                    check_left(left, [before, after], [*said, *disk.said.splitlines()])
                shutil.rmtree(left.folder)
    assert len(seen) > 5


def fingerprint_of(folder: Path) -> str:
    hashed = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        hashed.update(f"{path.relative_to(folder)}\n".encode())
        hashed.update(os.readlink(path).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b"")
    return hashed.hexdigest()


def check_left(left: Shop, wanted: list[Digests | None], said: list[str]) -> None:
    with left.opened(minutes_from_now=10) as indexing:
        found = digests_of(indexing)
        assert found in wanted
        if found is None:
            assert "done" not in db.session.scalars(select(RebuildRun.state).order_by(RebuildRun.created_at)).all()[1:]
        else:
            check_applied(indexing, [line for line in said if line.startswith(("about", "saved", "deleted"))])


def digests(shop: Shop) -> Digests | None:
    with shop.opened() as indexing:
        return digests_of(indexing)


def digests_of(indexing: SearchContext) -> Digests | None:
    """What the live index holds, whose files are what the manifest says; None where there is none."""
    if indexing.engine.status(SITE, IndexName.PRODUCTS).state is not EngineState.HEALTHY:
        return None
    indexing.engine.verify(SITE, IndexName.PRODUCTS)
    return dict(indexing.engine.digests(SITE, IndexName.PRODUCTS))

"""F09 and F10: a disk that is full or fails costs the build, never the live index and never half a save."""

from __future__ import annotations

import sqlite3

import pytest

from tests.faults.shops import Shop, check, need_strace

pytestmark = pytest.mark.fault("F09", "F10")

WORDS = {
    "ENOSPC": "There is no space left on the disk. Free some, then rebuild.",
    "EIO": "The disk failed to read or write. Look at it before you rebuild.",
}


@pytest.mark.parametrize(("call", "error"), [("write", "ENOSPC"), ("write", "EIO"), ("fsync", "EIO")])
def test_a_build_fails_with_the_reason_and_leaves_the_old_index(shop: Shop, call: str, error: str) -> None:
    """Only the index's own files fail: the database writes by other system calls."""
    need_strace()
    before = shop.live
    run_id = shop.do("request_rebuild")
    run_id.finish()
    builder = shop.do("build", strace=("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when=2+"))
    builder.finish()
    assert shop.run() == ("failed", WORDS[error])
    assert (shop.live, shop.generations) == (before, {before})
    check(shop, shop.save(3))


@pytest.mark.parametrize(("call", "first"), [("pwrite64", 9), ("fdatasync", 3)])
def test_a_save_that_the_disk_refuses_is_refused_whole(shop: Shop, call: str, first: int) -> None:
    need_strace()
    saver = shop.do("save", "6", strace=("-e", f"trace={call}", "-e", f"inject={call}:error=ENOSPC:when={first}+"))
    saver.finish()
    with sqlite3.connect(shop.folder / "shop.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    check(shop, saver.said)


@pytest.mark.parametrize(("call", "error"), [("write", "ENOSPC"), ("fsync", "EIO"), ("rename", "EIO")])
def test_changes_that_the_disk_refuses_wait_and_are_applied_later(shop: Shop, call: str, error: str) -> None:
    need_strace()
    said = shop.save(5)
    applier = shop.do("apply", strace=("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when=1+"))
    assert applier.finish() != 0
    check(shop, said)

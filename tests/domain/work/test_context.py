"""Whoever holds a lock lives, is dead, or is unknown here."""

from __future__ import annotations

import multiprocessing
import os
import signal
import stat
from pathlib import Path

import pytest

from app.domain.work.context import STALE_SECONDS, WorkerLocks

fork = multiprocessing.get_context("fork")
NAME = "rebuild-1-1"


def killed_holder(folder: Path, name: str = NAME) -> None:
    def hold_and_die() -> None:
        with WorkerLocks(folder).hold(name):
            os.kill(os.getpid(), signal.SIGKILL)

    process = fork.Process(target=hold_and_die)
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL


def test_a_process_that_was_killed_is_known_to_be_dead(tmp_path: Path) -> None:
    killed_holder(tmp_path / "locks")
    assert WorkerLocks(tmp_path / "locks").is_dead(NAME)
    assert stat.S_IMODE((tmp_path / "locks").stat().st_mode) == 0o700


def test_one_that_lives_is_not_dead_nor_is_one_that_has_ended_or_is_unknown_here(tmp_path: Path) -> None:
    locks = WorkerLocks(tmp_path)
    assert not locks.is_dead(NAME)
    with locks.hold(NAME):
        assert not WorkerLocks(tmp_path).is_dead(NAME)
        assert not locks.is_dead("rebuild-1-2")
    assert not locks.is_dead(NAME)
    assert list(tmp_path.iterdir()) == []


def test_work_that_fails_leaves_no_lock(tmp_path: Path) -> None:
    with pytest.raises(KeyError), WorkerLocks(tmp_path).hold(NAME):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_locks_of_the_dead_go_after_a_day(tmp_path: Path) -> None:
    killed_holder(tmp_path)
    killed_holder(tmp_path, "rebuild-2-1")
    before = (tmp_path / NAME).stat().st_mtime - STALE_SECONDS - 1
    os.utime(tmp_path / NAME, (before, before))
    with WorkerLocks(tmp_path).hold("rebuild-3-1"):
        assert {path.name for path in tmp_path.iterdir()} == {"rebuild-2-1", "rebuild-3-1"}


def test_where_the_folder_cannot_be_made_work_goes_on_without(tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("in the way")
    locks = WorkerLocks(tmp_path / "locks")
    with locks.hold(NAME):
        assert not locks.is_dead(NAME)

"""Locks that every process sees which writes to the same indexes."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.adapters.write_locks import Locks, database_locks, file_locks, write_lock_for
from app.config import Config
from app.domain.search.engine import SearchUnavailable
from tests.forks import fork
from tests.waiting import until


@pytest.fixture
def locks(database_url: str, tmp_path: Path) -> Locks:
    """Those of the kind of database that the tests run on."""
    return write_lock_for(Config(database_url=database_url, index_dir=tmp_path / "index"))


def test_one_at_a_time_holds_a_lock_and_another_name_is_another_lock(locks: Locks) -> None:
    order: list[str] = []

    def write() -> None:
        with locks("products"):
            order.append("second")

    with ThreadPoolExecutor(1) as pool:
        with locks("products"):
            later = pool.submit(write)
            with locks("content"):
                order.append("first")
            assert not later.done()
        later.result(30)
    assert order == ["first", "second"]


def hold(url: str, folder: Path) -> None:
    with write_lock_for(Config(database_url=url, index_dir=folder / "index"))("products"):
        (folder / "held").touch()
        signal.pause()


def test_a_process_that_dies_leaves_no_lock(database_url: str, locks: Locks, tmp_path: Path) -> None:
    output = tmp_path / "output"
    holder = fork(hold, database_url, tmp_path, folder=tmp_path, environment={}, output=output, errors=output)
    until(lambda: (tmp_path / "held").exists())
    holder.kill()
    holder.join()
    with locks("products"):
        pass


def test_without_its_database_nothing_is_locked() -> None:
    with (
        pytest.raises(SearchUnavailable, match="database does not answer"),
        database_locks("postgresql+psycopg://nobody@127.0.0.1:1/none")("products"),
    ):
        pass


def test_locks_of_a_machine_lie_in_its_folder(tmp_path: Path) -> None:
    with file_locks(tmp_path / "new")("products"):
        assert (tmp_path / "new" / "products.lock").exists()

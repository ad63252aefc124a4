"""Requests are counted once for all processes of a machine."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from app.adapters.rate_limit_table import RateLimitTable
from app.domain.shared.rate_limit import Rate
from tests.forks import loaded_context

SECRET = "a secret that all processes of the shop know"
NOW = 1_800_000_000.0


@pytest.fixture
def table(tmp_path: Path) -> RateLimitTable:
    return RateLimitTable(tmp_path / "shop" / "rate-limits", SECRET)


def _admitted(table: RateLimitTable, key: str, tries: int, rate: Rate) -> int:
    return sum(table.take(key, rate, NOW) == 0 for _ in range(tries))


def test_each_key_has_a_window_of_its_own(table: RateLimitTable) -> None:
    assert _admitted(table, "pos_create:user:1:1", 5, Rate(3)) == 3
    assert _admitted(table, "pos_create:user:1:2", 5, Rate(3)) == 3
    assert _admitted(table, "pos_read:user:1:1", 5, Rate(4)) == 4
    assert table.take("pos_create:user:1:1", Rate(3), NOW + 20) == 40
    assert table.take("pos_create:user:1:1", Rate(3), NOW + 60) == 0


def test_processes_and_threads_count_together(tmp_path: Path) -> None:
    """Each process opens the file by itself, as those of the web server do."""
    with ProcessPoolExecutor(2, loaded_context()) as processes:
        assert sum(processes.map(_admitted_in_threads, [tmp_path / "rate-limits"] * 2)) == 80


def _admitted_in_threads(path: Path) -> int:
    table = RateLimitTable(path, SECRET)
    with ThreadPoolExecutor(4) as threads:
        return sum(threads.map(lambda tries: _admitted(table, "key", tries, Rate(80)), [25] * 4))


def test_what_was_counted_outlives_a_restart(table: RateLimitTable, tmp_path: Path) -> None:
    assert _admitted(table, "key", 2, Rate(2)) == 2
    assert RateLimitTable(tmp_path / "shop" / "rate-limits", SECRET).take("key", Rate(2), NOW + 1) == 59


def test_a_full_set_forgets_the_window_that_ends_first(tmp_path: Path) -> None:
    small = RateLimitTable(tmp_path / "rate-limits", SECRET, sets=1)
    for number in range(8):
        assert small.take(f"key {number}", Rate(1), NOW + number) == 0
    assert small.take("another", Rate(1), NOW + 9) == 0
    assert small.take("key 7", Rate(1), NOW + 9) > 0, "still known"
    assert small.take("key 0", Rate(1), NOW + 9) == 0, "forgotten"


def test_the_file_is_for_its_owner_and_holds_no_address(table: RateLimitTable, tmp_path: Path) -> None:
    table.take("searches:address:192.0.2.7", Rate(1), NOW)
    path = tmp_path / "shop" / "rate-limits"
    assert path.stat().st_mode & 0o077 == 0 and b"192.0.2" not in path.read_bytes()


def test_where_no_file_can_be_made_the_process_counts_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    table = RateLimitTable(tmp_path / "file" / "rate-limits", SECRET)
    assert _admitted(table, "key", 3, Rate(2)) == 2


def test_a_file_that_is_cut_short_or_goes_away_ends_no_process(table: RateLimitTable, tmp_path: Path) -> None:
    path = tmp_path / "shop" / "rate-limits"
    assert _admitted(table, "key", 3, Rate(2)) == 2
    os.truncate(path, 0)
    assert _admitted(table, "key", 3, Rate(2)) == 2, "it is made anew"
    assert RateLimitTable(path, SECRET).take("key", Rate(2), NOW) > 0, "and shared"
    path.unlink()
    assert _admitted(table, "another", 3, Rate(2)) == 2


def test_a_disk_that_takes_no_more_leaves_the_process_counting_alone(
    table: RateLimitTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.take("key", Rate(9), NOW)

    def fails(*_arguments: object) -> int:
        raise OSError(errno.EIO, "failed")

    monkeypatch.setattr(os, "pwrite", fails)
    assert _admitted(table, "another", 3, Rate(2)) == 2

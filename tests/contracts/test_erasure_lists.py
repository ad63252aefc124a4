"""What every list of erasures promises, held against a real file and a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.adapters.erasure_file import ErasureFile
from app.adapters.s3 import Bucket, S3Erasures, S3Pictures, TimeLimits
from app.domain.personal_data.erasure_list import ErasureList, copy_erasures
from tests.s3_server import S3Server, s3_server

SHORT = TimeLimits(connect=0.5, request=0.7, retries=0.5, rest=0.0)
READ_ONLY = TimeLimits(rest=0.0)
Open = Callable[[], ErasureList]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(params=["file", "s3", "s3-whole-bucket"])
def open_list(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the same list as another process of the shop would."""
    if request.param == "file":
        return lambda: ErasureFile(tmp_path / "lists" / "erasures.list")
    server: S3Server = request.getfixturevalue("server")
    settings = server.with_settings(prefix=f"shops/{tmp_path.name}" if request.param == "s3" else "")
    return lambda: S3Erasures(Bucket(settings), settings.bucket)


def test_a_line_is_there_for_all_once_it_was_appended(open_list: Open) -> None:
    assert open_list().lines() == []
    open_list().append("one")
    open_list().append("two")
    assert sorted(open_list().lines()) == ["one", "two"]
    open_list().check()


def test_lines_that_are_appended_at_once_are_all_kept(open_list: Open) -> None:
    lines = [f"line {number}" for number in range(40)]
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda line: open_list().append(line), lines))
    assert sorted(set(open_list().lines()) & set(lines)) == sorted(lines)


def test_a_copy_appends_what_is_missing_and_no_more(open_list: Open, tmp_path: Path) -> None:
    source, target = ErasureFile(tmp_path / "of before"), open_list()
    for line in ("first", "second", "", "first"):
        source.append(line)
    assert copy_erasures(source.lines(), target) == 2
    assert copy_erasures(source.lines(), target) == 0
    source.append("third")
    assert copy_erasures(source.lines(), target) == 1
    assert copy_erasures(target.lines(), ErasureFile(tmp_path / "and back")) >= 3


def test_erasures_and_pictures_of_a_bucket_do_not_see_each_other(server: S3Server, tmp_path: Path) -> None:
    settings = server.with_settings(prefix=tmp_path.name)
    erasures, pictures = S3Erasures(Bucket(settings), settings.bucket), S3Pictures(settings)
    erasures.append("one")
    pictures.write(1, f"{'a' * 32}.webp", b"a picture")
    assert pictures.sites() == [1] and len(erasures.lines()) == 1


def test_checking_leaves_nothing_behind(server: S3Server, tmp_path: Path) -> None:
    settings, stored = server.with_settings(prefix=tmp_path.name), server.stored_keys()
    S3Erasures(Bucket(settings), settings.bucket).check()
    assert server.stored_keys() == stored


def test_a_bucket_that_can_be_read_and_not_written_fails_the_check(tmp_path: Path) -> None:
    with s3_server(tmp_path, is_read_only=True) as server:
        line = server.folder / "pictures" / "erasures" / "of-before"
        line.parent.mkdir(parents=True)
        line.write_text("one")
        erasures = S3Erasures(Bucket(server.settings, READ_ONLY), server.settings.bucket)
        assert erasures.lines() == ["one"]
        for call in (lambda: erasures.append("two"), erasures.check):
            with pytest.raises(OSError, match="it answers 500"):
                call()


def test_a_bucket_that_does_not_answer_is_an_error_with_its_reason(server: S3Server) -> None:
    erasures = S3Erasures(Bucket(server.settings, SHORT), server.settings.bucket)
    server.network.fault = "reset"
    try:
        for call in (lambda: erasures.append("one"), erasures.lines, erasures.check):
            with pytest.raises(OSError, match="it does not answer"):
                call()
    finally:
        server.network.fault = ""

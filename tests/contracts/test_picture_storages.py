"""What every storage of pictures promises, held against real files and a real server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.adapters.picture_files import PictureFiles
from app.adapters.s3 import S3Pictures
from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.picture_storage import PictureStorage
from tests.domain.catalogue.test_image_store import drawn
from tests.fakes.picture_storage import PicturesInMemory
from tests.s3_server import S3Server, s3_server

NAME, UPLOAD = f"{'a' * 32}.webp", f"{'b' * 32}.upload"
LONG_AGO = 86_400.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(params=["files", "s3", "s3-whole-bucket", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> PictureStorage:
    if request.param == "files":
        return PictureFiles(tmp_path / "media")
    if request.param == "memory":
        return PicturesInMemory()
    server: S3Server = request.getfixturevalue("server")
    if request.param == "s3":
        return S3Pictures(server.with_settings(prefix=f"shops/{tmp_path.name}"))
    storage = S3Pictures(server.with_settings(prefix=""))
    for site_id in storage.sites():
        for file in storage.files(site_id):
            storage.remove(site_id, file.name)
    return storage


def test_what_is_written_is_read_until_it_is_written_anew_or_removed(storage: PictureStorage) -> None:
    assert storage.read(1, NAME) is None
    storage.write(1, NAME, b"a picture")
    assert storage.read(1, NAME) == b"a picture"
    storage.write(1, NAME, b"another")
    assert storage.read(1, NAME) == b"another"
    storage.remove(1, NAME)
    assert storage.read(1, NAME) is None


def test_a_file_may_be_as_large_as_an_upload(storage: PictureStorage) -> None:
    data = os.urandom(5 * 1024**2)
    storage.write(1, UPLOAD, data)
    assert storage.read(1, UPLOAD) == data


def test_removing_what_is_not_there_is_no_error(storage: PictureStorage) -> None:
    storage.remove(1, NAME)
    storage.remove(1, UPLOAD)


def test_a_file_belongs_to_its_site(storage: PictureStorage) -> None:
    storage.write(1, NAME, b"of the first")
    storage.write(12, NAME, b"of the twelfth")
    assert storage.read(2, NAME) is None and storage.written_at(2, NAME) is None
    storage.remove(1, NAME)
    assert storage.read(12, NAME) == b"of the twelfth"
    assert [one.name for one in storage.files(1)] == []


def test_files_are_listed_with_their_sizes_uploads_too(storage: PictureStorage) -> None:
    assert list(storage.files(1)) == []
    storage.write(1, NAME, b"12345")
    storage.write(1, UPLOAD, b"123")
    storage.write(2, NAME, b"1")
    written, listed = storage.written_at(1, NAME), {one.name: one for one in storage.files(1)}
    assert {name: one.bytes for name, one in listed.items()} == {NAME: 5, UPLOAD: 3}
    assert listed[NAME].written_at == pytest.approx(written, abs=1.0)


def test_more_files_are_listed_than_fit_on_a_page(storage: PictureStorage) -> None:
    names = {f"{number:032x}.webp" for number in range(1_100)}
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda name: storage.write(3, name, b"1"), names))
    assert {one.name for one in storage.files(3)} == names


def test_the_sites_with_files_are_known_by_their_uploads_too(storage: PictureStorage) -> None:
    assert storage.sites() == []
    storage.write(3, NAME, b"1")
    storage.write(12, UPLOAD, b"1")
    assert sorted(storage.sites()) == [3, 12]


def test_renewing_dates_a_file_anew_and_leaves_its_contents(storage: PictureStorage) -> None:
    storage.write(1, NAME, b"1")
    before = storage.written_at(1, NAME)
    storage.renew(1, NAME, b"1")
    after = storage.written_at(1, NAME)
    assert before is not None and after is not None and after >= before
    assert storage.read(1, NAME) == b"1"


def test_a_storage_that_works_passes_its_check(storage: PictureStorage) -> None:
    storage.check()


def test_pictures_are_stored_shown_listed_and_discarded(storage: PictureStorage, tmp_path: Path) -> None:
    store = ImageStore(storage, tmp_path / "locks")
    kept = store.keep(1, drawn("red", (1_200, 600)))
    assert store.keep(1, store.read(1, kept.file)) == kept, "known by its contents"
    assert store.keep(2, store.read(1, kept.file)) == kept, "also at another site"
    [(file, at)] = store.files(1)
    assert file == kept.file
    assert not store.discard(1, file, at - LONG_AGO)
    assert store.discard(1, file, at + LONG_AGO)
    assert list(storage.files(1)) == []


def test_an_upload_waits_and_is_dropped_or_cleared(storage: PictureStorage, tmp_path: Path) -> None:
    store = ImageStore(storage, tmp_path / "locks")
    first, second = (store.receive(1, drawn("red")) for _ in range(2))
    assert store.received(1, first) == drawn("red")
    store.drop(1, first)
    at = storage.written_at(1, second)
    assert at is not None
    store.clear(1, at - 1)
    assert [one.name for one in storage.files(1)] == [second]
    store.clear(1, at + 1)
    assert list(storage.files(1)) == []

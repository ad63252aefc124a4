"""Copies of all pictures from one storage to another."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.catalogue.image_store import ImageStore
from app.domain.catalogue.picture_copy import CopyDiffers, CopyReport, copy_pictures
from app.domain.catalogue.picture_storage import PicturesUnavailable
from tests.domain.catalogue.test_image_store import drawn
from tests.fakes.picture_storage import PicturesInMemory


class FailingAfter(PicturesInMemory):
    """Its storage goes away after some writes."""

    writes_left = 3

    def write(self, site_id: int, name: str, data: bytes) -> None:
        self.writes_left -= 1
        if self.writes_left < 0:
            self.fault = "it does not answer"
        super().write(site_id, name, data)


class Forgetful(PicturesInMemory):
    """What it acknowledges is not what it keeps."""

    def write(self, site_id: int, name: str, data: bytes) -> None:
        super().write(site_id, name, data[:-1])


@pytest.fixture
def source(tmp_path: Path) -> PicturesInMemory:
    """Two sites with a picture each, of three files, one of them with an upload that waits."""
    made = PicturesInMemory()
    store = ImageStore(made, tmp_path / "locks")
    for site_id, colour in ((1, "red"), (2, "blue")):
        store.keep(site_id, drawn(colour))
    store.receive(2, drawn("green"))
    return made


def contents(storage: PicturesInMemory) -> dict[tuple[int, str], bytes]:
    return {key: data for key, (data, _) in storage.stored.items()}


def copy(source: PicturesInMemory, target: PicturesInMemory, is_thorough: bool = False) -> CopyReport:
    return copy_pictures(source, target, lambda _report: None, is_thorough)


def test_all_sites_are_copied_with_the_uploads_that_wait_and_nothing_twice(source: PicturesInMemory) -> None:
    target = PicturesInMemory()
    before = contents(source)
    report = copy(source, target)
    assert (report.copied, report.present, report.damaged) == (7, 0, [])
    assert report.copied_bytes == sum(map(len, before.values()))
    assert contents(target) == before == contents(source)
    again = copy(source, target)
    assert (again.copied, again.present) == (0, 7)


def test_a_copy_that_is_broken_off_goes_on_where_it_was(source: PicturesInMemory) -> None:
    target = FailingAfter()
    with pytest.raises(PicturesUnavailable):
        copy(source, target)
    target.fault, target.writes_left = "", 100
    done = len(target.stored)
    assert 0 < done < 7
    report = copy(source, target)
    assert (report.copied, report.present) == (7 - done, done)
    assert contents(target) == contents(source)


def test_what_is_there_with_another_size_is_copied_anew_with_other_contents_when_it_is_thorough(
    source: PicturesInMemory,
) -> None:
    target = PicturesInMemory()
    copy(source, target)
    shorter, other = sorted(source.stored)[:2]
    target.write(*shorter, b"short")
    target.write(*other, bytes(len(source.stored[other][0])))
    assert copy(source, target).copied == 1
    assert contents(target) != contents(source)
    assert copy(source, target, is_thorough=True).copied == 1
    assert contents(target) == contents(source)


def test_a_picture_that_was_damaged_before_is_named_and_not_spread(source: PicturesInMemory) -> None:
    site_id, name = next((site, name) for site, name in source.stored if name.endswith(".webp") and "-" not in name)
    source.write(site_id, name, b"bits that fell over")
    target = PicturesInMemory()
    report = copy(source, target)
    assert report.damaged == [f"{site_id}/{name}"]
    assert (site_id, name) not in target.stored and report.copied == 6


def test_a_storage_that_keeps_other_bytes_than_it_was_given_ends_the_copy(source: PicturesInMemory) -> None:
    with pytest.raises(CopyDiffers):
        copy(source, Forgetful())

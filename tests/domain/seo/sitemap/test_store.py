"""Sitemaps as files: swapped whole, readable by their owner alone, with nothing left behind."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

import pytest

from app.domain.seo.sitemap.store import STALE_SECONDS, SitemapGeneration, SitemapStore

SITE = 7


@pytest.fixture
def store(tmp_path: Path) -> SitemapStore:
    return SitemapStore(tmp_path / "sitemaps")


def write(store: SitemapStore, **files: bytes) -> SitemapGeneration:
    """Each by another build."""
    return fill(store.start(SITE, str(uuid.uuid4()), 1), **files)


def fill(generation: SitemapGeneration, **files: bytes) -> SitemapGeneration:
    for name, content in (files or {"sitemap": b"<urlset/>"}).items():
        with generation.create(f"{name.replace('_', '-')}.xml") as file:
            file.write(content)
    return generation


def read(store: SitemapStore, name: str = "sitemap.xml") -> bytes | None:
    stored = store.file(SITE, name)
    return stored.path.read_bytes() if stored else None


def folders(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "sitemaps" / str(SITE)).iterdir() if not path.is_symlink()]


def test_nothing_is_there_at_first(store: SitemapStore) -> None:
    assert store.files(SITE) == [] and store.file(SITE, "sitemap.xml") is None


def test_nobody_reads_a_generation_before_it_is_published(store: SitemapStore) -> None:
    write(store, sitemap=b"old").publish()
    generation = write(store, sitemap=b"new")
    assert read(store) == b"old"
    generation.publish()
    assert read(store) == b"new"
    generation.publish()
    assert read(store) == b"new"


def test_files_come_in_the_order_of_their_numbers(store: SitemapStore) -> None:
    write(store, sitemap=b"i", **{f"sitemap_{number}": b"p" for number in (10, 2, 1)}).publish()
    names = ["sitemap.xml", "sitemap-1.xml", "sitemap-2.xml", "sitemap-10.xml"]
    assert [stored.name for stored in store.files(SITE)] == names


@pytest.mark.parametrize(
    "name", ["../8/sitemap.xml", "current", "sitemap-0.xml", "sitemap-01.xml", "x.xml", "sitemap-9.xml"]
)
def test_other_names_are_no_files_of_a_sitemap(store: SitemapStore, name: str) -> None:
    write(store).publish()
    assert store.file(SITE, name) is None


def test_the_same_content_keeps_its_version_and_date(store: SitemapStore) -> None:
    write(store, sitemap=b"same").publish()
    before = store.file(SITE, "sitemap.xml")
    write(store, sitemap=b"same").publish()
    assert store.file(SITE, "sitemap.xml") == before
    write(store, sitemap=b"else").publish()
    assert store.file(SITE, "sitemap.xml") != before


def test_a_part_more_is_another_sitemap(store: SitemapStore) -> None:
    write(store, sitemap=b"i", sitemap_1=b"p").publish()
    write(store, sitemap=b"i", sitemap_1=b"p", sitemap_2=b"q").publish()
    assert len(store.files(SITE)) == 3


def test_what_is_discarded_leaves_nothing(store: SitemapStore, tmp_path: Path) -> None:
    write(store, sitemap=b"live").publish()
    generation = write(store)
    generation.create("sitemap-1.xml").write(b"not closed")
    generation.discard()
    assert len(folders(tmp_path)) == 1 and read(store) == b"live"


def test_a_published_generation_is_not_discarded(store: SitemapStore) -> None:
    generation = write(store, sitemap=b"live")
    generation.publish()
    generation.discard()
    assert read(store) == b"live"


def test_what_dead_builders_left_goes_after_an_hour(store: SitemapStore, tmp_path: Path) -> None:
    write(store, sitemap=b"live").publish()
    write(store)
    write(store)
    assert len(folders(tmp_path)) == 3, "they may still be at work"
    old = time.time() - STALE_SECONDS - 60
    for folder in folders(tmp_path):
        os.utime(folder, (old, old))
    write(store, sitemap=b"next").publish()
    assert len(folders(tmp_path)) == 2 and read(store) == b"next"


def test_what_earlier_attempts_at_a_build_left_goes_with_the_next(store: SitemapStore, tmp_path: Path) -> None:
    write(store, sitemap=b"live").publish()
    write(store)
    fill(store.start(SITE, "a-build", 9))
    fill(store.start(SITE, "a-build", 10), sitemap=b"next").publish()
    assert len(folders(tmp_path)) == 3, "the ones before and of another build stay for an hour"
    fill(store.start(SITE, "a-build", 11))
    assert read(store) == b"next", "the commit of what the tenth attempt published was missing"
    fill(store.start(SITE, "a-build", 12))
    assert len(folders(tmp_path)) == 4 and read(store) == b"next"


def test_an_attempt_that_was_taken_over_removes_nothing_of_its_successor(store: SitemapStore) -> None:
    successor = fill(store.start(SITE, "a-build", 2), sitemap=b"next")
    store.start(SITE, "a-build", 1)
    successor.publish()
    assert read(store) == b"next"


@pytest.mark.parametrize("lost", ["generation", "file"])
def test_what_was_lost_is_published_anew(store: SitemapStore, tmp_path: Path, lost: str) -> None:
    write(store, sitemap=b"live").publish()
    (folder,) = folders(tmp_path)
    (folder / "sitemap.xml").unlink()
    if lost == "generation":
        folder.rmdir()
    assert store.files(SITE) == [] and read(store) is None
    write(store, sitemap=b"live").publish()
    assert read(store) == b"live"


def test_something_else_in_the_place_of_a_sites_folder_is_no_sitemap(store: SitemapStore, tmp_path: Path) -> None:
    (tmp_path / "sitemaps").mkdir()
    (tmp_path / "sitemaps" / str(SITE)).write_text("In the way.")
    assert store.files(SITE) == [] and read(store) is None


def test_a_reader_of_the_generation_before_reads_on(store: SitemapStore, tmp_path: Path) -> None:
    """However old it is: it has an hour from the moment when it was replaced."""
    write(store, sitemap=b"old").publish()
    (folder,) = folders(tmp_path)
    months_ago = time.time() - 5_000_000
    os.utime(folder, (months_ago, months_ago))
    stored = store.file(SITE, "sitemap.xml")
    write(store, sitemap=b"new").publish()
    write(store, sitemap=b"next")
    assert stored is not None and stored.path.read_bytes() == b"old"
    an_hour_ago = time.time() - STALE_SECONDS - 60
    os.utime(folder, (an_hour_ago, an_hour_ago))
    write(store, sitemap=b"next")
    assert not folder.exists()


def test_the_files_are_their_owners_alone(store: SitemapStore, tmp_path: Path) -> None:
    write(store).publish()
    for folder in folders(tmp_path):
        assert folder.stat().st_mode & 0o077 == 0

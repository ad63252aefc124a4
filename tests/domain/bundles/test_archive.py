"""Archives that mean harm."""

from __future__ import annotations

import io
import os
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from app.domain.bundles.archive import (
    LARGEST_DIRECTORY,
    LARGEST_PICTURE_DIRECTORY,
    MOST_FILES,
    MOST_PICTURES,
    Bundle,
    open_bundle,
    open_pictures,
)
from app.domain.bundles.reading import read_bytes
from app.domain.bundles.report import BrokenBundle

ROW = b'{"sku": "a"}\n'


def archive(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members:
            made.writestr(name, content)
    return path


def names(path: Path) -> list[str]:
    with open_bundle(path) as bundle:
        return bundle.files


def test_a_zip_of_the_folder_and_of_its_contents_read_the_same(tmp_path: Path):
    inner = archive(tmp_path / "inner.zip", ("products.jsonl", ROW), ("media/a.jpg", b"x"))
    outer = archive(tmp_path / "outer.zip", ("shop/products.jsonl", ROW), ("shop/media/a.jpg", b"x"))
    assert names(inner) == names(outer) == ["media/a.jpg", "products.jsonl"]


def test_what_computers_leave_in_archives_is_passed_over(tmp_path: Path):
    path = archive(tmp_path / "a.zip", ("s/site.json", b"{}"), ("__MACOSX/s/site.json", b""), ("s/.DS_Store", b""))
    assert names(path) == ["site.json"]


@pytest.mark.parametrize(
    "name",
    [
        "../products.jsonl",
        "media/../../products.jsonl",
        "/etc/products.jsonl",
        "C:\\products.jsonl",
        "c:/products.jsonl",
        "media\\a.jpg",
        "..\\products.jsonl",
        "a/../products.jsonl",
        "products.jsonl:stream",
    ],
)
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str):
    with pytest.raises(BrokenBundle, match="leads out"):
        names(archive(tmp_path / "a.zip", (name, ROW)))


def test_a_name_with_nul_is_refused(tmp_path: Path):
    path = archive(tmp_path / "a.zip", ("products.jsonlXevil", ROW))
    path.write_bytes(path.read_bytes().replace(b"products.jsonlX", b"products.jsonl\x00"))
    with pytest.raises(BrokenBundle):
        names(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int):
    member = zipfile.ZipInfo("products.jsonl")
    member.external_attr = (kind | 0o777) << 16
    with pytest.raises(BrokenBundle, match="plain files"):
        names(archive(tmp_path / "a.zip", (member, b"/etc/passwd")))


def test_a_file_twice_is_refused(tmp_path: Path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = archive(tmp_path / "a.zip", ("site.json", b"{}"), ("site.json", b'{"name": "other"}'))
    with pytest.raises(BrokenBundle, match="twice"):
        names(path)


def test_an_archive_that_swells_without_measure_is_refused(tmp_path: Path):
    with pytest.raises(BrokenBundle, match="unpacks to over"):
        names(archive(tmp_path / "a.zip", ("products.jsonl", b"\0" * (64 * 1024**2))))


def listing(path: Path, copies: int, name: str = "site.json", claimed: int = 0xFFFE) -> Path:
    """An archive whose list has `copies` of one file, and claims another number of them."""
    raw = archive(path, (name, b"{}")).read_bytes()
    start = raw.rindex(b"PK\x01\x02")
    end = raw.rindex(b"PK\x05\x06")
    entry = raw[start:end]
    numbers = struct.pack("<HHIIH", claimed, claimed, len(entry) * copies, start, 0)
    path.write_bytes(raw[:start] + entry * copies + raw[end : end + 8] + numbers)
    return path


def test_an_archive_of_countless_files_is_refused_before_its_list_is_read(tmp_path: Path):
    with pytest.raises(BrokenBundle, match="list of files is too long"):
        names(listing(tmp_path / "a.zip", LARGEST_DIRECTORY // 55 + 1))


@pytest.mark.parametrize(("opened", "most"), [(open_bundle, MOST_FILES), (open_pictures, MOST_PICTURES)])
def test_an_archive_of_too_many_files_is_refused_before_each_takes_memory(
    tmp_path: Path, opened: Callable[[Path, str], AbstractContextManager[Bundle]], most: int
):
    path = listing(tmp_path / "a.zip", most + 1, "a", claimed=1)
    tracemalloc.start()
    try:
        with pytest.raises(BrokenBundle, match=f"it has more than {most:,} files"), opened(path, "a.zip"):
            pass
        assert tracemalloc.get_traced_memory()[1] < 2 * path.stat().st_size
    finally:
        tracemalloc.stop()
    with pytest.raises(BrokenBundle, match="twice"), opened(listing(tmp_path / "b.zip", most, "a"), "b.zip"):
        pass


def test_the_list_of_an_archive_of_pictures_is_shorter_than_that_of_a_bundle(tmp_path: Path):
    path = listing(tmp_path / "a.zip", LARGEST_PICTURE_DIRECTORY // 245 + 1, "a" * 200)
    with pytest.raises(BrokenBundle, match="list of files is too long"), open_pictures(path, "a.zip"):
        pass


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_the_usual_method_of_packing_is_read(tmp_path: Path, method: int):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as made:
        made.writestr("products.jsonl", ROW)
    with pytest.raises(BrokenBundle, match="Deflate"):
        names(path)


def test_members_that_overlap_are_refused(tmp_path: Path):
    """The quoted-overlap bomb: many entries of the directory that point at the same bytes."""
    path = archive(tmp_path / "a.zip", ("media/0", os.urandom(200_000)))
    with zipfile.ZipFile(path, "a") as made:
        first = made.infolist()[0]
        for number in range(1, 50):
            copy = zipfile.ZipInfo(f"media/{number}")
            for part in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(copy, part, getattr(first, part))
            made.filelist.append(copy)
        made._didModify = True
    with pytest.raises(BrokenBundle, match="overlap"):
        names(path)


@pytest.mark.parametrize("raw", [b"", b"not a zip", b"PK\x03\x04" + b"\0" * 40, b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive_is_said_to_be_none(tmp_path: Path, raw: bytes):
    path = tmp_path / "a.zip"
    path.write_bytes(raw)
    with pytest.raises(BrokenBundle, match=r"a\.zip"):
        names(path)


def test_an_encrypted_member_is_refused(tmp_path: Path):
    path = archive(tmp_path / "a.zip", ("site.json", b"{}"))
    raw = bytearray(path.read_bytes())
    raw[raw.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(BrokenBundle, match="encrypted"):
        names(path)


def test_links_in_a_folder_are_refused(tmp_path: Path):
    (tmp_path / "products.jsonl").symlink_to("/etc/passwd")
    with pytest.raises(BrokenBundle, match="no links"):
        names(tmp_path)


def test_links_among_the_pictures_are_refused(tmp_path: Path):
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a.jpg").symlink_to("/etc/passwd")
    with pytest.raises(BrokenBundle, match="plain files"):
        names(tmp_path)


def test_a_folder_in_the_folder_is_refused(tmp_path: Path):
    (tmp_path / "more").mkdir()
    with pytest.raises(BrokenBundle, match="plain files"):
        names(tmp_path)


def test_a_file_plain_and_gzipped_is_refused(tmp_path: Path):
    (tmp_path / "site.json").write_text("{}")
    (tmp_path / "site.json.gz").write_bytes(b"")
    with open_bundle(tmp_path) as bundle, pytest.raises(BrokenBundle, match="both"):
        bundle.find("site.json")


def test_nothing_there_is_said(tmp_path: Path):
    with pytest.raises(BrokenBundle, match="no such"):
        names(tmp_path / "gone")


def test_a_damaged_member_is_found_when_it_is_read(tmp_path: Path):
    path = archive(tmp_path / "a.zip", ("site.json", os.urandom(5_000)))
    raw = bytearray(path.read_bytes())
    raw[2_000] ^= 0xFF
    path.write_bytes(raw)
    with open_bundle(path) as bundle, pytest.raises((zipfile.BadZipFile, io.UnsupportedOperation)):
        bundle.open("site.json").read()


def test_a_member_whose_second_name_is_damaged_is_found_when_it_is_read(tmp_path: Path):
    path = archive(tmp_path / "shop.zip", ("media/é.webp", b"x"))
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff", 1))
    with open_bundle(path) as bundle, pytest.raises(BrokenBundle, match="cannot be read"):
        read_bytes(bundle, "media/é.webp", 1)

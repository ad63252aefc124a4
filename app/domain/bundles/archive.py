"""A bundle's files, from a folder or a .zip of it, read as streams and never unpacked onto the disk.

An archive comes from outside: names that leave it, links, encrypted, doubled or overlapping members and contents that
unpack to far more than their packed size are refused before anything is written.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, cast

from app.domain.bundles.report import BrokenBundle

MOST_FILES = 200_000
LARGEST_DIRECTORY = 24 * 1024**2  # Bytes of an archive's list of its files, which is read as a whole.
LARGEST_ARCHIVE = 8 * 1024**3  # Bytes of all members, inflated.
MOST_SWELLING = 200  # Times its packed size that a file may have, …
SMALL_ANYWAY = 16 * 1024**2  # … unless it is no larger than this.
MEDIA = "media/"
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # LZMA, for one, may demand gigabytes of memory for a small file.
CLUTTER = ("__MACOSX", ".DS_Store", "Thumbs.db")

Opener = Callable[[], BinaryIO]


class Bundle:
    """An open bundle. `files` are the names within the bundle, such as `products.jsonl.gz` and `media/kettle.jpg`."""

    def __init__(self, openers: Mapping[str, tuple[Opener, int]]) -> None:
        self._openers = openers
        self.files = sorted(openers)

    def open(self, name: str) -> BinaryIO:
        return self._openers[name][0]()

    def packed_size(self, name: str) -> int:
        """Return the size of the file in bytes as it is stored, compressed or not."""
        return self._openers[name][1]

    def __contains__(self, name: str) -> bool:
        return name in self._openers

    def find(self, name: str) -> str | None:
        """Return the name of the file as it is in the bundle, plain or gzipped; None where it is not there. Raises
        BrokenBundle when both are."""
        found = [form for form in (name, f"{name}.gz") if form in self._openers]
        if len(found) > 1:
            raise BrokenBundle.at(name, f"The bundle has both {found[0]} and {found[1]}.")
        return found[0] if found else None


@contextmanager
def open_bundle(path: Path, name: str | None = None) -> Iterator[Bundle]:
    """Open a bundle. `name` is what people call the file, where it lies under another. Raises BrokenBundle for what is
    not a readable bundle."""
    name = name or path.name
    if path.is_dir():
        yield Bundle(_folder_files(path))
    elif path.is_file():
        with _zip(path, name) as archive:
            yield Bundle(_zip_files(archive, name, path.stat().st_size))
    else:
        raise BrokenBundle.at(str(path), "There is no such folder or .zip file.")


def _folder_files(folder: Path) -> dict[str, tuple[Opener, int]]:
    found: dict[str, tuple[Opener, int]] = {}
    for entry in _entries(folder):
        if entry.is_symlink():
            raise BrokenBundle.at(entry.name, "A bundle holds no links.")
        if entry.is_dir() and f"{entry.name}/" == MEDIA:
            for picture in _entries(Path(entry.path)):
                found[f"{MEDIA}{picture.name}"] = _plain_file(picture)
        elif not _is_clutter(entry.name):
            found[entry.name] = _plain_file(entry)
        if len(found) > MOST_FILES:
            raise BrokenBundle.at(folder.name, f"A bundle has at most {MOST_FILES:,} files.")
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise BrokenBundle.at(folder.name, f"The folder cannot be read: {error.strerror}.") from error


def _plain_file(entry: os.DirEntry[str]) -> tuple[Opener, int]:
    if not entry.is_file(follow_symlinks=False):
        raise BrokenBundle.at(entry.name, "A bundle holds plain files, and pictures in media/, nothing else.")
    path = entry.path
    return (lambda: open(path, "rb")), entry.stat().st_size


class _ArchiveFile(io.FileIO):
    """An archive that refuses to be read in pieces over LARGEST_DIRECTORY: zipfile reads the list of files in one
    piece, however long it claims to be. Raises ValueError."""

    def read(self, size: int | None = -1, /) -> bytes:
        most = os.fstat(self.fileno()).st_size - self.tell() if size is None or size < 0 else size
        if most > LARGEST_DIRECTORY:
            raise ValueError("its list of files is too long")
        return super().read(most) or b""


@contextmanager
def _zip(path: Path, name: str) -> Iterator[zipfile.ZipFile]:
    with ExitStack() as opened:
        try:
            file = opened.enter_context(_ArchiveFile(path))
            archive = opened.enter_context(zipfile.ZipFile(cast(IO[bytes], file)))
        except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError, UnicodeDecodeError) as error:
            raise BrokenBundle.at(name, f"This is not a readable .zip file: {str(error).rstrip('.')}.") from error
        yield archive


def _zip_files(archive: zipfile.ZipFile, file: str, size: int) -> dict[str, tuple[Opener, int]]:
    members = archive.infolist()
    _check_sizes(members, file, size)
    for member in members:
        _check_member(member)
    members = [member for member in members if not member.is_dir() and not _is_clutter(member.filename)]
    prefix = _common_folder(members)
    found: dict[str, tuple[Opener, int]] = {}
    for member in members:
        name = member.filename.removeprefix(prefix)
        if name in found:
            raise BrokenBundle.at(name, "The archive holds this file twice.")
        found[name] = (partial(_open_member, archive, member), max(member.compress_size, 1))
    return found


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> BinaryIO:
    return cast(BinaryIO, archive.open(member))


def _check_sizes(members: list[zipfile.ZipInfo], file: str, size: int) -> None:
    if len(members) > MOST_FILES:
        raise BrokenBundle.at(file, f"A bundle has at most {MOST_FILES:,} files; this archive has {len(members):,}.")
    if sum(member.compress_size for member in members) > size:
        raise BrokenBundle.at(file, "Files in the archive overlap.")
    if sum(member.file_size for member in members) > LARGEST_ARCHIVE:
        raise BrokenBundle.at(file, f"Unpacked, the archive takes more than {LARGEST_ARCHIVE // 1024**3} GB.")
    for member in members:
        if member.file_size > max(SMALL_ANYWAY, member.compress_size * MOST_SWELLING):
            raise BrokenBundle.at(member.filename, f"The file unpacks to over {MOST_SWELLING} times its packed size.")


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.orig_filename
    parts = PurePosixPath(name).parts
    if "\0" in name or "\\" in name or ":" in name or name.startswith("/") or ".." in parts:
        raise BrokenBundle.at(member.filename, "The name of this file leads out of the archive.")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise BrokenBundle.at(member.filename, "A bundle holds plain files only, no links.")
    if member.flag_bits & 0x1:
        raise BrokenBundle.at(member.filename, "The file is encrypted.")
    if member.compress_type not in PACKED:
        raise BrokenBundle.at(member.filename, "The file is not compressed with Deflate.")


def _common_folder(members: list[zipfile.ZipInfo]) -> str:
    """Return the folder in which all members lie, other than media/, with a slash; "" where there is none."""
    folders = {member.filename.partition("/")[0] for member in members}
    if len(folders) == 1 and all("/" in member.filename for member in members):
        folder = f"{folders.pop()}/"
        return "" if folder == MEDIA else folder
    return ""


def _is_clutter(name: str) -> bool:
    return any(part in CLUTTER for part in name.split("/"))

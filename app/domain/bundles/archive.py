"""Bundles on the disk: a folder or a .zip of files read as streams and never unpacked, or written; and the folder in
which uploaded and exported ones lie, for a day.

An archive comes from outside: names that leave it, links, encrypted, doubled or overlapping members and contents that
unpack to far more than their packed size are refused before anything is written.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import IO, Any, BinaryIO, Protocol, cast

from app.domain.bundles.report import BrokenBundle
from app.domain.seo.landing.rules import OVERRIDE, RULE
from app.domain.shared.problems import Conflict, Invalid, NotFound

MOST_FILES = 200_000
MOST_PICTURES = 50_000  # Of the archive beside a table, which a web server reads the list of.
LARGEST_DIRECTORY = 24 * 1024**2  # Bytes of an archive's list of its files, which is read as a whole.
LARGEST_PICTURE_DIRECTORY = 8 * 1024**2  # Bytes of the same for the archive beside a table.
ENTRY = b"PK\x01\x02"  # With this each file in the list begins.
LARGEST_ARCHIVE = 8 * 1024**3  # Bytes of all members, inflated.
LARGEST_RATIO = 200  # Times its packed size that a file may have, …
EXEMPT_SIZE = 16 * 1024**2  # … unless it has no more bytes than this.
MEDIA = "media/"
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # LZMA, for one, may demand gigabytes of memory for a small file.
CLUTTER = ("__MACOSX", ".DS_Store", "Thumbs.db")
SAME_TIME = (1980, 1, 1, 0, 0, 0)  # Of each file in an export: the same shop gives the same bytes.
LARGEST_UPLOAD = 512 * 1024**2  # Bytes; larger files are imported by the command.
CHUNK = 1024**2  # Bytes of an upload that are read at once.
FILE = re.compile(r"[0-9a-f]{32}[.](?:zip|csv)", re.ASCII)
GONE = "This file has expired. Files are kept for one day."
# A database may keep the fields of an object in any order; people read them in this one.
FIELD_ORDER = (
    *("levelId", "attributeId", "facetId", "name", "otherNames", "display", "label", "type", "unit", "description"),
    *("helpText", "parentLevelId", *RULE.fields, *OVERRIDE.fields),
    *("displayOnProductPage", "displayLabel", "displayOrder", "allowedValues", "validation"),
    *("mandatory", "minLength", "maxLength", "minValue", "maxValue", "pattern", "errorMessage", "swatches"),
    *("attributes", "children"),
)
PLACES = {name: place for place, name in enumerate(dict.fromkeys(FIELD_ORDER))}

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

    def picture(self, name: str) -> str | None:
        """Return the file of the picture that a record names; None where it is not there. Raises Invalid for a name
        that several have."""
        file = f"{MEDIA}{name.removeprefix(MEDIA)}"
        return file if file in self else None

    def describe_missing(self, name: str) -> str:
        """Return what people read where a picture is not there."""
        return f"The bundle has no file {MEDIA}{name.removeprefix(MEDIA)[:120]}."

    def unnamed_pictures(self) -> Sequence[str]:
        """Return the pictures that were sent for records and that none has named so far."""
        return ()


@contextmanager
def open_bundle(path: Path, name: str | None = None) -> Iterator[Bundle]:
    """Open a bundle. `name` is what people call the file, where it lies under another. Raises BrokenBundle for what is
    not a readable bundle."""
    if path.is_dir():
        yield Bundle(_folder_files(path))
    elif path.is_file():
        with _open_archive(path, name or path.name, MOST_FILES, LARGEST_DIRECTORY) as bundle:
            yield bundle
    else:
        raise BrokenBundle.at(str(path), "There is no such folder or .zip file.")


@contextmanager
def open_pictures(path: Path, name: str) -> Iterator[Bundle]:
    """Open the archive of pictures beside a table; `name` as in open_bundle. Raises BrokenBundle."""
    with _open_archive(path, name, MOST_PICTURES, LARGEST_PICTURE_DIRECTORY) as bundle:
        yield bundle


def check_pictures(path: Path, name: str) -> None:
    """Check that a file is an archive of pictures that may be read, by the list of its files. Raises BrokenBundle."""
    with open_pictures(path, name):
        pass


@contextmanager
def _open_archive(path: Path, name: str, most_files: int, largest_directory: int) -> Iterator[Bundle]:
    with _open_zip(path, name, most_files, largest_directory) as archive:
        yield Bundle(_zip_files(archive, name, path.stat().st_size))


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
    """An archive that refuses to be read in pieces over `largest`: zipfile reads the list of files in one piece,
    however long it claims to be. A list of more than `most_files` is refused before zipfile makes an object of each;
    what the archive itself says of their number is not believed. None stands for any number. Raises ValueError."""

    def __init__(self, path: Path, most_files: int, largest: int) -> None:
        super().__init__(path)
        self.most_files: int | None = most_files
        self._largest = largest

    def read(self, size: int | None = -1, /) -> bytes:
        most = os.fstat(self.fileno()).st_size - self.tell() if size is None or size < 0 else size
        if most > self._largest:
            raise ValueError("its list of files is too long")
        piece = super().read(most) or b""
        if self.most_files is not None and piece.count(ENTRY) > self.most_files:
            raise ValueError(f"it has more than {self.most_files:,} files")
        return piece


@contextmanager
def _open_zip(path: Path, name: str, most_files: int, largest_directory: int) -> Iterator[zipfile.ZipFile]:
    with ExitStack() as opened:
        try:
            file = opened.enter_context(_ArchiveFile(path, most_files, largest_directory))
            archive = opened.enter_context(zipfile.ZipFile(cast(IO[bytes], file)))
            file.most_files = None  # What is read from now on are the files themselves.
        except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError, UnicodeDecodeError) as error:
            raise BrokenBundle.at(name, f"This is not a readable .zip file{_reason_of(error)}.") from error
        yield archive


def _reason_of(error: Exception) -> str:
    """Return the reason that _ArchiveFile gave; those of libraries say nothing to people."""
    return f": {error}" if type(error) is ValueError else ""


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
        found[name] = (cast(Opener, partial(archive.open, member)), max(member.compress_size, 1))
    return found


def _check_sizes(members: list[zipfile.ZipInfo], file: str, size: int) -> None:
    if sum(member.compress_size for member in members) > size:
        raise BrokenBundle.at(file, "Files in the archive overlap.")
    if sum(member.file_size for member in members) > LARGEST_ARCHIVE:
        raise BrokenBundle.at(file, f"Unpacked, the archive takes more than {LARGEST_ARCHIVE // 1024**3} GB.")
    for member in members:
        if member.file_size > max(EXEMPT_SIZE, member.compress_size * LARGEST_RATIO):
            raise BrokenBundle.at(member.filename, f"The file unpacks to over {LARGEST_RATIO} times its packed size.")


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


class BundleTarget(Protocol):
    def open(self, name: str) -> IO[bytes]:
        """Open a new file of the bundle for writing."""
        ...


@contextmanager
def open_target(path: Path) -> Iterator[BundleTarget]:
    """Open the target of an export. Raises Conflict when there is something that would be overwritten."""
    try:
        if path.suffix == ".zip":
            with _write_zip(path) as target:
                yield target
        else:
            yield _write_folder(path)
    except OSError as error:
        raise Conflict(f"{error.filename or path} cannot be written: {error.strerror}.") from error


class _FolderTarget:
    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self, name: str) -> IO[bytes]:
        file = self._path / name
        file.parent.mkdir(exist_ok=True)
        return file.open("wb")


def _write_folder(path: Path) -> BundleTarget:
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise Conflict(f"{path} is there already and not an empty folder.")
    path.mkdir(parents=True, exist_ok=True)
    return _FolderTarget(path)


class _ZipTarget:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def open(self, name: str) -> IO[bytes]:
        member = zipfile.ZipInfo(name, SAME_TIME)
        member.compress_type = zipfile.ZIP_STORED if name.endswith(".webp") else zipfile.ZIP_DEFLATED
        member.external_attr = 0o100644 << 16
        return self._archive.open(member, "w", force_zip64=True)


@contextmanager
def _write_zip(path: Path) -> Iterator[BundleTarget]:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(fresh, "w") as archive:
            yield _ZipTarget(archive)
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


def write_document(target: BundleTarget, name: str, content: Any) -> None:
    with target.open(name) as file:
        file.write(json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n")


def order_fields(value: Any) -> Any:
    """Return a stored value with the fields of its objects in FIELD_ORDER."""
    if isinstance(value, list):
        return [order_fields(item) for item in value]
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: (PLACES.get(name, len(PLACES)), name))
        return {name: order_fields(value[name]) for name in names}
    return value


def write_rows(target: BundleTarget, name: str, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows to a file of the target, a line of JSON each, and return their number."""
    count = 0
    with target.open(name) as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            count += 1
    return count


class BundleFolder:
    """The folder of bundles that were uploaded, or exported to be downloaded. Their names are the shop's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new_name(self, kind: str = "zip") -> str:
        return f"{token_hex(16)}.{kind}"

    def pictures_of(self, table: str) -> str:
        """Return the name of the archive of pictures that a table may have beside it."""
        return f"{table.partition('.')[0]}.zip"

    def path(self, name: str) -> Path:
        """Return the path of a file that exists or will. Raises NotFound for a name that `new_name` does not make."""
        if not FILE.fullmatch(name):
            raise NotFound(GONE)
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / name

    def existing(self, name: str | None) -> Path:
        """Return the path of a file that exists. Raises NotFound."""
        path = self.path(name or "")
        if not path.is_file():
            raise NotFound(GONE)
        return path

    def receive(
        self, stream: IO[bytes], kind: str = "zip", most_lines: int | None = None, beside: str | None = None
    ) -> str:
        """Store an upload and return its name; with `beside` as the pictures of that table. Raises Invalid for an empty
        or a too large one, and one of more lines than `most_lines`, which are counted before anything reads them."""
        name = self.pictures_of(beside) if beside else self.new_name(kind)
        path, size, lines = self.path(name), 0, 0
        try:
            with path.open("xb") as out:
                while chunk := stream.read(CHUNK):
                    size += len(chunk)
                    if size > LARGEST_UPLOAD:
                        raise Invalid.one("too_large", f"A file has at most {LARGEST_UPLOAD // CHUNK} MB.", "#/bundle")
                    if most_lines is not None and (lines := lines + chunk.count(b"\n")) > most_lines:
                        message = f"A table has at most {most_lines:,} lines, blank ones included. Import it in parts."
                        raise Invalid.one("too_many_lines", message, "#/bundle")
                    out.write(chunk)
            if not size:
                raise Invalid.one("required", "The file is empty.", "#/bundle")
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return name

    @contextmanager
    def received(self, stream: IO[bytes], kind: str = "zip", most_lines: int | None = None) -> Iterator[str]:
        """Store an upload and yield its name for a request in the block; it is removed where the block raises anything,
        since no run is stored then, save where the database went away in the moment of the commit. Raises Invalid."""
        name = self.receive(stream, kind, most_lines)
        try:
            yield name
        except BaseException:
            self.drop(name)
            raise

    def drop(self, name: str) -> None:
        """Remove a file; of a table also its pictures."""
        for one in {name, self.pictures_of(name)}:
            self.path(one).unlink(missing_ok=True)

    def sweep(self, kept: Collection[str], ended: Collection[str], written_before: float) -> int:
        """Remove the files that are not in `kept` and are either in `ended` or were written before a moment (seconds
        since 1970), and return their number. The pictures of a table stay and go with it."""
        if not self._folder.is_dir():
            return 0
        kept, ended = ({*names, *map(self.pictures_of, names)} for names in (kept, ended))
        old = [
            entry.path
            for entry in os.scandir(self._folder)
            if entry.name not in kept
            and entry.is_file()
            and (entry.name in ended or entry.stat().st_mtime < written_before)
        ]
        for path in old:
            Path(path).unlink(missing_ok=True)
        return len(old)

"""The generations of an index on disk: their folder, the locks by which processes share them, and their commits.

    <directory>/<site>/<index>/gen-7-1f0c…/       a complete generation; one in the making ends in .tmp
                               current            a symbolic link to the live one, replaced in one step
                               pins/gen-7-1f0c…   held shared by every process that reads the generation
                               publish.lock       held while changes are applied or a generation is swapped in

All locks are flock: the kernel frees them when their process dies.

The table of contents of a generation says which segments are live and which of their documents are deleted. Whoosh
writes its table without a single fsync and keeps no checksums. Here a commit is durable before it is visible: the
manifest with the checksums of the old and the new commit comes first, then the table, each written aside, fsynced and
renamed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import pickle
import re
import secrets
import shutil
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog
from whoosh.codec.whoosh3 import W3Segment
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import BufferFile
from whoosh.index import TOC

from app.adapters.whoosh.files import index_schema
from app.adapters.whoosh.segment import INDEX_NAME, segment_name
from app.domain.search.engine import SearchUnavailable
from app.domain.shared.durable_files import fsync_path

_NAME = re.compile(r"gen-(\d+)-[0-9a-f]+(\.tmp)?")

# Broken, vanishing or unreadable files make their readers, Whoosh's and numpy's among them, raise nearly anything.
UNREADABLE = (
    OSError, ValueError, LookupError, EOFError, AttributeError, ImportError, TypeError, ArithmeticError,
    AssertionError, MemoryError, struct.error, zlib.error, pickle.UnpicklingError,
)  # fmt: skip
CANNOT_BE_READ = "Search does not answer: its index cannot be read. Rebuild to fix it."
_MARK = "damaged"

MANIFEST = "manifest.json"
_TABLE = re.compile(rf"_{INDEX_NAME}_(\d+)\.toc")
_UNFINISHED = re.compile(rf"_{INDEX_NAME}_\d+\.toc\..+")
_SCHEMA = index_schema()

log = structlog.get_logger()


class IndexFolder:
    """The folder of one index of one site."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._current = str(directory / "current")

    def create(self) -> None:
        """Create the folders durably: a rebuild that is done must not be lost with the folder of its index."""
        for folder in (self.directory.parent.parent, self.directory.parent, self.directory, self.directory / "pins"):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                fsync_path(folder.parent)

    def current(self) -> str:
        """Return the name of the live generation. Raises FileNotFoundError where there is none."""
        return os.path.basename(os.readlink(self._current))

    def size(self) -> int | None:
        """Return the bytes of the live generation; None where there is none, or it is removed meanwhile."""
        try:
            with os.scandir(self.directory / self.current()) as entries:
                return sum(entry.stat().st_size for entry in entries if entry.is_file())
        except OSError:
            return None

    def is_live(self, generation: str) -> bool:
        """Return whether the link leads to a generation. It is read each time: a swap that was interrupted may have
        happened all the same."""
        try:
            return self.current() == generation
        except FileNotFoundError:
            return False
        except OSError:
            return True  # A link that cannot be read may lead there; if not, the next build removes the generation.

    def next_generation(self) -> str:
        """Return a name that is never used again, not even after the folder was lost: readers tell states apart by
        it."""
        return f"gen-{max(self._numbers(), default=0) + 1}-{secrets.token_hex(4)}"

    def _numbers(self) -> list[int]:
        names = os.listdir(self.directory) + os.listdir(self.directory / "pins")
        return [int(found[1]) for name in names if (found := _NAME.fullmatch(name))]

    def publish(self, generation: str) -> None:
        """Point `current` at a generation, atomically and durably. Raises FileNotFoundError for a pruned one."""
        os.stat(self.directory / generation)
        aside = self.directory / "current.new"
        aside.unlink(missing_ok=True)
        aside.symlink_to(generation)
        os.replace(aside, self._current)
        fsync_path(self.directory)

    @contextmanager
    def reverting(self) -> Iterator[None]:
        """Publish the generation that is live now again where the block raises. Called within the publish lock. Where
        no readable one is live, what the block published stays."""
        try:
            before = self.current()
            pin = self.pin(before)  # Or it would be pruned by what takes its place.
        except OSError:
            yield
            return
        try:
            yield
        except BaseException:
            if not self.is_live(before):
                self.publish(before)
            raise
        finally:
            pin.release()
            with suppress(OSError):  # The next build clears up.
                self.prune()

    @contextmanager
    def publish_lock(self) -> Iterator[None]:
        self.create()
        lock = _lock_file(self.directory / "publish.lock", fcntl.LOCK_EX)
        try:
            yield
        finally:
            lock.release()

    def pin(self, generation: str) -> HeldLock:
        """Keep a generation from being pruned. Raises FileNotFoundError when that has happened already."""
        path = self.directory / "pins" / generation
        lock = _try_lock(path, fcntl.LOCK_SH)
        if lock is None or not path.exists() or not (self.directory / generation).is_dir():
            raise FileNotFoundError(f"{generation} is being removed")
        return lock

    def make_pin(self, generation: str) -> None:
        pins = self.directory / "pins"
        (pins / generation).touch(mode=0o600)
        fsync_path(pins)

    def prune(self) -> None:
        """Remove what other builders left or still make, and every generation that is neither live nor being read.
        Called within the publish lock, so that no generation is removed while it becomes the live one."""
        live = self.current() if os.path.islink(self._current) else None
        for name in {*os.listdir(self.directory), *self._orphaned_pins()}:
            found = _NAME.fullmatch(name)
            if found and name != live:
                self._remove(name)

    def _orphaned_pins(self) -> list[str]:
        """Return the pins whose generation is gone, but for the latest, which keeps the count of the generations."""
        latest = max(self._numbers(), default=0)
        orphans = [name for name in os.listdir(self.directory / "pins") if not (self.directory / name).is_dir()]
        return [name for name in orphans if (found := _NAME.fullmatch(name)) and int(found[1]) < latest]

    def _remove(self, name: str) -> None:
        pin = self.directory / "pins" / name
        lock = _try_lock(pin, fcntl.LOCK_EX) if pin.exists() else None
        if pin.exists() and lock is None:
            return
        shutil.rmtree(self.directory / name, ignore_errors=True)
        pin.unlink(missing_ok=True)
        if lock is not None:
            lock.release()


class HeldLock:
    """A flock that is held until released, or until the process dies."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    __del__ = release


def _lock_file(path: Path, mode: int) -> HeldLock:
    """Wait for a lock of a file, which is made where it is missing."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, mode)
    return HeldLock(descriptor)


def _try_lock(path: Path, mode: int) -> HeldLock | None:
    """Return a lock of an existing file, None where it is held. A shared one works on a disk that is mounted read-only,
    too."""
    descriptor = os.open(path, os.O_CLOEXEC | (os.O_RDONLY if mode == fcntl.LOCK_SH else os.O_RDWR))
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return HeldLock(descriptor)


@dataclass(frozen=True, slots=True)
class Commit:
    """One state of a generation: its segments, which know their deleted documents."""

    number: int
    segments: tuple[W3Segment, ...]

    @property
    def documents(self) -> int:
        return sum(segment.doc_count_all() - segment.deleted_count() for segment in self.segments)

    @property
    def file_names(self) -> list[str]:
        """The names of the files whose checksums the manifest has."""
        return [table_name(self.number), *map(segment_name, self.segments)]


def table_name(number: int) -> str:
    return f"_{INDEX_NAME}_{number}.toc"


def is_latest(directory: str, number: int) -> bool:
    """Return whether a commit is there and no later one, by two calls of the file system that raise no error."""
    prefix = f"{directory}/_{INDEX_NAME}_"
    return not os.access(f"{prefix}{number + 1}.toc", os.F_OK) and os.access(f"{prefix}{number}.toc", os.F_OK)


def read_commit(directory: Path) -> Commit:
    """Return the latest commit of a generation. Raises what broken or vanishing files raise; ValueError for one that
    does not match the manifest, before it is unpickled."""
    numbers = [int(found[1]) for name in os.listdir(directory) if (found := _TABLE.fullmatch(name))]
    if not numbers:
        raise FileNotFoundError(f"{directory} holds no table of contents")
    number = max(numbers)
    content = (directory / table_name(number)).read_bytes()
    if hashlib.sha256(content).hexdigest() != read_manifest(directory).get(table_name(number)):
        raise ValueError(f"{table_name(number)} does not match the manifest")
    table = TOC.read(_LoadedStorage(content), INDEX_NAME, gen=number, schema=_SCHEMA)
    return Commit(number, tuple(table.segments))


class _LoadedStorage:
    """The storage of a table that is in memory."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def open_file(self, name: str) -> BufferFile:
        return BufferFile(self._content, name=name)


def write_commit(directory: Path, before: Commit, segments: Sequence[W3Segment]) -> None:
    """Make the segments the content of the generation, in the commit after `before`. The files of that one are removed
    a commit later, so that a reader in the middle of opening still finds them."""
    commit = Commit(before.number + 1, tuple(segments))
    TOC(_SCHEMA, list(segments), commit.number).write(_DurableStorage(directory, segments), INDEX_NAME)
    _remove_other_files(directory, (before, commit))


class _DurableStorage:
    """The storage through which Whoosh's table writes itself: Whoosh makes it aside and renames it, here durably and
    after the manifest was written."""

    def __init__(self, directory: Path, segments: Sequence[W3Segment]) -> None:
        self._directory = directory
        self._segments = segments
        self.create_file = FileStorage(str(directory)).create_file

    def rename_file(self, oldname: str, newname: str, safe: bool = False) -> None:
        aside = self._directory / oldname
        fsync_path(aside)
        _write_manifest(self._directory, newname, digest_of(aside), self._segments)
        fsync_path(self._directory)
        os.replace(aside, self._directory / newname)
        fsync_path(self._directory)


def _write_manifest(directory: Path, table: str, table_digest: str, segments: Sequence[W3Segment]) -> None:
    there = set(os.listdir(directory))
    previous = {name: digest for name, digest in read_manifest(directory).items() if name in there}
    digests = {name: previous.get(name) or digest_of(directory / name) for name in map(segment_name, segments)}
    _write_durably(directory / MANIFEST, json.dumps({**previous, **digests, table: table_digest}, indent=1).encode())


def read_manifest(directory: Path) -> dict[str, str]:
    try:
        content: dict[str, str] = json.loads((directory / MANIFEST).read_bytes())
    except FileNotFoundError:
        return {}
    return content


def _remove_other_files(directory: Path, commits: Sequence[Commit]) -> None:
    """Remove the tables and segments of other commits, and what an unfinished commit left."""
    kept = {name for commit in commits for name in commit.file_names}
    for name in set(os.listdir(directory)) - kept:
        if name.endswith(".seg") or _TABLE.fullmatch(name) or _UNFINISHED.fullmatch(name):
            (directory / name).unlink(missing_ok=True)


def damaged_files(directory: Path, commit: Commit, known: frozenset[str] = frozenset()) -> list[str]:
    """Return the files of a commit's segments that do not match the manifest; those whose id is `known` are not
    checked again."""
    manifest = read_manifest(directory)
    names = [segment_name(segment) for segment in commit.segments if segment.segment_id() not in known]
    return [name for name in names if _differs(directory / name, manifest.get(name))]


def _differs(path: Path, digest: str | None) -> bool:
    """Return whether a file differs from its digest; one that the disk cannot read differs as well."""
    try:
        return digest_of(path) != digest
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return True


def digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_durably(path: Path, content: bytes) -> None:
    """Replace a file in one step; the caller fsyncs the directory."""
    aside = path.with_name(path.name + ".new")
    with open(aside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


@contextmanager
def readable() -> Iterator[None]:
    """Turn any error of reading an index into SearchUnavailable; the log has its trace, since a defect of the code
    looks the same."""
    try:
        yield
    except UNREADABLE as error:
        log.warning("index_unreadable", exc_info=True)
        raise SearchUnavailable(CANNOT_BE_READ) from error


def mark_damaged(directory: Path, files: Sequence[str]) -> None:
    """Mark a generation as damaged for every process that has it open, which may have read none of the damage, or read
    it from memory. On a disk that cannot be written each finds out by itself."""
    with suppress(OSError):
        (directory / _MARK).write_text(", ".join(files))


def is_marked(directory: Path) -> bool:
    # Called at every search: to make a Path, or to catch an error, would take longer than the check.
    return os.access(f"{directory}/{_MARK}", os.F_OK)


def refuse_marked(directory: Path) -> None:
    """Refuse a generation that is known to be damaged. Raises SearchUnavailable."""
    with suppress(FileNotFoundError):
        raise damage_error((directory / _MARK).read_text())


def damage_error(files: str) -> SearchUnavailable:
    """Return the error of an index whose files differ from their checksums."""
    return SearchUnavailable(f"Search does not answer: its index is damaged ({files}). Rebuild to fix it.")

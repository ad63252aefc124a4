"""The table of contents of a generation: which segments are live and which of their documents are deleted.

Whoosh writes its table without a single fsync and keeps no checksums. Here a commit is durable before it is
visible: the manifest with the checksums of the old and the new commit comes first, then the table, each
written aside, fsynced and renamed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from whoosh.codec.whoosh3 import W3Segment
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import BufferFile
from whoosh.index import TOC

from app.adapters.whoosh.schema import index_schema
from app.adapters.whoosh.segment_file import INDEX_NAME, segment_name
from app.domain.shared.durable_files import fsync_path

MANIFEST = "manifest.json"
_TABLE = re.compile(rf"_{INDEX_NAME}_(\d+)\.toc")
_UNFINISHED = re.compile(rf"_{INDEX_NAME}_\d+\.toc\..+")
_SCHEMA = index_schema()


@dataclass(frozen=True, slots=True)
class Commit:
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
    """Whether a commit is there and no later one, by two calls of the file system that raise no error to be caught."""
    prefix = f"{directory}/_{INDEX_NAME}_"
    return not os.access(f"{prefix}{number + 1}.toc", os.F_OK) and os.access(f"{prefix}{number}.toc", os.F_OK)


def read_commit(directory: Path) -> Commit:
    """Return the latest commit of a generation. Raises what broken or vanishing files raise; ValueError for one that
    does not match the manifest, before it is unpickled."""
    numbers = [int(found[1]) for name in os.listdir(directory) if (found := _TABLE.fullmatch(name))]
    if not numbers:
        raise FileNotFoundError(f"{directory} holds no table of contents")
    return _read_table(directory, max(numbers))


def _read_table(directory: Path, number: int) -> Commit:
    content = (directory / table_name(number)).read_bytes()
    if hashlib.sha256(content).hexdigest() != read_manifest(directory).get(table_name(number)):
        raise ValueError(f"{table_name(number)} does not match the manifest")
    table = TOC.read(_Loaded(content), INDEX_NAME, gen=number, schema=_SCHEMA)
    return Commit(number, tuple(table.segments))


class _Loaded:
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
    _remove_files_of_others(directory, (before, commit))


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
    write_durably(directory / MANIFEST, json.dumps({**previous, **digests, table: table_digest}, indent=1).encode())


def read_manifest(directory: Path) -> dict[str, str]:
    try:
        content: dict[str, str] = json.loads((directory / MANIFEST).read_bytes())
    except FileNotFoundError:
        return {}
    return content


def damaged_files(directory: Path, commit: Commit, known: frozenset[str] = frozenset()) -> list[str]:
    """Return the files of a commit's segments that do not match the manifest; those whose id is `known` are not
    checked again."""
    manifest = read_manifest(directory)
    names = [segment_name(segment) for segment in commit.segments if segment.segment_id() not in known]
    return [name for name in names if _differs(directory / name, manifest.get(name))]


def _differs(path: Path, digest: str | None) -> bool:
    """Whether a file differs from its digest; one that the disk cannot read differs as well."""
    try:
        return digest_of(path) != digest
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return True


def digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file in one step; the caller fsyncs the directory."""
    aside = path.with_name(path.name + ".new")
    with open(aside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)


def _remove_files_of_others(directory: Path, commits: Sequence[Commit]) -> None:
    """Remove the tables and segments of other commits, and what an unfinished commit left."""
    kept = {name for commit in commits for name in commit.file_names}
    for name in set(os.listdir(directory)) - kept:
        if name.endswith(".seg") or _TABLE.fullmatch(name) or _UNFINISHED.fullmatch(name):
            (directory / name).unlink(missing_ok=True)

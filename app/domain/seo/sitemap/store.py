"""The store of sitemaps: a folder for each site, in it one for each generation, and a link to the published one."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from app.domain.shared.durable_files import fsync_path

FIRST_FILE = "sitemap.xml"
CURRENT = "current"
STALE_SECONDS = 3600  # Since a generation was begun, or replaced: no build, and no reader of it, takes so long.
FILE = re.compile(r"sitemap(?:-([1-9][0-9]{0,5}))?\.xml", re.ASCII)


def part_name(number: int | str) -> str:
    """Return the name of a part of a sitemap that needs several files, from 1 on."""
    return f"sitemap-{number}.xml"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A stored file of a sitemap. `version` differs whenever the content does."""

    name: str
    version: str
    path: Path
    size: int
    written_at: datetime


class SitemapStore:
    """The link is replaced atomically, so a reader finds the old sitemap whole or the new one. Generations that are not
    published, any more or yet, stay for an hour, for those who read or write them; each bears the id of its build and
    the number of the attempt at it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def start(self, site_id: int, build_id: str, attempt: int) -> SitemapGeneration:
        """Begin a generation. Files of earlier attempts at the same build are removed, those of other dead builds of
        the site after a while. Raises OSError."""
        folder = self._folder / str(site_id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        published = _published_generation(folder)
        _remove_stale(folder, published)
        _remove_earlier_attempts(folder, published, build_id, attempt)
        return SitemapGeneration(folder, f"{build_id}.{attempt}.{uuid.uuid4().hex[:8]}")

    def files(self, site_id: int) -> list[StoredFile]:
        """Return the files of the published sitemap, the first one first; none where there is no sitemap yet."""
        generation = _published_generation(self._folder / str(site_id))
        if generation is None:
            return []
        with suppress(FileNotFoundError):  # A generation that was replaced twice meanwhile.
            found = [
                (int(name[1] or 0), _stored_file(path))
                for path in generation.iterdir()
                if (name := FILE.fullmatch(path.name))
            ]
            return [stored for _, stored in sorted(found, key=lambda pair: pair[0])]
        return []

    def file(self, site_id: int, name: str) -> StoredFile | None:
        """Return one file of the published sitemap; None where it has none of this name."""
        generation = _published_generation(self._folder / str(site_id))
        if generation is None or not FILE.fullmatch(name):
            return None
        with suppress(FileNotFoundError):
            return _stored_file(generation / name)
        return None


class SitemapGeneration:
    """A sitemap in the making, which is not served until it is published."""

    def __init__(self, folder: Path, name: str) -> None:
        self._site = folder
        self._folder = folder / name
        self._folder.mkdir(mode=0o700)
        self._open: list[BinaryIO] = []

    def create(self, name: str) -> BinaryIO:
        """Begin a file. It is closed at the latest when the generation is published or discarded, and durable once it
        is published."""
        file = (self._folder / name).open("xb")
        self._open = [earlier for earlier in self._open if not earlier.closed] + [file]
        return file

    def rename(self, name: str, to: str) -> None:
        os.rename(self._folder / name, self._folder / to)

    def publish(self) -> None:
        """Replace the published sitemap, atomically and durably; one with the same content is left as it is, with its
        date. Safe to call twice."""
        for file in self._open:
            file.close()
        before = _published_generation(self._site)
        if before is None or (before != self._folder and not _have_same_content(before, self._folder)):
            for path in self._folder.iterdir():
                fsync_path(path)
            fsync_path(self._folder)
            if before is not None:
                os.utime(before)  # It was found a moment ago by readers who are about to open it.
            fresh = self._site / f"{CURRENT}.{self._folder.name}"
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(self._folder.name)
            os.replace(fresh, self._site / CURRENT)
            fsync_path(self._site)

    def discard(self) -> None:
        """Remove all files of the generation, unless it is published."""
        for file in self._open:
            with suppress(OSError):  # What a full disk did not take goes anyway.
                file.close()
        if _published_generation(self._site) != self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _published_generation(folder: Path) -> Path | None:
    """Return the published generation of a site; None where there is none, or it was lost."""
    try:
        generation = folder / os.readlink(folder / CURRENT)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return generation if generation.is_dir() else None


def _stored_file(path: Path) -> StoredFile:
    status = path.stat()
    written_at = datetime.fromtimestamp(int(status.st_mtime), UTC)
    return StoredFile(path.name, path.parent.name, path, status.st_size, written_at)


def _have_same_content(one: Path, other: Path) -> bool:
    """Whether two generations have the same files with the same content."""
    names = {path.name for path in one.iterdir()}
    if FIRST_FILE not in names or names != {path.name for path in other.iterdir()}:
        return False
    return all(filecmp.cmp(one / name, other / name, shallow=False) for name in names)


def _remove_stale(folder: Path, published: Path | None) -> None:
    for path in folder.iterdir():
        is_stale = time.time() - path.lstat().st_mtime > STALE_SECONDS
        if is_stale and path.is_symlink() and path.name != CURRENT:
            path.unlink(missing_ok=True)
        elif is_stale and path != published and path.name != CURRENT:
            shutil.rmtree(path, ignore_errors=True)


def _remove_earlier_attempts(folder: Path, published: Path | None, build_id: str, attempt: int) -> None:
    """Remove the generations of earlier attempts at a build, whose workers are dead or cannot publish any more."""
    for path in folder.glob(f"{build_id}.*"):
        number = path.name.removeprefix(f"{build_id}.").partition(".")[0]
        if path != published and int(number) < attempt:
            shutil.rmtree(path, ignore_errors=True)

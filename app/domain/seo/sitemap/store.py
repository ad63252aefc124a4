"""The port to the store of sitemaps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from app.domain.shared.problems import DomainError

FIRST_FILE = "sitemap.xml"


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


class SitemapGeneration(Protocol):
    """A sitemap in the making, which is not served until it is published."""

    def create(self, name: str) -> BinaryIO:
        """Begin a file. It is closed at the latest when the generation is published or discarded, and durable once it
        is published."""
        ...

    def rename(self, name: str, to: str) -> None: ...

    def publish(self) -> None:
        """Replace the published sitemap, atomically and durably; one with the same content is left as it is, with its
        date. Safe to call twice."""
        ...

    def discard(self) -> None:
        """Remove all files of the generation, unless it is published."""
        ...


class SitemapStore(Protocol):
    def start(self, site_id: int, build_id: str, attempt: int) -> SitemapGeneration:
        """Begin a generation. Files of earlier attempts at the same build are removed, those of other dead builds of
        the site after a while. Raises OSError."""
        ...

    def files(self, site_id: int) -> list[StoredFile]:
        """Return the files of the published sitemap, the first one first; none where there is no sitemap yet."""
        ...

    def file(self, site_id: int, name: str) -> StoredFile | None:
        """Return one file of the published sitemap; None where it has none of this name."""
        ...


class NowhereToKeepSitemaps(DomainError):
    code = "sitemaps_not_set_up"


class NoSitemaps:
    """The store of a shop that keeps no sitemaps."""

    def start(self, site_id: int, build_id: str, attempt: int) -> SitemapGeneration:
        raise NowhereToKeepSitemaps("No folder is set up for sitemaps.")

    def files(self, site_id: int) -> list[StoredFile]:
        return []

    def file(self, site_id: int, name: str) -> StoredFile | None:
        return None

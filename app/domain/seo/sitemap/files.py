"""The files of a sitemap: the port to their store, their XML (sitemaps.org, protocol 0.9), and how entries are written
to them within the limits of each. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol
from xml.sax.saxutils import escape

from app.domain.seo.sitemap.entries import SitemapEntry
from app.domain.shared.clock import rfc3339
from app.domain.shared.problems import DomainError

FIRST_FILE = "sitemap.xml"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SITEMAP_BEGIN = f"{DECLARATION}<urlset {NAMESPACE}>\n".encode()
SITEMAP_END = b"</urlset>\n"
INDEX_BEGIN = f"{DECLARATION}<sitemapindex {NAMESPACE}>\n".encode()
INDEX_END = b"</sitemapindex>\n"
NO_XML_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2.


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


def url_element(entry: SitemapEntry) -> bytes:
    return _element("url", entry.address, entry.changed_at)


def sitemap_element(address: str) -> bytes:
    return _element("sitemap", address, None)


def xml_text(text: str) -> str:
    """Return a text as the content of an element, without the characters that XML cannot hold."""
    return escape(NO_XML_CHARACTER.sub("", text), {'"': "&quot;", "'": "&apos;"})


def _element(name: str, address: str, moment: datetime | None) -> bytes:
    modified = f"<lastmod>{rfc3339(moment)}</lastmod>" if moment else ""
    return f"<{name}><loc>{xml_text(address)}</loc>{modified}</{name}>\n".encode()


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one file (sitemaps.org), `size` in bytes."""

    addresses: int = 50_000
    size: int = 50_000_000


LIMITS = Limits()


class EmptySitemap(DomainError):
    code = "empty_sitemap"

    def __init__(self) -> None:
        super().__init__("There is not one address that a sitemap can hold, not even that of the front page.")


@dataclass(frozen=True, slots=True)
class WrittenSitemap:
    addresses: int
    files: int


@dataclass
class _Parts:
    """The files of a sitemap, one after the other, in the order of its entries."""

    generation: SitemapGeneration
    limits: Limits
    number: int = 0
    _file: BinaryIO | None = None
    _addresses: int = field(default=0)
    _size: int = field(default=0)

    def add(self, element: bytes) -> None:
        size = self._size + len(element) + len(SITEMAP_END)
        if self._file is None or self._addresses >= self.limits.addresses or size > self.limits.size:
            self.close()
            self._open()
        self._write(element)
        self._addresses += 1

    def close(self) -> None:
        if self._file is not None:
            self._write(SITEMAP_END)
            self._file.close()
            self._file = None

    def _open(self) -> None:
        self.number += 1
        self._file = self.generation.create(part_name(self.number))
        self._addresses = self._size = 0
        self._write(SITEMAP_BEGIN)

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        self._file.write(data)
        self._size += len(data)


def write_sitemap(
    generation: SitemapGeneration,
    entries: Iterable[SitemapEntry],
    host: str,
    note: Callable[[int], None],
    limits: Limits = LIMITS,
) -> WrittenSitemap:
    """Write the entries, in their order: a single file is the sitemap itself, several are listed in an index. `note` is
    called with the number of addresses after each. Raises EmptySitemap."""
    parts, written = _Parts(generation, limits), 0
    for written, entry in enumerate(entries, 1):
        parts.add(url_element(entry))
        note(written)
    parts.close()
    if not written:
        raise EmptySitemap
    if parts.number == 1:
        generation.rename(part_name(1), FIRST_FILE)
        return WrittenSitemap(written, 1)
    index = generation.create(FIRST_FILE)
    index.write(INDEX_BEGIN)
    for number in range(1, parts.number + 1):
        index.write(sitemap_element(f"https://{host}/{part_name(number)}"))
    index.write(INDEX_END)
    index.close()
    return WrittenSitemap(written, parts.number + 1)

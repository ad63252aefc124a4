"""The files of a sitemap: their XML (sitemaps.org, protocol 0.9), and how entries are written to them within the limits
of each. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO
from xml.sax.saxutils import escape

from app.domain.seo.sitemap.entries import SitemapEntry
from app.domain.seo.sitemap.store import FIRST_FILE, SitemapGeneration, part_name
from app.domain.shared.clock import rfc3339
from app.domain.shared.problems import DomainError

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SITEMAP_BEGIN = f"{DECLARATION}<urlset {NAMESPACE}>\n".encode()
SITEMAP_END = b"</urlset>\n"
INDEX_BEGIN = f"{DECLARATION}<sitemapindex {NAMESPACE}>\n".encode()
INDEX_END = b"</sitemapindex>\n"
NO_XML_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2.


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

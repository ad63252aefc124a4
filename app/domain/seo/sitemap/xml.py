"""Sitemaps as XML (sitemaps.org, protocol 0.9). Pure."""

from __future__ import annotations

import re
from datetime import datetime
from xml.sax.saxutils import escape

from app.domain.seo.sitemap.entries import SitemapEntry
from app.domain.shared.times import rfc3339

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SITEMAP_BEGIN = f"{_DECLARATION}<urlset {_NAMESPACE}>\n".encode()
SITEMAP_END = b"</urlset>\n"
INDEX_BEGIN = f"{_DECLARATION}<sitemapindex {_NAMESPACE}>\n".encode()
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

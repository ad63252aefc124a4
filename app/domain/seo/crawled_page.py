"""A page of the shop as a crawler gets it, fetched by a function that the caller provides, and what its HTML says to
search engines. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from urllib.parse import quote, urljoin, urlsplit

from app.domain.seo.indexing_decision import IndexingDecision, is_on_host

PATH_SAFE = "/%:@!$&'()*+,;=~-._"
JSON_LD = "application/ld+json"
KEPT = ("title", "script")  # Elements whose text is read.

Attributes = list[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer to one GET request, redirects not followed. `robots` is its X-Robots-Tag; `text` is empty for what is
    no HTML. `decision` is the page's indexing decision, None where it made none."""

    status: int
    location: str = ""
    robots: str = ""
    text: str = ""
    decision: IndexingDecision | None = None

    @property
    def is_redirect(self) -> bool:
        return self.status in (301, 302, 303, 307, 308)

    @property
    def has_failed(self) -> bool:
        return self.status >= 400


Fetch = Callable[[str], Fetched]  # Called with a path and its parameters.


def address_on(host: str, link: str, base: str = "/") -> str | None:
    """Return the normalised path and parameters of a link on a page of the shop; None for one that leads elsewhere."""
    return _address_on(host, link, "/" if link.startswith("/") else base)


@lru_cache(maxsize=10_000)  # Every page has the links of the navigation.
def _address_on(host: str, link: str, base: str) -> str | None:
    try:
        target = urljoin(f"https://{host}{base}", link.strip())
        parts = urlsplit(target)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not is_on_host(target, host):
        return None
    path = quote(parts.path or "/", safe=PATH_SAFE)
    return f"{path}?{quote(parts.query, safe=PATH_SAFE + '?')}" if parts.query else path


@dataclass(frozen=True, slots=True)
class Link:
    href: str
    is_followed: bool


@dataclass(slots=True)
class ReadPage:
    """The facts that were read of a page. `robots` are the robots directives as written, `data` the texts of its
    JSON-LD, `headings` the H1 elements. `is_cut_off`: the rest of the page could not be read."""

    titles: list[str] = field(default_factory=list)
    robots: list[str] = field(default_factory=list)
    canonicals: list[str] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    headings: int = 0
    is_cut_off: bool = False

    @property
    def title(self) -> str:
        return " ".join(self.titles[0].split()) if self.titles else ""

    @property
    def canonical(self) -> str:
        return self.canonicals[0] if self.canonicals else ""


def read_page(html: str) -> ReadPage:
    """Read a page, however broken."""
    reader = _Reader()
    try:
        reader.feed(html)
        reader.close()
    except AssertionError:  # Raised for a marked section that the standard library does not know, `<![x[`.
        reader.page.is_cut_off = True
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = ReadPage()
        self._text: list[str] | None = None
        self._in_picture = False

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag == "svg":
            self._in_picture = True  # Its titles are not the page's.
        elif tag in _STARTS:
            _STARTS[tag](self, {name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        if tag == "svg":
            self._in_picture = False
        elif tag in KEPT and self._text is not None:
            (self.page.titles if tag == "title" else self.page.data).append("".join(self._text))
            self._text = None

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _link(self, attributes: dict[str, str]) -> None:
        if "href" in attributes:
            is_followed = "nofollow" not in attributes.get("rel", "").lower().split()
            self.page.links.append(Link(attributes["href"], is_followed))

    def _named_link(self, attributes: dict[str, str]) -> None:
        if "canonical" in attributes.get("rel", "").lower().split():
            self.page.canonicals.append(attributes.get("href", "").strip())

    def _meta(self, attributes: dict[str, str]) -> None:
        name = attributes.get("name", "").lower()
        if name == "robots":
            self.page.robots.append(attributes.get("content", ""))
        elif name == "description":
            self.page.descriptions.append(attributes.get("content", ""))

    def _title(self, _attributes: dict[str, str]) -> None:
        self._text = None if self._in_picture else []

    def _script(self, attributes: dict[str, str]) -> None:
        self._text = [] if attributes.get("type", "").lower() == JSON_LD else None

    def _heading(self, _attributes: dict[str, str]) -> None:
        self.page.headings += 1


_STARTS = {
    "a": _Reader._link,
    "link": _Reader._named_link,
    "meta": _Reader._meta,
    "title": _Reader._title,
    "script": _Reader._script,
    "h1": _Reader._heading,
}

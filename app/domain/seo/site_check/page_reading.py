"""Read from a page's HTML what concerns search engines. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

Attributes = list[tuple[str, str | None]]
JSON_LD = "application/ld+json"
KEPT = ("title", "script")  # Elements whose text is read.


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

    def _link(self, given: dict[str, str]) -> None:
        if "href" in given:
            self.page.links.append(Link(given["href"], "nofollow" not in given.get("rel", "").lower().split()))

    def _named_link(self, given: dict[str, str]) -> None:
        if "canonical" in given.get("rel", "").lower().split():
            self.page.canonicals.append(given.get("href", "").strip())

    def _meta(self, given: dict[str, str]) -> None:
        name = given.get("name", "").lower()
        if name == "robots":
            self.page.robots.append(given.get("content", ""))
        elif name == "description":
            self.page.descriptions.append(given.get("content", ""))

    def _title(self, _given: dict[str, str]) -> None:
        self._text = None if self._in_picture else []

    def _script(self, given: dict[str, str]) -> None:
        self._text = [] if given.get("type", "").lower() == JSON_LD else None

    def _heading(self, _given: dict[str, str]) -> None:
        self.page.headings += 1


_STARTS = {
    "a": _Reader._link,
    "link": _Reader._named_link,
    "meta": _Reader._meta,
    "title": _Reader._title,
    "script": _Reader._script,
    "h1": _Reader._heading,
}

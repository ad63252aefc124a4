"""The documents in docs/ as HTML, with the anchors that GitHub gives their headings.

A shop runs on one box, perhaps without the internet, and its release is what its documentation must describe: so the
admin shows the documents of its own release, and docs/ must lie beside the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

FOLDER = Path(__file__).resolve().parents[2] / "docs"
DOCUMENTS = (
    "guide", "bundle", "personal-data", "payments", "journal", "stripe", "mcp", "api", "admin-json", "deploy",
    "glossary",
)  # fmt: skip
WHERE = "/admin/help"
NO_LETTER = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under a heading up to the next one, as plain text."""

    anchor: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document as HTML. `anchors` are those of all its headings, in order; `headings` has the anchor and the text of
    each heading of the second level; `parts` are its texts by heading, the title's first."""

    name: str
    title: str
    html: Markup
    anchors: tuple[str, ...]
    headings: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]


@cache
def document(name: str) -> Document:
    """Return one of DOCUMENTS. It comes with the release, so it is read once."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    headings = list(_with_anchors(tokens))
    parts = tuple(_parts(tokens))
    title = headings[0][2]
    body = _without_title(tokens)
    _lead_to_each_other(body)
    html = Markup(parser.renderer.render(body, parser.options, {}))
    second = tuple((anchor, text) for tag, anchor, text in headings if tag == "h2")
    return Document(name, title, html, tuple(anchor for _, anchor, _ in headings), second, parts)


def inline_html(text: str) -> Markup:
    """Return a line of Markdown as HTML, without a paragraph around it."""
    return Markup(MarkdownIt("commonmark", {"html": False}).renderInline(text))


def anchor_of(heading: str) -> str:
    return NO_LETTER.sub("", heading.strip().lower()).replace(" ", "-")


def _with_anchors(tokens: Sequence[Token]) -> list[tuple[str, str, str]]:
    """Give each heading its anchor, numbered where it repeats, and return the tag, anchor and text of each."""
    found: list[tuple[str, str, str]] = []
    for token, inline in pairwise(tokens):
        if token.type != "heading_open":
            continue
        text = _plain_text(inline)
        anchor, taken = anchor_of(text), [known for _, known, _ in found]
        number = sum(known == anchor or re.fullmatch(rf"{re.escape(anchor)}-\d+", known) is not None for known in taken)
        anchor = f"{anchor}-{number}" if anchor in taken else anchor
        token.attrSet("id", anchor)
        found.append((token.tag, anchor, text))
    return found


def _parts(tokens: Sequence[Token]) -> Iterator[Part]:
    """Yield the texts by heading, once the headings have their anchors."""
    starts = [place for place, token in enumerate(tokens) if token.type == "heading_open"]
    for start, end in pairwise([*starts, len(tokens)]):
        text = " ".join(_plain_text(token) for token in tokens[start + 2 : end] if token.type == "inline")
        yield Part(str(tokens[start].attrs["id"]), _plain_text(tokens[start + 1]), text)


def _plain_text(inline: Token) -> str:
    return "".join(" " if part.type == "softbreak" else part.content for part in inline.children or ())


def _without_title(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens after the title, which the page has as its heading already."""
    ends = next(place for place, token in enumerate(tokens) if token.type == "heading_close")
    return list(tokens[ends + 1 :])


def _lead_to_each_other(tokens: Sequence[Token]) -> None:
    """Point links to other documents at their pages; a link to what has no page here, such as a file of the code,
    becomes plain text."""
    for token in tokens:
        links: list[Token] = []
        for part in token.children or ():
            if part.type == "link_open":
                links.append(part)
                _redirect(part)
            elif part.type == "link_close" and not links.pop().attrs.get("href"):
                part.tag = "span"


def _redirect(link: Token) -> None:
    parts = urlsplit(str(link.attrs.get("href", "")))
    name = parts.path.removesuffix(".md")
    if parts.scheme or (not parts.path and parts.fragment):
        return
    if parts.path.endswith(".md") and name in DOCUMENTS:
        link.attrSet("href", f"{WHERE}/{name}{'#' if parts.fragment else ''}{parts.fragment}")
        return
    link.tag = "span"
    link.attrs.pop("href", None)

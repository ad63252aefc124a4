"""The check of the paths to which a rule redirects a search, or its banner leads: pages of the same site alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, unquote, urlsplit

from app.domain.search.text import request_words
from app.domain.shared.text import UNPRINTABLE

LONGEST_PATH = 500
SEARCH_PATH = "/search"
_SLASHES = re.compile(r"[/\\]+")


def safe_redirect(path: str | None) -> str | None:
    """Return the path where a browser that is redirected to it stays on this site, else None.

    Browsers read a backslash as a slash, skip tabs and line ends, and take what follows two slashes for a host
    (WHATWG URL, section 4.4); none of these may occur, nor appear after percent-decoding, however often a server on
    the way decodes. Called when a rule is saved and again whenever one is used.
    """
    if not path or len(path) > LONGEST_PATH or not path.startswith("/") or "\\" in path:
        return None
    if UNPRINTABLE.search(path) or any(sign.isspace() for sign in path):
        return None
    try:
        unquote(path, errors="strict")
        stays = all(map(_stays, _readings(_before_query(path))))
    except UnicodeDecodeError:  # Another decoder may make anything of it.
        return None
    return path if stays else None


def _before_query(path: str) -> str:
    return path.partition("?")[0].partition("#")[0]


def _readings(path: str) -> Iterator[str]:
    """Yield the path as it stands, then after each percent-decoding, until that changes nothing."""
    yield path
    while (read := unquote(path, errors="strict")) != path:
        yield read
        path = read


def _stays(path: str) -> bool:
    leaves = "//" in path or "\\" in path or any(part in (".", "..") for part in path.split("/"))
    return not leaves and not UNPRINTABLE.search(path)


def words_searched_at(path: str) -> str | None:
    """The words of the search that a safe path leads to, as the page of results reads them; None for another page.
    Servers read `/%73earch` as `/search`."""
    *_, read = _readings(_before_query(path))
    if _SLASHES.sub("/", read).rstrip("/") != SEARCH_PATH:
        return None
    return request_words(parse_qs(urlsplit(path).query, keep_blank_values=True).get("q", ()))

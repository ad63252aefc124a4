"""Where a rule may send a search, and where its banner may lead: to a page of the same site, never elsewhere."""

from __future__ import annotations

from app.domain.shared.text import UNPRINTABLE

LONGEST_PATH = 500


def safe_redirect(path: str | None) -> str | None:
    """The path where a browser that is sent there stays on this site, else None.

    Browsers read a backslash as a slash, skip tabs and line ends, and take what follows two slashes for a host
    (WHATWG URL, section 4.4); none of these may occur. Asked when a rule is saved and again whenever one is used.
    """
    if not path or len(path) > LONGEST_PATH or not path.startswith("/"):
        return None
    before_query = path.partition("?")[0].partition("#")[0]
    if "//" in before_query or "\\" in path or any(part in (".", "..") for part in before_query.split("/")):
        return None
    return None if UNPRINTABLE.search(path) or any(sign.isspace() for sign in path) else path

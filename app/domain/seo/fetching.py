"""Fetch pages of the shop as crawlers get them: within the process, by a function that the caller provides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

from app.domain.seo.indexing_decision import IndexingDecision, is_on_host

PATH_SAFE = "/%:@!$&'()*+,;=~-._"


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

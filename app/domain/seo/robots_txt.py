"""The robots.txt of a site (RFC 9309). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote


def robots_txt(host: str, staging: bool, skipped_parameters: Iterable[str]) -> str:
    """Return the robots.txt: the sitemap on the primary domain and the parameters that bots shall skip; a staging site
    keeps all bots out. Baskets and the like stay open, so that bots can read their noindex."""
    if staging:
        return "User-agent: *\nDisallow: /\n"
    skipped = [f"Disallow: /*{sign}{quote(name, safe='')}=" for name in skipped_parameters for sign in "?&"]
    return "\n".join(["User-agent: *", *(skipped or ["Disallow:"]), "", f"Sitemap: https://{host}/sitemap.xml", ""])

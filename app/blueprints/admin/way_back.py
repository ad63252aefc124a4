"""Where somebody goes after signing in: only to a page of this admin, whatever the address said."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

LONGEST = 2_000
PLAIN = re.compile(r"/admin(?:[/?][\x21-\x5b\x5d-\x7e]*)?", re.ASCII)


def way_back(wanted: str | None) -> str | None:
    """The path that was wanted, or None where it leads anywhere else. Browsers read a backslash as a slash and
    skip tabs and line ends, so none of these may occur."""
    if not wanted or len(wanted) > LONGEST or not PLAIN.fullmatch(wanted):
        return None
    parts = urlsplit(wanted)
    return None if parts.scheme or parts.netloc or "//" in parts.path else wanted

"""The return address of signing in: only a page of this admin, whatever the request says."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

LONGEST = 2_000
PLAIN = re.compile(r"/admin(?:[/?][\x21-\x5b\x5d-\x7e]*)?", re.ASCII)


def return_to(wanted: str | None) -> str | None:
    """Return the wanted path, or None where it leads outside the admin. Browsers read a backslash as a slash and
    skip tabs and line ends, so none of these may occur."""
    if not wanted or len(wanted) > LONGEST or not PLAIN.fullmatch(wanted):
        return None
    parts = urlsplit(wanted)
    return None if parts.scheme or parts.netloc or "//" in parts.path else wanted

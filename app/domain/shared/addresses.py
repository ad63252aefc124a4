"""What an address holds: names in this shop's URLs, URLs to other places, and ids and days, which are read strictly,
since anybody can send anything. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from datetime import date
from urllib.parse import urlsplit

from slugify import slugify

from app.domain.shared.problems import Problem
from app.domain.shared.text import UNPRINTABLE

LONGEST_SLUG = 200
LONGEST_URL = 500
SLUG = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*", re.ASCII)
LARGEST_ID = 2_147_483_647  # PostgreSQL refuses to compare a column of ids with more.


def slug(text: str, fallback: str) -> str:
    """Return the text as a slug, cut at a word so that a suffix still fits; `fallback` where nothing is left."""
    return slugify(text, max_length=LONGEST_SLUG - 20, word_boundary=True, save_order=True) or fallback


def free_slug(wanted: str, taken: Container[str]) -> str:
    """Return `wanted`, or the first of `wanted-2`, `wanted-3`, … that is not taken."""
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}-{number}" in taken:
        number += 1
    return f"{wanted}-{number}"


def slug_problems(text: str, label: str, pointer: str) -> list[Problem]:
    if len(text) > LONGEST_SLUG:
        return [Problem("too_long", f"{label} is longer than {LONGEST_SLUG} characters.", pointer)]
    if not SLUG.fullmatch(text):
        message = f"{label} “{text[:60]}” may hold only a–z, 0–9 and single hyphens between them."
        return [Problem("invalid_seo_name", message, pointer)]
    return []


def url_problems(text: str, label: str, pointer: str) -> list[Problem]:
    """Return the problems of an address: a path of the site or an absolute http(s) address without sign-in details."""
    if len(text) > LONGEST_URL:
        return [Problem("too_long", f"{label} is longer than {LONGEST_URL} characters.", pointer)]
    if _is_path(text) or _is_web_address(text):
        return []
    message = f"{label} must be a path of this site (/…) or an address that begins with https:// or http://."
    return [Problem("invalid_url", message, pointer)]


def canonical_problems(text: str | None) -> list[Problem]:
    """Return the problems of a page's canonical URL: as `url_problems`, but it may also begin with //
    (protocol-relative) or be empty."""
    if not text:
        return []
    return url_problems(f"https:{text}" if text.startswith("//") else text, "The canonical URL", "#/canonicalUrl")


def _is_path(text: str) -> bool:
    return text.startswith("/") and not text.startswith("//") and not _has_forbidden(text)


def _is_web_address(text: str) -> bool:
    if _has_forbidden(text):
        return False
    try:
        parts = urlsplit(text)
        port_is_a_number = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc and port_is_a_number


def _has_forbidden(text: str) -> bool:
    return UNPRINTABLE.search(text) is not None or any(sign in text for sign in "\\ \"'<>`")


def id_in(text: str | None) -> int | None:
    """Return the id in a text, a whole number from 1 to LARGEST_ID; None for any other text."""
    number = int(text) if text and text.isascii() and text.isdigit() and len(text) < 11 else 0
    return number if 0 < number <= LARGEST_ID else None


def lookup_id(text: str | None) -> int:
    """Return the id in a text; 0, which no record has, for any other text."""
    return id_in(text) or 0


def day_in(text: str | None) -> date | None:
    """Return a day written as 2026-11-23; None for anything else, as 20261123 or 2026-W48-1."""
    if not text or not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def reversed_days(first: date | None, last: date | None) -> Iterator[Problem]:
    """Yield the problem of a filter whose first day is after its last."""
    if first is not None and last is not None and first > last:
        yield Problem("invalid_filter", f"From {first} is after to {last}, so no day is between them.", "#/from")

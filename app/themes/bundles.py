"""One style sheet and one script for each page of the storefront, put together in memory and named by their content.

There is no build step: what a page loads is the files as they are, one after the other."""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from app.themes.folders import Theme

STATIC = Path(__file__).parents[1] / "static"
STYLES = ("storefront/storefront.css",)
# Libraries stay as they are; the shop's own scripts get a scope each, so that their names do not collide.
LIBRARIES = ("vendor/htmx-4.0.1.min.js",)
ISLANDS = (
    "storefront/basket_count.js",
    "storefront/basket_focus.js",
    "storefront/connection.js",
    "storefront/facet_values.js",
    "storefront/filter_sheet.js",
    "storefront/gallery.js",
    "storefront/menus.js",
    "storefront/range_slider.js",
    "storefront/suggestions.js",
)
OWN_FILE = re.compile(r"""url\((["']?)(files/[\w./-]+)\1\)""", re.ASCII)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A style sheet or script with its name. `packed` is the body as gzip."""

    path: str
    digest: str
    body: bytes
    packed: bytes


@lru_cache
def style_sheet(theme: Theme) -> Bundle:
    """Return the style sheet of a theme: the shared one, then its own."""
    shared = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in STYLES)
    own = theme.style.read_text(encoding="utf-8")
    own = OWN_FILE.sub(rf'url("\2?v={version_of_files(theme)}")', own)
    return _bundle(f"{shared}\n{own}", f"/static/themes/{theme.name}/shop-", ".css")


@lru_cache
def script() -> Bundle:
    """The script of every page, whatever its theme."""
    libraries = [(STATIC / name).read_text(encoding="utf-8") for name in LIBRARIES]
    islands = [(STATIC / name).read_text(encoding="utf-8") for name in ISLANDS]
    scoped = [f'(() => {{\n"use strict";\n{text}}})();' for text in islands]
    return _bundle("\n;\n".join([*libraries, *scoped]) + "\n", "/static/shop-", ".js")


@lru_cache
def version_of_files(theme: Theme) -> str:
    """Return the version that stands behind the addresses of the theme's files in its style sheet."""
    digest = hashlib.sha256()
    for file in sorted(theme.files.rglob("*")):
        if file.is_file():
            digest.update(file.relative_to(theme.files).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def _bundle(text: str, start: str, end: str) -> Bundle:
    body = text.encode()
    digest = hashlib.sha256(body).hexdigest()[:12]
    return Bundle(f"{start}{digest}{end}", digest, body, gzip.compress(body, mtime=0))

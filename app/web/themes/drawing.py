"""The drawing of storefront pages in the theme of the request.

A theme's template takes precedence over the shared one of the same name, which it can extend as `shared/<name>`. What a
page loads is one style sheet and one script, put together in memory and named by their content: the files as they are,
one after the other, without a build step."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import structlog
from flask import Flask, current_app, g
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, Template
from jinja2.runtime import Context
from jinja2.utils import internalcode

from app.web.themes.folders import FoundThemes, Theme, find_themes

log = structlog.get_logger()

THEMES = "themes"
ENVIRONMENTS = "theme-environments"
Draw = Callable[[Context], Iterator[str]]
STATIC = Path(__file__).parents[2] / "static"
STYLES = (
    "storefront/storefront.css",
    "storefront/product.css",
    "storefront/browse.css",
    "storefront/orders.css",
    "storefront/home.css",
)
# Libraries stay as they are; the shop's own scripts get a scope each, so that their names do not collide.
LIBRARIES = ("vendor/htmx-4.0.1.min.js",)
ISLANDS = (
    "storefront/basket_count.js",
    "storefront/basket_focus.js",
    "storefront/buy_bar.js",
    "storefront/connection.js",
    "storefront/dialogs.js",
    "storefront/facet_values.js",
    "storefront/filter_sheet.js",
    "storefront/gallery.js",
    "storefront/header.js",
    "storefront/menus.js",
    "storefront/range_slider.js",
    "storefront/recently_viewed.js",
    "storefront/suggestions.js",
)
OWN_FILE = re.compile(r"""url\((["']?)(files/[\w./-]+)\1\)""", re.ASCII)


def init_themes(app: Flask, own_folder: Path | None) -> None:
    """Find the themes and make their style sheets, so that no visitor waits. A folder that cannot be used is left
    out, with a warning in the log and in the admin."""
    found = find_themes(own_folder)
    app.extensions[THEMES], app.extensions[ENVIRONMENTS] = found, {}
    for theme in found.by_name.values():
        style_sheet(theme)
    for name, problem in found.problems.items():
        log.warning("theme_unusable", theme=name, problem=problem)


def themes() -> FoundThemes:
    found: FoundThemes = current_app.extensions[THEMES]
    return found


def use_theme(name: str) -> None:
    """Set the theme of this request's pages to the one of that name, to the default where there is none."""
    g.theme = themes().named(name)


def current_theme() -> Theme:
    theme: Theme = g.get("theme") or themes().default
    return theme


def drawn(template: str, **context: Any) -> str:
    """Return a storefront template as HTML in the current theme. No context processor runs: a public page reads no
    session."""
    return environment().get_template(template).render(context)


def environment() -> Environment:
    """Return the templates of the current theme. Each theme that is shown has an environment of its own, since compiled
    templates are cached by name."""
    theme, made = current_theme(), current_app.extensions[ENVIRONMENTS]
    if theme.folder not in made:
        shared = current_app.jinja_env.loader
        assert shared is not None, "an application has templates"
        own = FileSystemLoader(theme.templates)
        loader = ChoiceLoader([own, PrefixLoader({"shared": shared}), shared])
        own_environment = current_app.jinja_env.overlay(loader=loader)
        own_environment.template_class = WholeTemplate
        made[theme.folder] = own_environment
    chosen: Environment = made[theme.folder]
    return chosen


class WholeTemplate(Template):
    """A template whose text comes in one piece. Jinja hands each piece of an included template through every template
    around it: the hundreds of pieces of a page of products, six templates deep, take a twentieth of its time."""

    @property
    def root_render_func(self) -> Draw:
        return self._whole

    @root_render_func.setter
    def root_render_func(self, pieces: Draw) -> None:
        @internalcode
        def whole(context: Context) -> Iterator[str]:
            yield "".join(pieces(context))

        self._whole = whole


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

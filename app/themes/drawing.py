"""The drawing of storefront pages in the theme of the request.

A theme's template takes precedence over the shared one of the same name, which it can extend as
`shared/<name>`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import structlog
from flask import Flask, current_app, g
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader

from app.themes import bundles
from app.themes.folders import FoundThemes, Theme, find_themes
from app.themes.whole_template import WholeTemplate

THEMES = "themes"
ENVIRONMENTS = "theme-environments"
log = structlog.get_logger()


def init_themes(app: Flask, own_folder: Path | None) -> None:
    """Find the themes and make their style sheets, so that no visitor waits. A folder that cannot be used is left
    out, with a warning in the log and in the admin."""
    found = find_themes(own_folder)
    app.extensions[THEMES], app.extensions[ENVIRONMENTS] = found, {}
    for theme in found.by_name.values():
        bundles.style_sheet(theme)
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

"""Settings of the shop as a whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.records import existing
from app.domain.shared.text import one_line
from app.domain.sites import audit
from app.domain.sites.models import Site
from app.domain.sites.setting_keys import SETTINGS
from app.domain.sites.settings import change_settings, settings_of
from app.domain.sites.sites import name_problems
from app.extensions import db

NAME = "name"  # A column of the site: no setting by itself.
PAGE_SIZE = "listing-page-size"
THEME = "storefront-theme"


@dataclass(frozen=True, slots=True)
class ShopSettings:
    """The settings of a shop that can be changed, and those that are only shown. `hosts` begin with the primary one."""

    name: str
    page_size: int
    theme: str
    currency: str
    time_zone: str
    hosts: tuple[str, ...]


def shop_settings(site_id: int) -> ShopSettings:
    site = _site(site_id)
    settings = settings_of(site_id)
    hosts = sorted((not domain.primary, domain.host) for domain in site.domains)
    return ShopSettings(
        name=site.name,
        page_size=settings[PAGE_SIZE],
        theme=settings[THEME],
        currency=site.currency,
        time_zone=site.time_zone,
        hosts=tuple(host for _, host in hosts),
    )


def stored_form(name: str, page_size: int | None, theme: str | None) -> dict[str, object]:
    """Return the settings as they are stored, by the key of each. `page_size` None is no number; a theme of None, which
    is left as it is, is not among them."""
    values: dict[str, object] = {NAME: one_line(name), PAGE_SIZE: page_size}
    return values if theme is None else values | {THEME: theme}


def change(author: Author, values: Mapping[str, Any], themes: Collection[str]) -> bool:
    """Save some of the settings of the shop, in their stored form; return whether anything changed. A theme that is
    gone may stay, but another must be one of `themes`. Raises Invalid with every problem."""
    site = _site(author.site_id)
    wanted = {NAME: site.name, PAGE_SIZE: settings_of(author.site_id)[PAGE_SIZE]} | dict(values)
    problems = [
        *name_problems(wanted[NAME]),
        *_page_size_problems(wanted[PAGE_SIZE]),
        *_theme_problems(values.get(THEME), themes),
    ]
    if problems:
        raise Invalid(problems)
    return _store(author, site, values)


def _store(author: Author, site: Site, values: Mapping[str, Any]) -> bool:
    changed = change_settings(site.id, {key: value for key, value in values.items() if key != NAME})
    before = {key: old for key, (old, _) in changed.items()}
    after = {key: new for key, (_, new) in changed.items()}
    name = values.get(NAME, site.name)
    if site.name != name:
        before[NAME], after[NAME] = site.name, name
        site.name = name
    if after:
        subject = ("settings", "shop")
        audit.record(author, "settings.shop", subject, "Changed the shop’s settings", before, after)
    return bool(after)


def _page_size_problems(page_size: int | None) -> list[Problem]:
    setting = SETTINGS[PAGE_SIZE]
    if page_size is not None and setting.accepts(page_size):
        return []
    message = f"Products per page must be a whole number from {setting.low} to {setting.high}."
    return [Problem("invalid_page_size", message, "#/pageSize")]


def _theme_problems(theme: str | None, themes: Collection[str]) -> list[Problem]:
    if theme is None or theme in themes:
        return []
    return [Problem("unknown_theme", "This theme no longer exists. Choose one from the list.", "#/theme")]


def _site(site_id: int) -> Site:
    return existing(db.session.get(Site, site_id), "Shop not found.")

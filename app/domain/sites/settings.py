"""The settings of a site as they are stored: read with their defaults, and changed; and those of the shop as a whole,
which a page of the admin shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select

from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.records import existing, upsert
from app.domain.shared.text import one_line
from app.domain.sites import activity, versioning
from app.domain.sites.models import Setting, Site
from app.domain.sites.setting_keys import SETTINGS
from app.domain.sites.sites import name_problems
from app.extensions import db


class SiteSettings(dict[str, Any]):
    """All settings of a site by key, defaults filled in."""


def settings_of(site_id: int) -> SiteSettings:
    rows = db.session.execute(select(Setting.key, Setting.value).where(Setting.site_id == site_id))
    stored = {key: value for key, value in rows if key in SETTINGS}
    return SiteSettings({key: stored.get(key, setting.default) for key, setting in SETTINGS.items()})


def change_settings(site_id: int, changes: Mapping[str, object]) -> dict[str, tuple[Any, Any]]:
    """Store changes of settings; return (before, after) of every key whose value changed. Raises Invalid with every
    problem."""
    problems = [problem for key, value in changes.items() if (problem := _setting_problem(key, value))]
    if problems:
        raise Invalid(problems)
    current = settings_of(site_id)
    changed = {key: (current[key], value) for key, value in changes.items() if current[key] != value}
    if changed:
        # The session does not see what statements change. The site's row comes first, as where others lock it: two that
        # store the same settings in another order take turns at it, and do not wait for each other.
        versioning.touch(db.session(), [site_id])
    for key, (_, value) in changed.items():
        _store_setting(site_id, key, value)
    return changed


def _store_setting(site_id: int, key: str, value: Any) -> None:
    """Store a setting, also where another transaction stores it at the same moment: the later one holds. One that
    equals the default has no record: None, which is the default of some keys, cannot be stored."""
    if value == SETTINGS[key].default:
        record = delete(Setting).where(Setting.site_id == site_id, Setting.key == key)
        db.session.execute(record, execution_options={"synchronize_session": False})
        return
    statement = upsert(Setting).values(site_id=site_id, key=key, value=value)
    stored = {"value": statement.excluded.value}
    db.session.execute(statement.on_conflict_do_update(index_elements=["site_id", "key"], set_=stored))


def _setting_problem(key: str, value: object) -> Problem | None:
    setting = SETTINGS.get(key)
    if setting is None:
        return Problem("unknown_setting", f"There is no setting {key}.", f"#/settings/{key}")
    if not setting.accepts(value):
        return Problem("invalid_setting", f"{key} does not take the value {value!r}.", f"#/settings/{key}")
    return None


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


def stored_shop_form(name: str, page_size: int | None, theme: str | None) -> dict[str, object]:
    """Return the settings as they are stored, by the key of each. `page_size` None is no number; a theme of None, which
    is left as it is, is not among them."""
    values: dict[str, object] = {NAME: one_line(name), PAGE_SIZE: page_size}
    return values if theme is None else values | {THEME: theme}


def change_shop_settings(author: Author, values: Mapping[str, Any], themes: Collection[str]) -> bool:
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
    return _store_shop_settings(author, site, values)


def _store_shop_settings(author: Author, site: Site, values: Mapping[str, Any]) -> bool:
    changed = change_settings(site.id, {key: value for key, value in values.items() if key != NAME})
    before = {key: old for key, (old, _) in changed.items()}
    after = {key: new for key, (_, new) in changed.items()}
    name = values.get(NAME, site.name)
    if site.name != name:
        before[NAME], after[NAME] = site.name, name
        site.name = name
    if after:
        subject = ("settings", "shop")
        activity.record(author, "settings.shop", subject, "Changed the shop’s settings", before, after)
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

"""The settings of a site: every key with its type, default and meaning; and those of the shop as a whole, which a page
of the admin shows."""

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
from app.domain.sites.sites import name_problems
from app.extensions import db


@dataclass(frozen=True, slots=True)
class SettingKey:
    """The rules of one setting. `kind` is bool, int, str or list (of strings); `low` and `high` bound an int, `choices`
    are the only texts where there are any. None is allowed where the default is None."""

    key: str
    kind: type
    default: Any
    meaning: str
    low: int = 0
    high: int = 2_147_483_647
    choices: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        if value is None:
            return self.default is None
        if self.kind is list:
            return isinstance(value, list) and all(isinstance(item, str) and item for item in value)
        if self.kind is int:
            return type(value) is int and self.low <= value <= self.high
        if self.choices:
            return value in self.choices
        return type(value) is self.kind


WEIGHTS = ("none", "low", "medium", "high")
SETTINGS: Mapping[str, SettingKey] = {
    setting.key: setting
    for setting in (
        SettingKey("taxonomy-active-id", str, None, "The taxonomy that classifies this site's products."),
        SettingKey("search-content-enabled", bool, True, "Pages and collections are found by search."),
        SettingKey("search-term-tracking-enabled", bool, True, "Search words are counted by day."),
        SettingKey("search-click-tracking-enabled", bool, True, "Clicks and sales that follow a search are counted."),
        SettingKey(
            "search-default-filters",
            list,
            ["manufacturer", "price", "inStock", "onSale"],
            "The filters beside search results, in order: manufacturer, price, rating, inStock, onSale, featured or "
            "ids of attributes.",
        ),
        SettingKey("search-stop-words", list, [], "Optional words from what a search finds, like “the”."),
        SettingKey("search-by-meaning", bool, True, "Search ranks by meaning too, where a sentence model is there."),
        SettingKey("search-suggestions-enabled", bool, True, "The storefront suggests as shoppers type."),
        SettingKey("search-suggestions-blocked", list, [], "Words that no suggested search has."),
        SettingKey(
            "search-sold-out",
            str,
            "as-is",
            "Where sold-out products stand in searches and, but for hidden, in categories: as-is, last or hidden.",
            choices=("as-is", "last", "hidden"),
        ),
        SettingKey("search-weight-sales", str, "none", "How much sales lift a product in searches.", choices=WEIGHTS),
        SettingKey("search-weight-newness", str, "none", "How much being new lifts it.", choices=WEIGHTS),
        SettingKey("search-weight-stock", str, "none", "How much being in stock lifts it.", choices=WEIGHTS),
        SettingKey("search-golden-hold", bool, False, "A rebuild that breaks a golden search is not put live."),
        SettingKey(
            "search-learning",
            str,
            "off",
            "What shoppers open for a search moves up there: off, shadow (shown to merchandisers alone) or on.",
            choices=("off", "shadow", "on"),
        ),
        SettingKey("listing-page-size", int, 24, "Products per page of a listing.", 1, 100),
        SettingKey("facet-landing-min-products", int, 3, "Products that justify a landing page.", 1),
        SettingKey("facet-landing-stale-counts", bool, True, "Serve the last good counts while search is down."),
        SettingKey("seo-drop-canonical-on-noindex", bool, False, "Leave the canonical out of noindexed variants."),
        SettingKey("seo-extra-tracking-parameters", list, [], "Further parameters that only track visitors."),
        SettingKey("seo-robots-skipped-parameters", list, [], "Parameters that robots.txt asks bots to skip."),
        SettingKey("storefront-theme", str, "market", "The theme that shoppers see: the name of its folder."),
        SettingKey("posEnabled", bool, False, "Card payments on phones are on."),
        SettingKey("posProcessorLocationId", str, None, "The payment processor's location."),
        SettingKey("posProcessorAccountId", str, None, "The payment processor's account of this site."),
        SettingKey("posAllowQuickPayments", bool, True, "Agents may take an amount without an order."),
        SettingKey("posMaxTransactionAmount", int, 100_000, "Largest card payment, in minor units.", 1, 99_999_999),
    )
}


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


def stored_form(name: str, page_size: int | None, theme: str | None) -> dict[str, object]:
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

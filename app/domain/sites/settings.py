"""The settings of a site: every key with its type, default and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select

from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.upserting import upsert
from app.domain.sites import versioning
from app.domain.sites.models import Setting
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
    problems = [problem for key, value in changes.items() if (problem := _problem(key, value))]
    if problems:
        raise Invalid(problems)
    current = settings_of(site_id)
    changed = {key: (current[key], value) for key, value in changes.items() if current[key] != value}
    if changed:
        # The session does not see what statements change. The site's row comes first, as where others lock it: two that
        # store the same settings in another order take turns at it, and do not wait for each other.
        versioning.touch(db.session(), [site_id])
    for key, (_, value) in changed.items():
        _store(site_id, key, value)
    return changed


def _store(site_id: int, key: str, value: Any) -> None:
    """Store a setting, also where another transaction stores it at the same moment: the later one holds. One that
    equals the default has no record: None, which is the default of some keys, cannot be stored."""
    if value == SETTINGS[key].default:
        record = delete(Setting).where(Setting.site_id == site_id, Setting.key == key)
        db.session.execute(record, execution_options={"synchronize_session": False})
        return
    statement = upsert(Setting).values(site_id=site_id, key=key, value=value)
    stored = {"value": statement.excluded.value}
    db.session.execute(statement.on_conflict_do_update(index_elements=["site_id", "key"], set_=stored))


def _problem(key: str, value: object) -> Problem | None:
    setting = SETTINGS.get(key)
    if setting is None:
        return Problem("unknown_setting", f"There is no setting {key}.", f"#/settings/{key}")
    if not setting.accepts(value):
        return Problem("invalid_setting", f"{key} does not take the value {value!r}.", f"#/settings/{key}")
    return None

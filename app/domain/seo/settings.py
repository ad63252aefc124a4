"""Settings of a site for its pages in search engines."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.domain.merchandising.shop import Shop
from app.domain.search.listings.listing import LONGEST_NAME, PRICE, listing_parameters
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.sites.setting_keys import SEO, SETTINGS, SettingsPage
from app.domain.sites.settings import change_settings, settings_of
from app.extensions import db

LEAST_PRODUCTS = "facet-landing-min-products"
TRACKING = "seo-extra-tracking-parameters"
SKIPPED = "seo-robots-skipped-parameters"
PAGE_PARAMETER = "p"
MOST_PARAMETERS = 50
MOST_PRODUCTS = 10_000
PARAMETER = re.compile(r"[A-Za-z0-9_.\-\[\]]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class SeoSettings:
    """The SEO settings of a site. `least_products` is None where what was sent is no number. `tracking` and `skipped`
    are names of parameters."""

    least_products: int | None
    stale_counts: bool
    drop_canonical: bool
    tracking: tuple[str, ...]
    skipped: tuple[str, ...]
    redirects: bool = True


PAGE = SettingsPage(SEO, SeoSettings)
TITLES = PAGE.titles


def stored_settings(site_id: int) -> SeoSettings:
    return PAGE.read(settings_of(site_id))


def filter_parameters(shop: Shop) -> frozenset[str]:
    """Return the parameters by which a shop's listings are filtered, sorted, searched or paged, and `price`, which
    stands for both ends of a price in reports."""
    return listing_parameters(shop.value_facets, shop.number_facets) | {PRICE}


def change_seo_settings(author: Author, values: Mapping[str, object], filters: Collection[str]) -> tuple[str, ...]:
    """Save some of the settings, in their stored form, and return the titles of those that changed. `filters` are the
    parameters that listings use, which cannot be tracking parameters. Raises Invalid with every problem."""
    _lock(author.site_id)
    wanted = PAGE.read(settings_of(author.site_id) | dict(values))
    if problems := setting_problems(wanted, filters):
        raise Invalid(problems)
    return _store_changes(author, values)


def treat_as_tracking(author: Author, parameter: str, filters: Collection[str], *, is_tracking: bool = True) -> bool:
    """Add a parameter to those that are ignored in all addresses, or remove it; return whether that changed anything.
    Raises Invalid."""
    problems = _tracking_problems((parameter,), filters) if is_tracking else []
    return _change_list(author, TRACKING, parameter, is_tracking, problems)


def skip_in_robots(author: Author, parameter: str, *, is_skipped: bool = True) -> bool:
    """Add a parameter to those whose addresses robots.txt disallows, or remove it; return whether that changed
    anything. Raises Invalid."""
    problems = _page_problems((parameter,), "#/parameter") if is_skipped else []
    return _change_list(author, SKIPPED, parameter, is_skipped, problems)


def split_parameters(text: str) -> tuple[str, ...]:
    """Return the names in a text, one a line or with commas or spaces between, each once."""
    return tuple(dict.fromkeys(filter(None, re.split(r"[\s,]+", text))))


def setting_problems(wanted: SeoSettings, filters: Collection[str]) -> list[Problem]:
    least = wanted.least_products
    problems = []
    if least is None or not SETTINGS[LEAST_PRODUCTS].accepts(least) or least > MOST_PRODUCTS:
        message = f"Products for a landing page must be a whole number from 1 to {MOST_PRODUCTS:,}."
        problems.append(Problem("invalid_least_products", message, "#/leastProducts"))
    problems += _list_problems(wanted.tracking, "#/tracking")
    problems += _list_problems(wanted.skipped, "#/skipped") + _page_problems(wanted.skipped, "#/skipped")
    return problems + _tracking_problems(wanted.tracking, filters)


def _change_list(author: Author, key: str, parameter: str, is_in: bool, problems: list[Problem]) -> bool:
    """Add one name to a stored list, or remove it. Raises Invalid."""
    _lock(author.site_id)
    others = [name for name in settings_of(author.site_id)[key] if name != parameter]
    wanted = [*others, parameter] if is_in else others
    if is_in:
        problems = problems + _list_problems((parameter,), "#/parameter") + _count_problems(wanted, "#/parameter")
    if problems:
        raise Invalid(problems)
    return bool(_store_changes(author, {key: wanted}))


def _lock(site_id: int) -> None:
    """Lock the site's row, so that of two changes at once neither is lost. What refers to the site can be stored
    meanwhile."""
    db.session.execute(select(Site.id).where(Site.id == site_id).with_for_update(key_share=True))


def _store_changes(author: Author, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Store settings, record the changes in the activity log and return the titles of what changed."""
    changed = change_settings(author.site_id, values)
    if changed:
        titles = " and ".join(TITLES[key] for key in changed)
        before = {key: old for key, (old, _) in changed.items()}
        after = {key: new for key, (_, new) in changed.items()}
        activity.record(author, "settings.seo", ("settings", "seo"), f"Changed {titles}", before, after)
    return tuple(TITLES[key] for key in changed)


def _tracking_problems(tracking: Sequence[str], filters: Collection[str]) -> list[Problem]:
    return [
        Problem("parameter_in_use", f"“{name[:60]}” filters products here, so it cannot be ignored.", "#/tracking")
        for name in tracking
        if name in filters
    ]


def _page_problems(skipped: Collection[str], pointer: str) -> list[Problem]:
    """Return the problem of skipping the page number: later pages of a list are indexable, so robots.txt must not keep
    bots away from them."""
    if PAGE_PARAMETER not in skipped:
        return []
    message = f"“{PAGE_PARAMETER}” is the page number: search engines must read those pages."
    return [Problem("page_parameter", message, pointer)]


def _list_problems(names: Sequence[str], pointer: str) -> list[Problem]:
    problems = [
        Problem("invalid_parameter", f"“{name[:60]}” cannot be the name of a parameter.", pointer)
        for name in names
        if not PARAMETER.fullmatch(name) or len(name) > LONGEST_NAME
    ]
    return problems + _count_problems(names, pointer)


def _count_problems(names: Sequence[str], pointer: str) -> list[Problem]:
    if len(names) <= MOST_PARAMETERS:
        return []
    message = f"At most {MOST_PARAMETERS} parameters can be named; these are {len(names)}."
    return [Problem("too_many_parameters", message, pointer)]

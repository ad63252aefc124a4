"""What a site decides for its pages in search engines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.search.listings.listing_parameters import LONGEST_NAME
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem
from app.domain.sites import audit
from app.domain.sites.settings import SETTINGS, change_settings, settings_of

LEAST_PRODUCTS = "facet-landing-min-products"
STALE_COUNTS = "facet-landing-stale-counts"
DROP_CANONICAL = "seo-drop-canonical-on-noindex"
TRACKING = "seo-extra-tracking-parameters"
SKIPPED = "seo-robots-skipped-parameters"
MOST_PARAMETERS = 50
MOST_PRODUCTS = 10_000
LISTING_PARAMETERS = frozenset(("q", "p", "sort", "pageSizeOverride", "price_min", "price_max"))
TITLES = {
    LEAST_PRODUCTS: "products for a landing page",
    STALE_COUNTS: "landing pages while search is away",
    DROP_CANONICAL: "the canonical of filtered pages",
    TRACKING: "tracking parameters",
    SKIPPED: "parameters that bots skip",
}
PARAMETER = re.compile(r"[A-Za-z0-9_.\-\[\]]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class SeoSettings:
    """`least_products` None is no number. `tracking` and `skipped` are names of parameters."""

    least_products: int | None
    stale_counts: bool
    drop_canonical: bool
    tracking: tuple[str, ...]
    skipped: tuple[str, ...]


def stored_settings(site_id: int) -> SeoSettings:
    stored = settings_of(site_id)
    return SeoSettings(
        stored[LEAST_PRODUCTS],
        stored[STALE_COUNTS],
        stored[DROP_CANONICAL],
        tuple(stored[TRACKING]),
        tuple(stored[SKIPPED]),
    )


def save(author: Author, wanted: SeoSettings, facets: Sequence[str]) -> tuple[str, ...]:
    """Return the settings that changed, in words. `facets` are those that listings can be filtered by, which cannot be
    tracking parameters. Raises Invalid with every problem."""
    if problems := setting_problems(wanted, facets):
        raise Invalid(problems)
    changed = change_settings(author.site_id, _stored_form(wanted))
    if changed:
        titles = " and ".join(TITLES[key] for key in changed)
        before = {key: old for key, (old, _) in changed.items()}
        after = {key: new for key, (_, new) in changed.items()}
        audit.record(author, "settings.seo", ("settings", "seo"), f"Changed {titles}", before, after)
    return tuple(TITLES[key] for key in changed)


def treat_as_tracking(author: Author, parameter: str, facets: Sequence[str], *, is_tracking: bool = True) -> bool:
    """Ignore a parameter in all addresses, or no more; whether that changed anything. Raises Invalid."""
    before = stored_settings(author.site_id)
    tracking = _with(before.tracking, parameter, is_in=is_tracking)
    return bool(save(author, replace(before, tracking=tracking), facets))


def skip_in_robots(author: Author, parameter: str, facets: Sequence[str], *, is_skipped: bool = True) -> bool:
    """Ask bots to skip addresses with a parameter, or no more; whether that changed anything. Raises Invalid."""
    before = stored_settings(author.site_id)
    skipped = _with(before.skipped, parameter, is_in=is_skipped)
    return bool(save(author, replace(before, skipped=skipped), facets))


def cleaned_parameters(text: str) -> tuple[str, ...]:
    """Return the names in a text, one a line or with commas or spaces between, each once."""
    return tuple(dict.fromkeys(re.split(r"[\s,]+", text.strip()))) if text.strip() else ()


def setting_problems(wanted: SeoSettings, facets: Sequence[str]) -> list[Problem]:
    least = wanted.least_products
    problems = []
    if least is None or not SETTINGS[LEAST_PRODUCTS].accepts(least) or least > MOST_PRODUCTS:
        message = f"Products for a landing page must be a whole number from 1 to {MOST_PRODUCTS:,}."
        problems.append(Problem("invalid_least_products", message, "#/leastProducts"))
    problems += _list_problems(wanted.tracking, "#/tracking")
    problems += _list_problems(wanted.skipped, "#/skipped")
    return problems + [
        Problem("parameter_in_use", f"“{name[:60]}” filters products here, so it cannot be ignored.", "#/tracking")
        for name in wanted.tracking
        if name in LISTING_PARAMETERS or name in facets
    ]


def _list_problems(names: Sequence[str], pointer: str) -> list[Problem]:
    problems = [
        Problem("invalid_parameter", f"“{name[:60]}” cannot be the name of a parameter.", pointer)
        for name in names
        if not PARAMETER.fullmatch(name) or len(name) > LONGEST_NAME
    ]
    if len(names) > MOST_PARAMETERS:
        message = f"At most {MOST_PARAMETERS} parameters can be named; these are {len(names)}."
        problems.append(Problem("too_many_parameters", message, pointer))
    return problems


def _with(names: Sequence[str], name: str, *, is_in: bool) -> tuple[str, ...]:
    others = tuple(other for other in names if other != name)
    return (*others, name) if is_in else others


def _stored_form(settings: SeoSettings) -> Mapping[str, Any]:
    return {
        LEAST_PRODUCTS: settings.least_products,
        STALE_COUNTS: settings.stale_counts,
        DROP_CANONICAL: settings.drop_canonical,
        TRACKING: list(settings.tracking),
        SKIPPED: list(settings.skipped),
    }

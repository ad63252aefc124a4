"""The landing pages that a category has now: pure functions of its rules and the live counts of its products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.domain.merchandising.tree import segment_of
from app.domain.seo.landing.rules import Rule
from app.domain.seo.landing.slugs import landing_slug


@dataclass(frozen=True, slots=True)
class FacetCounts:
    """The number of products of a category, and of those that carry each value of a facet."""

    total: int
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class LandingSubject:
    """The facts of a category that decide about its landing pages. `taken` are the slugs of its visible sub-categories;
    `categories` the two last steps of the addresses of those two below it, hidden ones too."""

    name: str
    path: str
    taken: frozenset[str]
    site_name: str
    least_products: int
    categories: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class LandingPage:
    """A landing page. `path` is `/c/<category path>/<segment>/<slug>`; `products` counts those that carry the value."""

    facet_id: str
    value: str
    segment: str
    slug: str
    path: str
    products: int
    heading: str
    title: str
    description: str
    intro: str


class WarningKind:
    """The reasons why a rule or a value has no page although it could have one."""

    SEGMENT_TAKEN = "segment_taken"
    EMPTY_SLUG = "empty_slug"
    SAME_SLUG = "same_slug"
    IS_CATEGORY = "is_category"


@dataclass(frozen=True, slots=True)
class LandingWarning:
    kind: str
    message: str


@dataclass(frozen=True)
class LandingPages:
    """The pages of a category, rule by rule, those with most products first. `is_counted` is false where the counts of
    a rule could not be fetched, so that its pages are missing."""

    pages: tuple[LandingPage, ...] = ()
    warnings: tuple[LandingWarning, ...] = ()
    is_counted: bool = True

    @cached_property
    def fingerprint(self) -> int:
        """A hash of the pages, for the keys of caches that hold links to them."""
        return hash(self.pages)

    @cached_property
    def by_address(self) -> Mapping[tuple[str, str], LandingPage]:
        return {(page.segment, page.slug): page for page in self.pages}

    @cached_property
    def by_value(self) -> Mapping[tuple[str, str], LandingPage]:
        return {(page.facet_id, page.value): page for page in self.pages}

    @cached_property
    def by_facet(self) -> Mapping[str, tuple[LandingPage, ...]]:
        facets = dict.fromkeys(page.facet_id for page in self.pages)
        return {facet: tuple(page for page in self.pages if page.facet_id == facet) for facet in facets}


def landing_pages(
    subject: LandingSubject, rules: Sequence[Rule], counts: Mapping[str, FacetCounts | None]
) -> LandingPages:
    """Return the pages of all rules. `counts` are by facet; a rule whose counts could not be fetched has no pages."""
    pages: list[LandingPage] = []
    warnings: list[LandingWarning] = []
    is_counted = True
    for rule in rules:
        counted = counts.get(rule["facetId"])
        segment = segment_of(rule)
        if segment in subject.taken:
            warnings.append(_segment_taken(subject, segment))
        elif counted is not None:
            pages += _pages_of(subject, rule, segment, counted, warnings)
        else:
            is_counted = False
    return LandingPages(tuple(pages), tuple(warnings), is_counted)


def eligible_values(rule: Rule, counted: FacetCounts, least: int) -> list[tuple[str, int]]:
    """Return the values that enough products carry, but not all of them, with their counts; most products first.
    Excluded values are left out."""
    excluded = excluded_values(rule, counted)
    found = [(value, count) for value, count in counted.values if least <= count < counted.total]
    return sorted((pair for pair in found if pair[0] not in excluded), key=lambda pair: (-pair[1], pair[0]))


def excluded_values(rule: Rule, counted: FacetCounts) -> frozenset[str]:
    """Return the values that have no page by their override."""
    return frozenset(value for value, override in overrides_of(rule, counted).items() if override.get("excluded"))


def overrides_of(rule: Rule, counted: FacetCounts) -> dict[str, Mapping[str, Any]]:
    """Return the rule's overrides by the values that they are for: the very value, or, where no product carries that,
    those that differ from it in case alone."""
    values = {value for value, _ in counted.values}
    exact = {override["value"]: override for override in rule.get("overrides", ())}
    loose = {value.casefold(): override for value, override in exact.items() if value not in values}
    found = ((value, exact.get(value) or loose.get(value.casefold())) for value in values)
    return {value: override for value, override in found if override}


def least_products(rule: Rule, site_default: int) -> int:
    return int(rule.get("minProducts") or site_default)


def _pages_of(
    subject: LandingSubject, rule: Rule, segment: str, counted: FacetCounts, warnings: list[LandingWarning]
) -> Iterator[LandingPage]:
    overrides = overrides_of(rule, counted)
    taken: dict[str, str] = {}
    for value, count in eligible_values(rule, counted, least_products(rule, subject.least_products)):
        slug = landing_slug(value)
        if (segment, slug) in subject.categories:
            warnings.append(_is_category(subject, value, f"{segment}/{slug}"))
        elif slug and slug not in taken:
            taken[slug] = value
            yield _page(subject, rule["facetId"], segment, (value, slug, count), overrides.get(value, {}))
        else:
            warnings.append(_no_slug(subject, value, taken.get(slug)))


def _page(
    subject: LandingSubject,
    facet_id: str,
    segment: str,
    of: tuple[str, str, int],
    override: Mapping[str, str],
) -> LandingPage:
    """Return the page, with the copy of the specification where the override has none of its own."""
    value, slug, count = of
    heading = override.get("heading") or f"{value} {subject.name}"
    intro = override.get("intro", "")
    return LandingPage(
        facet_id=facet_id,
        value=value,
        segment=segment,
        slug=slug,
        path=f"/c/{subject.path}/{segment}/{slug}",
        products=count,
        heading=heading,
        title=override.get("metaTitle") or f"{heading} | {subject.site_name}",
        description=override.get("metaDescription") or intro or _sentence(heading, subject.site_name, count),
        intro=intro,
    )


def _sentence(heading: str, site_name: str, count: int) -> str:
    return f"Shop {heading} at {site_name}: {count:,} {'product' if count == 1 else 'products'} to choose from."


def _segment_taken(subject: LandingSubject, segment: str) -> LandingWarning:
    message = (
        f"“{subject.name}” has a sub-category with the address “{segment}”, so the rule of this segment is skipped."
    )
    return LandingWarning(WarningKind.SEGMENT_TAKEN, message)


def _is_category(subject: LandingSubject, value: str, address: str) -> LandingWarning:
    """Return the warning that a hidden category has the address of a value: a real category always wins (spec)."""
    message = f"A hidden category has the address “{address}” below “{subject.name}”, so “{value}” gets no page."
    return LandingWarning(WarningKind.IS_CATEGORY, message)


def _no_slug(subject: LandingSubject, value: str, winner: str | None) -> LandingWarning:
    if winner is None:
        message = f"“{value}” in “{subject.name}” has no letter or digit for an address, so it gets no page."
        return LandingWarning(WarningKind.EMPTY_SLUG, message)
    message = f"“{value}” in “{subject.name}” has the same address as “{winner}”, which more products carry."
    return LandingWarning(WarningKind.SAME_SLUG, message)

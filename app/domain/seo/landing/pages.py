"""The landing pages that a category has now: pure functions of its rules and the live counts of its products; and the
addresses, links and redirects that lead to them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from app.domain.merchandising.tree import ShopNode, ShopTree, segment_of
from app.domain.search.listings.listing import ListingRequest
from app.domain.seo.landing.rules import Rule

LIGATURES = str.maketrans(
    {"æ": "ae", "œ": "oe", "ß": "ss", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ħ": "h", "ı": "i", "ŋ": "ng"}
)
NO_SLUG_CHARACTERS = re.compile(r"[^a-z0-9]+", re.ASCII)
KEPT = frozenset(("sort", "pageSizeOverride"))

LandingPagesOf = Callable[["ShopNode"], "LandingPages"]


def landing_slug(value: str) -> str:
    """Return the value in lower case without accents, other characters as single hyphens between; empty where nothing
    is left. Idempotent."""
    lower = unicodedata.normalize("NFKD", value).lower().translate(LIGATURES)
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(sign))
    return NO_SLUG_CHARACTERS.sub("-", plain).strip("-")


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
            message = (
                f"“{subject.name}” has a sub-category with the address “{segment}”, so the rule of this segment is "
                "skipped."
            )
            warnings.append(LandingWarning(WarningKind.SEGMENT_TAKEN, message))
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
        if (segment, slug) in subject.categories:  # Even a hidden category wins (spec).
            address = f"{segment}/{slug}"
            message = (
                f"A hidden category has the address “{address}” below “{subject.name}”, so “{value}” gets no page."
            )
            warnings.append(LandingWarning(WarningKind.IS_CATEGORY, message))
        elif slug and slug not in taken:
            taken[slug] = value
            yield _make_page(subject, rule["facetId"], segment, (value, slug, count), overrides.get(value, {}))
        else:
            warnings.append(_slug_warning(subject, value, taken.get(slug)))


def _make_page(
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
    counted = f"{count:,} {'product' if count == 1 else 'products'}"
    sentence = f"Shop {heading} at {subject.site_name}: {counted} to choose from."
    return LandingPage(
        facet_id=facet_id,
        value=value,
        segment=segment,
        slug=slug,
        path=f"/c/{subject.path}/{segment}/{slug}",
        products=count,
        heading=heading,
        title=override.get("metaTitle") or f"{heading} | {subject.site_name}",
        description=override.get("metaDescription") or intro or sentence,
        intro=intro,
    )


def _slug_warning(subject: LandingSubject, value: str, winner: str | None) -> LandingWarning:
    if winner is None:
        message = f"“{value}” in “{subject.name}” has no letter or digit for an address, so it gets no page."
        return LandingWarning(WarningKind.EMPTY_SLUG, message)
    message = f"“{value}” in “{subject.name}” has the same address as “{winner}”, which more products carry."
    return LandingWarning(WarningKind.SAME_SLUG, message)


@dataclass(frozen=True, slots=True)
class FoundLanding:
    """A landing page, its category, and all landing pages of that."""

    node: ShopNode
    page: LandingPage
    pages: LandingPages


def landing_at(tree: ShopTree, path: str, pages_of: LandingPagesOf) -> FoundLanding | None:
    """Return the landing page at `<category path>/<segment>/<slug>`, None where none is. Look for a category at the
    path first: a real category always wins."""
    parts = path.rsplit("/", 2)
    node = tree.at(parts[0]) if len(parts) == 3 else None
    if node is None:
        return None
    pages = pages_of(node)
    page = pages.by_address.get((parts[1], parts[2]))
    return FoundLanding(node, page, pages) if page else None


@dataclass(frozen=True, slots=True)
class LandingLinks:
    """The landing pages of a category as targets of links; its listing makes links with `address`."""

    pages: LandingPages

    def page_for(self, request: ListingRequest) -> LandingPage | None:
        """Return the landing page for a category's request that filters by one value and nothing else, None for any
        other."""
        if len(request.values) != 1 or request.words or request.spans or request.price or request.unknown:
            return None
        ((facet_id, values),) = request.values
        return self.pages.by_value.get((facet_id, values[0])) if len(values) == 1 else None

    def address(self, request: ListingRequest) -> str | None:
        """Return the address of the landing page for a request, with its order and page number."""
        page = self.page_for(request)
        return replace(request, path=page.path, values=()).url() if page else None

    def redirect(self, request: ListingRequest, tracking: Iterable[tuple[str, str]]) -> str | None:
        """Return the address to which a category's request with exactly one facet value is redirected for good: its
        landing page, with page number, order and tracking parameters kept (spec, "Landing page rendering", 3). None for
        any other request."""
        page = self.page_for(request)
        if page is None or not set(request.given) <= {page.facet_id, *KEPT}:
            return None
        address = replace(request, path=page.path, values=()).url()
        kept = urlencode(list(tracking))
        return f"{address}{'&' if '?' in address else '?'}{kept}" if kept else address


def as_category_request(page: LandingPage, request: ListingRequest) -> ListingRequest:
    """Return a request of the landing page's own address as one of its category, with the value chosen."""
    if page.value in request.chosen(page.facet_id):
        return request
    return replace(request.with_value(page.facet_id, page.value), page=request.page)

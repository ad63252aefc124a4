"""Landing pages of a category that show nearly the same products: search engines list one of them at best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, ValueFilter
from app.domain.seo.landing.overview import ALIKE
from app.domain.seo.landing.pages import LandingPage

MOST_COMPARED = 60  # Pages of a category, each a query that returns no products.


@dataclass(frozen=True, slots=True)
class NearTwins:
    """Two landing pages with almost the same products. `share` is the part of the products of both that both have."""

    one: LandingPage
    other: LandingPage
    share: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of landing pages. `is_whole` is false where there are more pages of alike sizes than are
    compared."""

    twins: tuple[NearTwins, ...]
    is_whole: bool


def compare(engine: SearchEngine, site_id: int, node_id: int, pages: Sequence[LandingPage]) -> Comparison:
    """Return the near-twins among the pages of a category. Raises SearchUnavailable."""
    partners = alike_in_size(pages)
    found: list[NearTwins] = []
    for page, others in partners[:MOST_COMPARED]:
        common = _in_common(engine, site_id, node_id, page, others)
        for other in others:
            share = share_in_common(page.products, other.products, common.get((other.facet_id, other.value), 0))
            if share > ALIKE:
                found.append(NearTwins(page, other, share))
    found.sort(key=lambda twins: -twins.share)
    return Comparison(tuple(found), len(partners) <= MOST_COMPARED)


def share_in_common(one: int, other: int, both: int) -> float:
    """Return the part of the products of two pages that both have. Their counts may be some minutes older than what
    they have in common, which then is more than all of them."""
    return both / max(one + other - both, both) if both else 0.0


def alike_in_size(pages: Sequence[LandingPage]) -> list[tuple[LandingPage, list[LandingPage]]]:
    """Return the pages that can have near-twins, each with the pages after it, of other facets, that have nearly as
    many products: so every pair is there once."""
    found = []
    for index, page in enumerate(pages):
        others = [other for other in pages[index + 1 :] if _is_alike_in_size(page, other)]
        if others:
            found.append((page, others))
    return found


def _is_alike_in_size(one: LandingPage, other: LandingPage) -> bool:
    smaller, larger = sorted((one.products, other.products))
    return one.facet_id != other.facet_id and smaller > ALIKE * larger


def _in_common(
    engine: SearchEngine, site_id: int, node_id: int, page: LandingPage, others: Sequence[LandingPage]
) -> dict[tuple[str, str], int]:
    """Return how many products of a page each value of the others' facets has."""
    facets = tuple(dict.fromkeys(other.facet_id for other in others))
    scope = (ValueFilter("category", (str(node_id),)), ValueFilter(page.facet_id, (page.value,)))
    request = SearchRequest(scope=scope, facets=facets, per_page=0, fresh=True)
    result = engine.search(site_id, IndexName.PRODUCTS, request)
    return {(facet, value): count for facet in facets for value, count in result.facets.get(facet, ())}

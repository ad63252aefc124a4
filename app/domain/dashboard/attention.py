"""What needs attention: search, orders, golden searches, products and their levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.domain.catalogue.queries import CatalogueCounts
from app.domain.delivery.deliveries import delivery_of
from app.domain.orders.listing import OVERDUE_AFTER, OrderFilter
from app.domain.relevance.golden import failing_searches
from app.domain.relevance.overview import Overview
from app.domain.taxonomy.products.worklist import incomplete_products, products_without_level
from app.domain.taxonomy.taxonomies import active_taxonomy


class Severity(StrEnum):
    """The severity of a finding: shoppers find nothing, something should be done, or it is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing that needs attention. `topic` is search, golden, orders, products or worklist; `stock`, `shown` and
    `completeness` are filters of the list of products that lead to it, `orders` that of the list of orders."""

    topic: str
    text: str
    severity: Severity = Severity.WARNING
    stock: str = ""
    shown: str = ""
    completeness: str = ""
    orders: str = ""


def needs_attention(
    site_id: int, counted: CatalogueCounts, search: Overview, orders: Mapping[OrderFilter, int]
) -> tuple[Attention, ...]:
    """Return what needs attention, the worst first. `orders` counts them by state; empty for users who may not see
    them."""
    found = (
        *_about_search(search),
        *_about_orders(site_id, orders),
        *_about_golden_searches(site_id),
        *_about_products(counted),
        *_about_levels(site_id),
    )
    return tuple(sorted(found, key=lambda item: list(Severity).index(item.severity)))


def _about_search(search: Overview) -> list[Attention]:
    if not search.is_set_up:
        return [Attention("search", "Search is not set up, so shoppers find nothing.", Severity.ERROR)]
    if search.was_never_built:
        never_built = "The search index was never built. Rebuild everything to open the shop."
        return [Attention("search", never_built, Severity.ERROR)]
    if not search.is_healthy:
        return [Attention("search", search.status.engine.error or "Search does not answer.", Severity.ERROR)]
    error = search.status.engine.error
    sentences = (search.backlog_warning, *search.stale_warnings, *search.status.advice)
    faults = [Attention("search", error, Severity.ERROR)] if error else []
    return faults + [Attention("search", sentence) for sentence in sentences if sentence]


def _about_orders(site_id: int, orders: Mapping[OrderFilter, int]) -> list[Attention]:
    waiting, overdue = orders.get(OrderFilter.SUBMITTED, 0), orders.get(OrderFilter.OVERDUE, 0)
    paid = orders.get(OrderFilter.UNSUBMITTED, 0)
    found = []
    if paid:
        baskets = (
            "1 basket is paid and is no order yet." if paid == 1 else f"{paid:,} baskets are paid and no orders yet."
        )
        found.append(Attention("orders", baskets, Severity.ERROR, orders="unsubmitted"))
    if waiting:
        for_long = f", {overdue:,} of them for over {OVERDUE_AFTER.days} days" if overdue else ""
        wait = "1 order awaits" if waiting == 1 else f"{waiting:,} orders await"
        what = "collection or delivery" if delivery_of(site_id).methods else "collection"
        found.append(Attention("orders", f"{wait} {what}{for_long}.", orders="submitted"))
    return found


def _about_golden_searches(site_id: int) -> list[Attention]:
    failing = failing_searches(site_id)
    words = "1 golden search fails" if failing == 1 else f"{failing:,} golden searches fail"
    return [Attention("golden", f"{words}: the product is not among the first.")] if failing else []


def _about_products(counted: CatalogueCounts) -> list[Attention]:
    found = []
    if counted.products_shown + counted.products_hidden == 0:
        found.append(Attention("products", "There are no products yet. Add the first, or import a bundle."))
    if counted.sold_out:
        found.append(
            Attention("products", f"{_products_are(counted.sold_out)} sold out.", stock="out", shown="enabled")
        )
    if counted.products_hidden:
        found.append(
            Attention(
                "products",
                f"{_products_are(counted.products_hidden)} hidden from the shop.",
                Severity.NOTE,
                shown="disabled",
            )
        )
    return found


def _about_levels(site_id: int) -> list[Attention]:
    """Return what needs attention in the levels of products; empty without an active taxonomy."""
    if not active_taxonomy(site_id):
        return []
    found = []
    if without := products_without_level(site_id):
        have = "1 product has" if without == 1 else f"{without:,} products have"
        found.append(Attention("products", f"{have} no level.", completeness="unclassified"))
    if missing := incomplete_products(site_id):
        miss = "1 product misses" if missing == 1 else f"{missing:,} products miss"
        found.append(Attention("worklist", f"{miss} attributes that the level asks for.", Severity.NOTE))
    return found


def _products_are(number: int) -> str:
    return "1 product is" if number == 1 else f"{number:,} products are"

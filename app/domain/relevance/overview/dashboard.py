"""The dashboard of the admin: how much there is, whether search is well, what wants a look."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.domain.catalogue.counts import CatalogueCounts, counts
from app.domain.relevance.overview.overview import Overview, overview
from app.domain.search.engine import SearchEngine
from app.domain.shared.clock import Clock
from app.domain.taxonomy.products.classification import active_taxonomy
from app.domain.taxonomy.products.worklist import incomplete_products


class Severity(StrEnum):
    """The severity of a finding: shoppers find nothing, something should be done, or it is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Attention:
    """One thing to look at. `topic` is search, products or worklist; `stock` and `shown` narrow the list of products
    to those that are meant."""

    topic: str
    text: str
    severity: Severity = Severity.WARNING
    stock: str = ""
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Dashboard:
    counts: CatalogueCounts
    search: Overview
    attention: tuple[Attention, ...]


def dashboard(clock: Clock, engine: SearchEngine, site_id: int) -> Dashboard:
    counted = counts(site_id)
    search = overview(clock, engine, site_id)
    attention = (*_about_search(search), *_about_products(counted), *_about_attributes(site_id))
    return Dashboard(counted, search, attention)


def _about_search(search: Overview) -> list[Attention]:
    if not search.is_set_up:
        return [Attention("search", "Search is not set up, so shoppers find nothing.", Severity.ERROR)]
    if search.was_never_built:
        never_built = "The search index was never built. Rebuild everything to open the shop."
        return [Attention("search", never_built, Severity.ERROR)]
    if not search.is_healthy:
        return [Attention("search", search.status.engine.error or "Search does not answer.", Severity.ERROR)]
    sentences = (search.backlog_warning, *search.status.advice)
    return [Attention("search", sentence) for sentence in sentences if sentence]


def _about_products(counted: CatalogueCounts) -> list[Attention]:
    found = []
    if counted.products_shown + counted.products_hidden == 0:
        found.append(Attention("products", "There are no products yet. Add the first, or import a bundle."))
    if counted.sold_out:
        found.append(Attention("products", f"{_products(counted.sold_out)} sold out.", stock="out", shown="enabled"))
    if counted.products_hidden:
        found.append(
            Attention(
                "products",
                f"{_products(counted.products_hidden)} hidden from the shop.",
                Severity.NOTE,
                shown="disabled",
            )
        )
    return found


def _about_attributes(site_id: int) -> list[Attention]:
    missing = incomplete_products(site_id) if active_taxonomy(site_id) else 0
    words = "1 product misses" if missing == 1 else f"{missing:,} products miss"
    return [Attention("worklist", f"{words} attributes that the level asks for.", Severity.NOTE)] if missing else []


def _products(number: int) -> str:
    return "1 product is" if number == 1 else f"{number:,} products are"

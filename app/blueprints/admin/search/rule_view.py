"""What stands beside the editor of a rule: its preview as lists of before and after, as a grid of pictures in which
products are pinned and buried, or as the page that shoppers would see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flask_login import current_user
from werkzeug.datastructures import MultiDict

from app import ports
from app.blueprints.admin.forms import sent_number
from app.blueprints.admin.product_order import LAYOUTS, LIST, SHOP, layout_of
from app.blueprints.storefront.listing_previews import drawn_search
from app.domain.catalogue.queries import ProductRow, products_by_sku
from app.domain.merchandising.shop import read_shop
from app.domain.orders.sales import units_sold
from app.domain.relevance.previews import Preview
from app.domain.relevance.proposals import RuleProposal
from app.domain.relevance.rule_definition import LAST_POSITION
from app.domain.relevance.rule_places import LOOKED_THROUGH, RulePlace, rule_places
from app.domain.relevance.trials import start_trial

SHOWN, MOST_SHOWN = 24, 96  # Products of the grid, and as many again with each “Show more”.


@dataclass(frozen=True, slots=True)
class RuleCard:
    """A product of the grid. `place` is None for a buried one that is not among those shown; `position` is the one at
    which the rule pins it."""

    product: ProductRow
    place: RulePlace | None
    position: int | None
    sold: int

    @property
    def number(self) -> int:
        return self.place.place if self.place is not None else 0

    @property
    def is_new(self) -> bool:
        """Whether the product is not among the first results without the rule."""
        return self.place is not None and self.place.margin is None

    @property
    def margin(self) -> int:
        return (self.place.margin or 0) if self.place is not None else 0

    @property
    def is_pinned_elsewhere(self) -> bool:
        return self.place is not None and self.place.is_pinned and self.position is None


def rule_view(preview: Preview, sent: MultiDict[str, str]) -> dict[str, Any]:
    """Return what the templates show of the preview of a rule in the layout that is sent, for the search `of` where the
    rule has several. Raises SearchUnavailable."""
    layout, searches = layout_of(sent.get("layout", "")), [comparison.words for comparison in preview.comparisons]
    view: dict[str, Any] = {"layout": layout, "layouts": LAYOUTS, "searches": searches}
    if layout == LIST or not searches or not isinstance(preview.proposal, RuleProposal):
        return view
    words = sent.get("of", "") if sent.get("of") in searches else searches[0]
    view["words"] = words
    if layout == SHOP:
        return view | {"shop_page": _shop_page(preview.proposal, words)}
    return view | _grid(preview.proposal, words, min(sent_number(sent.get("shown", "")) or SHOWN, MOST_SHOWN))


def _shop_page(proposal: RuleProposal, words: str) -> str:
    site_id = current_user.site_id
    with start_trial(ports.search_engine(), site_id, proposal, ports.clock().now()) as trial:
        return drawn_search(read_shop(site_id), words, trial.changed, trial.now)


def _grid(proposal: RuleProposal, words: str, most: int) -> dict[str, Any]:
    """Return the products of a search with the rule as cards, those that it buries by themselves."""
    site_id, rule = current_user.site_id, proposal.rule
    found = rule_places(ports.search_engine(), ports.clock(), site_id, proposal, words, most)
    places = {place.sku: place for place in found.places}
    skus = dict.fromkeys((*places, *rule.buries))
    rows = products_by_sku(site_id, list(skus))
    sold = units_sold(site_id, [row.id for row in rows.values()])
    positions = {pin.sku: pin.position for pin in rule.pins}

    def cards(wanted: Iterable[str]) -> list[RuleCard]:
        known = (rows[sku] for sku in wanted if sku in rows)
        return [RuleCard(row, places.get(row.sku), positions.get(row.sku), sold.get(row.id, 0)) for row in known]

    return {
        "found": found,
        "cards": cards(sku for sku in places if sku not in rule.buries),
        "buried": cards(rule.buries),
        "shown": most,
        "further": min(most + SHOWN, MOST_SHOWN) if most < min(found.total, MOST_SHOWN) else 0,
        "looked_through": LOOKED_THROUGH,
        "last_position": LAST_POSITION,
    }

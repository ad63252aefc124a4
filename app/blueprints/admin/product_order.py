"""Products in an order made by hand, as the form of a category or a collection holds them: moved, pinned, taken out,
undone, and shown as a list, as a grid or as shoppers see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import sent_ids, sent_number
from app.domain.catalogue.content import move_product
from app.domain.catalogue.queries import ProductRow, products_by_id
from app.domain.orders.sales import units_sold

MOVES = ("add", "remove", "up", "down", "top", "end", "place")
PRODUCT_ACTIONS = (*MOVES, "undo", "show", "more")
GRID, LIST, SHOP = "grid", "list", "shop"  # The last is the page that shoppers see, as it is saved.
LAYOUTS = ((LIST, "List"), (GRID, "Grid"), (SHOP, "As shoppers see it"))
FURTHER = 24  # Products behind those in order that the grid shows, and as many again with each “Show more”.
MOST_FURTHER = 1_200


@dataclass(frozen=True, slots=True)
class GridCard:
    """A product of the grid. `place` is counted from 1, as shoppers see it, None where they do not; `margin` is how
    many places it stands further to the front than without the order by hand, negative for further back, None where
    that is not known."""

    product: ProductRow
    in_order: bool
    place: int | None
    margin: int | None
    sold: int


@dataclass(frozen=True, slots=True)
class ProductOrder:
    """The products of a form. `before` are those before the latest step, None where nothing can be undone; `now` those
    that the page was made with, since what is dragged stands elsewhere already when the form is sent; `further` is how
    many of the products behind them the grid shows."""

    ids: tuple[int, ...] = ()
    before: tuple[int, ...] | None = None
    now: tuple[int, ...] | None = None
    layout: str = LIST
    further: int = FURTHER

    @classmethod
    def sent(cls, sent: MultiDict[str, str]) -> Self:
        return cls(
            tuple(dict.fromkeys(sent_ids(sent, "product"))),
            _ids_in(sent.get("productsBefore")),
            _ids_in(sent.get("productsNow")),
            layout_of(sent.get("layout", "")),
            min(sent_number(sent.get("further", "")) or FURTHER, MOST_FURTHER),
        )

    def shown(self, layout: str) -> ProductOrder:
        return replace(self, layout=layout_of(layout))

    def address(self, page: str) -> str:
        """Return the address of the form's page that shows the products in the same way."""
        return page if self.layout == LIST else f"{page}?show={self.layout}"

    def after(self, action: str, number: str) -> ProductOrder:
        """Return the products after a button was pressed: `add:7`, `add:7 8` for several, `remove:7`, `up:7`,
        `down:7`, `top:7`, `end:7`, `place:2:7` for the place 2, counted from 0; `undo`, `show:grid`, `more`."""
        if action == "undo":
            return self if self.before is None else replace(self, ids=self.before, before=None)
        if action == "show":
            return self.shown(number)
        if action == "more":
            return replace(self, further=min(self.further + FURTHER, MOST_FURTHER))
        before = self.ids if self.now is None else self.now
        if action == "add" and (added := _ids_in(number)):
            return replace(self, ids=tuple(dict.fromkeys((*self.ids, *added))), before=before)
        place, _, product = number.rpartition(":")
        product_id = sent_number(product)
        if product_id is None or action not in MOVES or action == "add":
            return self
        return replace(self, ids=_after_move(self.ids, action, product_id, sent_number(place)), before=before)

    def pinned_last(self, intent: str) -> int | None:
        """Return the id of the product whose button “Pin last” was pressed, which it has no more; else None."""
        return self.ids[-1] if intent.startswith("end:") and self.ids else None

    def listed(self, site_id: int, order_without_hand: Callable[[], Sequence[int]]) -> dict[str, Any]:
        """Return what the templates show: the `rows` of the products, and for the grid its `cards` and how many
        products `behind` are not shown yet."""
        if self.layout != GRID:
            return {"rows": products_by_id(site_id, self.ids), "cards": (), "behind": 0}
        placed, without_hand = set(self.ids), order_without_hand()
        behind = [product_id for product_id in without_hand if product_id not in placed]
        shown = behind[: self.further]
        found = products_by_id(site_id, (*self.ids, *shown))
        cards = _cards(found, placed, without_hand, units_sold(site_id, [row.id for row in found]))
        rows = [row for row in found if row.id in placed]
        return {"rows": rows, "cards": cards, "behind": len(behind) - len(shown)}


def layout_of(text: str) -> str:
    """Return the layout of that name, the list for any other text."""
    return text if text in dict(LAYOUTS) else LIST


def _cards(
    rows: Sequence[ProductRow], placed: set[int], without_hand: Sequence[int], sold: Mapping[int, int]
) -> list[GridCard]:
    by_itself = {product_id: place for place, product_id in enumerate(without_hand, 1)}
    cards, place = [], 0
    for row in rows:
        place += row.enabled
        margin = by_itself[row.id] - place if row.enabled and row.id in by_itself else None
        cards.append(GridCard(row, row.id in placed, place if row.enabled else None, margin, sold.get(row.id, 0)))
    return cards


def _ids_in(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(number for word in text.split() if (number := sent_number(word)) is not None)


def _after_move(ids: Sequence[int], action: str, product_id: int, place: int | None) -> tuple[int, ...]:
    """Return the order after a move; a product that is not in it yet is pinned where it is moved to."""
    if action == "remove":
        return tuple(other for other in ids if other != product_id)
    if action in ("up", "down"):
        return move_product(ids, product_id, -1 if action == "up" else 1)
    there = tuple(dict.fromkeys((*ids, product_id)))
    if action == "end":
        return move_product(there, product_id, len(there))
    if action == "place" and place is None:
        return tuple(ids)
    return move_product(there, product_id, (place or 0) - there.index(product_id))


def news_of(intent: str, rows: Sequence[ProductRow]) -> str:
    """Return what a screen reader says after a button of the products was pressed; empty where the page says it."""
    action, _, number = intent.partition(":")
    if action == "undo":
        return "The last step is undone."
    if action == "add" and len(added := _ids_in(number) or ()) > 1:
        return f"{len(added)} products are in the list, {len(rows)} in all."
    product_id = sent_number(number.rpartition(":")[2])
    if action == "remove":
        return "Taken out of the order."
    place = next((place for place, row in enumerate(rows, 1) if row.id == product_id), None)
    if action not in MOVES or place is None:
        return ""
    return f"{rows[place - 1].name} is at place {place} of {len(rows)}."

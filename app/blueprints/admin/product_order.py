"""Products in an order made by hand, as the form of a category or a collection holds them: moved, pinned, taken out,
buried in a category, undone, and shown as a list, as a grid or as shoppers see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import sent_ids, sent_number
from app.domain.catalogue.content import move_product
from app.domain.catalogue.queries import ProductRow, products_by_id
from app.domain.merchandising.categories import buried_last
from app.domain.orders.sales import units_sold

MOVES = ("add", "remove", "up", "down", "top", "end", "place")
BURYING = ("bury", "unbury")
PRODUCT_ACTIONS = (*MOVES, *BURYING, "undo", "show", "more")
GRID, LIST, SHOP = "grid", "list", "shop"  # The last is the page that shoppers see, as it is saved.
LAYOUTS = ((LIST, "List"), (GRID, "Grid"), (SHOP, "As shoppers see it"))
FURTHER = 24  # Products behind those in order that are shown, and as many again with each “Show more”.
MOST_FURTHER = 1_200
MOST_COMPARED = 5_000  # Products whose place without the order by hand is known.


@dataclass(frozen=True, slots=True)
class GridCard:
    """A product of the grid. `place` is counted from 1, as shoppers see it, None where they do not; `margin` is how
    many places it stands further to the front than without the order by hand, negative for further back, None where
    that is not known. `is_held`: the category holds it; a buried product may have left it."""

    product: ProductRow
    in_order: bool
    place: int | None
    margin: int | None
    sold: int
    is_held: bool = True


@dataclass(frozen=True, slots=True)
class ProductOrder:
    """The products of a form: `ids` are those placed by hand, in their order, `buried` those that stand last; one that
    is both stands behind the others of `ids`. `before` and `buried_before` are those before the latest step, None where
    nothing can be undone; `now` those that the page was made with, since what is dragged stands elsewhere already when
    the form is sent; `further` is how many of the products behind them are shown."""

    ids: tuple[int, ...] = ()
    buried: tuple[int, ...] = ()
    before: tuple[int, ...] | None = None
    buried_before: tuple[int, ...] = ()
    now: tuple[int, ...] | None = None
    layout: str = LIST
    further: int = FURTHER

    @classmethod
    def sent(cls, sent: MultiDict[str, str]) -> Self:
        buried = tuple(dict.fromkeys(sent_ids(sent, "buried")))
        return cls(
            buried_last(tuple(dict.fromkeys(sent_ids(sent, "product"))), buried),
            buried,
            _ids_in(sent.get("productsBefore")),
            _ids_in(sent.get("buriedBefore")) or (),
            _ids_in(sent.get("productsNow")),
            layout_of(sent.get("layout", "")),
            min(sent_number(sent.get("further", "")) or FURTHER, MOST_FURTHER),
        )

    @property
    def in_order(self) -> tuple[int, ...]:
        """The ids of the products that are shown first, in their order."""
        return _without(self.ids, self.buried)

    def shown(self, layout: str) -> ProductOrder:
        return replace(self, layout=layout_of(layout))

    def address(self, page: str) -> str:
        """Return the address of the form's page that shows the products in the same way."""
        return page if self.layout == LIST else f"{page}?show={self.layout}"

    def after(self, action: str, number: str) -> ProductOrder:
        """Return the products after a button was pressed: `add:7`, `add:7 8` for several, `remove:7`, `up:7`,
        `down:7`, `top:7`, `end:7`, `place:2:7` for the place 2, counted from 0; `bury:7`, `unbury:7`; `undo`,
        `show:grid`, `more`. What is added or moved is no longer buried."""
        if action == "show":
            return self.shown(number)
        if action == "more":
            return replace(self, further=min(self.further + FURTHER, MOST_FURTHER))
        if action != "undo":
            return self._after_step(action, number)
        if self.before is None:
            return self
        return replace(self, ids=self.before, buried=self.buried_before, before=None, buried_before=())

    def _after_step(self, action: str, number: str) -> ProductOrder:
        if action == "add" and (added := _ids_in(number)):
            there = tuple(dict.fromkeys((*self.in_order, *added, *self.ids)))
            return self._changed_to(there, _without(self.buried, added))
        place, _, product = number.rpartition(":")
        product_id = sent_number(product)
        if product_id is None or action not in (*MOVES, *BURYING) or action == "add":
            return self
        buried = _without(self.buried, (product_id,))
        if action == "bury":
            return self._changed_to(self.ids, (*buried, product_id))
        if action == "unbury":
            return self._changed_to(self.ids, buried)
        moved = _after_move(self.in_order, action, product_id, sent_number(place))
        return self._changed_to((*moved, *_without(self.ids, (*self.in_order, product_id))), buried)

    def _changed_to(self, ids: tuple[int, ...], buried: tuple[int, ...]) -> ProductOrder:
        before = self.ids if self.now is None else self.now
        return replace(self, ids=buried_last(ids, buried), buried=buried, before=before, buried_before=self.buried)

    def pinned_last(self, intent: str) -> int | None:
        """Return the id of the product whose button “Pin last” was pressed, which it has no more; else None."""
        return self.in_order[-1] if intent.startswith("end:") and self.in_order else None

    def listed(self, site_id: int, order_without_hand: Callable[[], Sequence[int]]) -> dict[str, Any]:
        """Return what the templates show: the `rows` of the products in order, the first `loose_rows` of those `behind`
        them, which the category has by itself, the `buried_rows`, of which `kept_rows` are placed by hand, and for the
        grid its `cards` and the `buried_cards`. So many products are `not_shown` yet; `is_whole` is whether no more are
        `behind` than are known."""
        without_hand = order_without_hand() if self.layout != SHOP else ()
        behind = _without(without_hand, (*self.in_order, *self.buried))
        shown = behind[: self.further]
        found = {row.id: row for row in products_by_id(site_id, (*self.in_order, *shown, *self.buried))}
        rows, loose, buried, kept = (
            [found[id] for id in ids if id in found]
            for ids in (self.in_order, shown, self.buried, _without(self.ids, self.in_order))
        )
        listed = {"rows": rows, "loose_rows": loose, "buried_rows": buried, "kept_rows": kept, "behind": len(behind)}
        listed |= {"cards": (), "buried_cards": (), "not_shown": len(behind) - len(shown)}
        listed["is_whole"] = len(without_hand) < MOST_COMPARED
        if self.layout != GRID:
            return listed
        sold, ahead = units_sold(site_id, list(found)), sum(row.enabled for row in rows) + len(behind)
        return listed | {
            "cards": _cards([*rows, *loose], set(self.in_order), without_hand, sold),
            "buried_cards": _buried_cards(buried, ahead, set(self.ids), without_hand, sold),
        }


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


def _buried_cards(
    rows: Sequence[ProductRow], ahead: int, placed: set[int], without_hand: Sequence[int], sold: Mapping[int, int]
) -> list[GridCard]:
    """Return the cards of what is buried, behind so many products `ahead`, in the order in which shoppers see it; then
    what they do not see, or only once the form is saved."""
    by_itself = {product_id: place for place, product_id in enumerate(without_hand, 1)}
    is_whole = len(without_hand) < MOST_COMPARED
    cards = []
    for place, row in enumerate(sorted(rows, key=lambda row: by_itself.get(row.id, len(without_hand) + 1)), ahead + 1):
        known = place if is_whole and row.id in by_itself else None
        margin = by_itself[row.id] - known if known is not None else None
        is_held = row.id in placed or row.id in by_itself or not is_whole
        cards.append(GridCard(row, False, known, margin, sold.get(row.id, 0), is_held))
    return cards


def _without(ids: Sequence[int], others: Sequence[int]) -> tuple[int, ...]:
    left_out = set(others)
    return tuple(product_id for product_id in ids if product_id not in left_out)


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


def news_of(intent: str, rows: Sequence[ProductRow], buried: Sequence[ProductRow] = ()) -> str:
    """Return what a screen reader says after a button of the products was pressed; empty where the page says it."""
    action, _, number = intent.partition(":")
    if action == "undo":
        return "The last step is undone."
    if action == "add" and len(added := _ids_in(number) or ()) > 1:
        return f"{len(added)} products are in the list, {len(rows)} in all."
    product_id = sent_number(number.rpartition(":")[2])
    if action == "remove":
        return "Taken out of the order."
    if action == "bury":
        return next((f"{row.name} is buried." for row in buried if row.id == product_id), "")
    if action == "unbury":
        return "It is no longer buried."
    place = next((place for place, row in enumerate(rows, 1) if row.id == product_id), None)
    if action not in MOVES or place is None:
        return ""
    return f"{rows[place - 1].name} is at place {place} of {len(rows)}."

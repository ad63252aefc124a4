"""What a list of products in the admin may ask: pure, read from the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlencode

Choice = TypeVar("Choice", bound=StrEnum)

LONGEST_WORDS = 200
LAST_PAGE = 100_000
PAGE_SIZE = 50


class Shown(StrEnum):
    """Which products by whether shoppers see them."""

    ALL = ""
    ENABLED = "enabled"
    DISABLED = "disabled"


class Stock(StrEnum):
    """Which products by their own stock; UNCOUNTED always sells."""

    ALL = ""
    IN = "in"
    OUT = "out"
    UNCOUNTED = "uncounted"


class Order(StrEnum):
    """Orders of the list. CHANGED puts the latest change first."""

    CHANGED = "changed"
    NAME = "name"
    SKU = "sku"
    PRICE = "price"
    PRICE_DOWN = "-price"
    STOCK = "stock"


@dataclass(frozen=True, slots=True)
class ProductList:
    """One page of products as an address asks for it. What an address says wrongly counts as not said."""

    words: str = ""
    shown: Shown = Shown.ALL
    stock: Stock = Stock.ALL
    manufacturer: str = ""
    level_id: str = ""
    order: Order = Order.CHANGED
    page: int = 1

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> ProductList:
        return cls(
            words=" ".join(parameters.get("q", "")[:LONGEST_WORDS].replace("\0", "").split()),
            shown=_one_of(Shown, parameters.get("shown"), Shown.ALL),
            stock=_one_of(Stock, parameters.get("stock"), Stock.ALL),
            manufacturer=parameters.get("manufacturer", "")[:LONGEST_WORDS].replace("\0", "").strip(),
            level_id=parameters.get("level", "")[:LONGEST_WORDS].replace("\0", ""),
            order=_one_of(Order, parameters.get("sort"), Order.CHANGED),
            page=page_number(parameters.get("p")),
        )

    @property
    def is_filtered(self) -> bool:
        return self != ProductList(order=self.order, page=self.page)

    def query(self, **changes: object) -> str:
        """The query string of this list with changes; a changed filter or order begins at the first page again."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        parameters = {
            "q": changed.words,
            "shown": changed.shown,
            "stock": changed.stock,
            "manufacturer": changed.manufacturer,
            "level": changed.level_id,
            "sort": "" if changed.order is Order.CHANGED else changed.order,
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})


def page_number(text: str | None) -> int:
    """1 for what is no page number."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 7:
        return 1
    return max(1, min(int(text), LAST_PAGE))


def _one_of(choices: type[Choice], text: str | None, default: Choice) -> Choice:
    return next((choice for choice in choices if choice.value == text), default)

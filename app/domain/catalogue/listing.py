"""Filters of a list of products in the admin: pure, read from the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

Choice = TypeVar("Choice", bound=StrEnum)

LONGEST_WORDS = 200
LONGEST_VALUE = 1_000
MOST_FIELDS = 100
LAST_PAGE = 100_000
PAGE_SIZE = 50
LARGEST_PAGE = 100


class Shown(StrEnum):
    """A filter of products by whether shoppers see them."""

    ALL = ""
    ENABLED = "enabled"
    DISABLED = "disabled"


class Stock(StrEnum):
    """A filter of products by their own stock; UNCOUNTED always sells."""

    ALL = ""
    IN = "in"
    OUT = "out"
    UNCOUNTED = "uncounted"


class Completeness(StrEnum):
    """A filter of products by what is known about them. UNCLASSIFIED have no level; GONE one that the active taxonomy
    has not any more."""

    ALL = ""
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    UNCLASSIFIED = "unclassified"
    GONE = "gone"


class ProductOrder(StrEnum):
    """Orders of the list. CHANGED puts the latest change first."""

    CHANGED = "changed"
    NAME = "name"
    SKU = "sku"
    PRICE = "price"
    PRICE_DOWN = "-price"
    STOCK = "stock"


@dataclass(frozen=True, slots=True)
class ProductList:
    """The query of one page of products, read from an address. What is invalid in an address is ignored. `missing` is
    an attribute that applies to a product and has no value; `attribute` is one that has the `value`, any where that is
    empty."""

    words: str = ""
    shown: Shown = Shown.ALL
    stock: Stock = Stock.ALL
    manufacturer: str = ""
    level_id: str = ""
    completeness: Completeness = Completeness.ALL
    missing: str = ""
    attribute: str = ""
    value: str = ""
    order: ProductOrder = ProductOrder.CHANGED
    page: int = 1

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> ProductList:
        return cls(
            words=" ".join(parameters.get("q", "")[:LONGEST_WORDS].replace("\0", "").split()),
            shown=_one_of(Shown, parameters.get("shown"), Shown.ALL),
            stock=_one_of(Stock, parameters.get("stock"), Stock.ALL),
            manufacturer=_text(parameters, "manufacturer").strip(),
            level_id=_text(parameters, "level"),
            completeness=_one_of(Completeness, parameters.get("completeness"), Completeness.ALL),
            missing=_text(parameters, "missing"),
            attribute=_text(parameters, "attribute"),
            value=_text(parameters, "value", LONGEST_VALUE) if _text(parameters, "attribute") else "",
            order=_one_of(ProductOrder, parameters.get("sort"), ProductOrder.CHANGED),
            page=page_number(parameters.get("p")),
        )

    @classmethod
    def parse(cls, query: str) -> ProductList:
        """Return the list of a query string, such as `query` makes."""
        return cls.read(dict(parse_qsl(query, max_num_fields=MOST_FIELDS)))

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
            "completeness": changed.completeness,
            "missing": changed.missing,
            "attribute": changed.attribute,
            "value": changed.value,
            "sort": "" if changed.order is ProductOrder.CHANGED else changed.order,
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})


def page_number(text: str | None) -> int:
    """Return the number of a page; 1 for what is no page number, and LAST_PAGE, which no list reaches, for any further
    one."""
    return max(1, min(_whole_number(text, 1), LAST_PAGE))


def page_size(text: str | None) -> int:
    """Return the size of a page, 1 to LARGEST_PAGE; PAGE_SIZE for what is no number."""
    return max(1, min(_whole_number(text, PAGE_SIZE), LARGEST_PAGE))


def _whole_number(text: str | None, default: int) -> int:
    """Return the number that a text of ASCII digits is, up to 9,999,999, and the default for any other text."""
    if not (text and text.isascii() and text.isdigit()):
        return default
    return int(text) if len(text) <= 7 else 9_999_999


def _text(parameters: Mapping[str, str], name: str, longest: int = LONGEST_WORDS) -> str:
    return parameters.get(name, "")[:longest].replace("\0", "")


def _one_of(choices: type[Choice], text: str | None, default: Choice) -> Choice:
    return next((choice for choice in choices if choice.value == text), default)

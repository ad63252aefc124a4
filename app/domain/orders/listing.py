"""Filters of a list of orders in the admin: pure, read from the address of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from urllib.parse import urlencode

from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.shared.addresses import day_in

OVERDUE_AFTER = timedelta(days=14)
ORDER_WORD = re.compile(r"^orders?\s+(no\.?\s*)?(?=#?\d)", re.IGNORECASE)


class OrderFilter(StrEnum):
    """The filter of a list of orders. READY and OVERDUE are no statuses of their own: orders awaiting collection that
    are ready, and those that wait for longer than OVERDUE_AFTER. UNSUBMITTED are baskets that were paid and are no
    orders yet, unless the payment was refunded."""

    ALL = ""
    SUBMITTED = "SUBMITTED"
    READY = "READY"
    OVERDUE = "OVERDUE"
    UNSUBMITTED = "UNSUBMITTED"
    COLLECTED = "COLLECTED"
    CANCELLED = "CANCELLED"


class Channel(StrEnum):
    """The channel of an order, as a filter."""

    ANY = ""
    WEB = "WEB"
    POS = "POS"


def order_number(typed: str) -> int | None:
    """Return the order number that was typed, as 84, #84 or “order 84”; None for any other text."""
    digits = ORDER_WORD.sub("", typed).removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


@dataclass(frozen=True, slots=True)
class OrderList:
    """The filters and page of a list of orders, as a query string requests them. Invalid values are ignored. `first`
    and `last` are days of the shop's time zone, both included, between which orders were placed."""

    words: str = ""
    status: OrderFilter = OrderFilter.ALL
    page: int = 1
    channel: Channel = Channel.ANY
    first: date | None = None
    last: date | None = None

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> OrderList:
        status, channel = parameters.get("status", "").upper(), parameters.get("channel", "").upper()
        return cls(
            words=" ".join(parameters.get("q", "")[:LONGEST_WORDS].replace("\0", "").split()),
            status=next((one for one in OrderFilter if one.value == status), OrderFilter.ALL),
            page=page_number(parameters.get("p")),
            channel=next((one for one in Channel if one.value == channel), Channel.ANY),
            first=day_in(parameters.get("from")),
            last=day_in(parameters.get("to")),
        )

    @property
    def has_days(self) -> bool:
        return self.first is not None or self.last is not None

    @property
    def number(self) -> int | None:
        """The order number that was typed."""
        return order_number(self.words)

    def query(self, **changes: object) -> str:
        """Return the query string of this list with changes; a changed filter begins at the first page again."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        parameters = {
            "q": changed.words,
            "status": changed.status.lower(),
            "channel": changed.channel.lower(),
            "from": changed.first,
            "to": changed.last,
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})

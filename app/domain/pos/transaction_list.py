"""Filters of a list of transactions in the admin: pure, read from the address of the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any, TypeVar
from urllib.parse import urlencode

from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.shared.addresses import day_in, id_in, reversed_days
from app.domain.shared.card_numbers import names_card
from app.domain.shared.problems import Problem

LABELS = {
    "from": "From",
    "to": "To",
    "status": "Status",
    "agent": "Agent",
    "location": "Location",
    "type": "Type",
    "tender": "Paid with",
}
Filter = TypeVar("Filter", bound=StrEnum)


class StatusFilter(StrEnum):
    """The filter of payments by status. ANOMALY is no status of its own: it finds the payments that staff must look
    at."""

    ALL = ""
    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    AUTHORIZED = "AUTHORIZED"
    SUCCEEDED = "SUCCEEDED"
    PARTIALLY_REFUNDED = "PARTIALLY_REFUNDED"
    REFUNDED = "REFUNDED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"
    UNKNOWN = "UNKNOWN"
    ANOMALY = "ANOMALY"


class TypeFilter(StrEnum):
    ALL = ""
    QUICK_PAYMENT = "QUICK_PAYMENT"
    ORDER_PAYMENT = "ORDER_PAYMENT"


class TenderFilter(StrEnum):
    ALL = ""
    CARD = "CARD"
    CASH = "CASH"


@dataclass(frozen=True, slots=True)
class TransactionList:
    """The filters and page of a list of transactions, as a query string requests them. An invalid value filters nothing
    and is named in `problems`. Days are those of the shop's time zone, both included. `names_card`: the words were the
    number of a card, and are dropped."""

    words: str = ""
    first: date | None = None
    last: date | None = None
    status: StatusFilter = StatusFilter.ALL
    agent_id: int | None = None
    location_id: int | None = None
    type: TypeFilter = TypeFilter.ALL
    tender: TenderFilter = TenderFilter.ALL
    page: int = 1
    names_card: bool = False
    problems: tuple[Problem, ...] = ()

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> TransactionList:
        words = " ".join(parameters.get("q", "")[:LONGEST_WORDS].replace("\0", "").split())
        is_card = names_card(words)
        read: dict[str, Any] = {
            "from": day_in(parameters.get("from")),
            "to": day_in(parameters.get("to")),
            "status": _one_of(StatusFilter, parameters.get("status")),
            "agent": id_in(parameters.get("agent")),
            "location": id_in(parameters.get("location")),
            "type": _one_of(TypeFilter, parameters.get("type")),
            "tender": _one_of(TenderFilter, parameters.get("tender")),
        }
        first, last = read["from"], read["to"]
        return cls(
            words="" if is_card else words,
            first=first,
            last=last,
            status=read["status"] or StatusFilter.ALL,
            agent_id=read["agent"],
            location_id=read["location"],
            type=read["type"] or TypeFilter.ALL,
            tender=read["tender"] or TenderFilter.ALL,
            page=page_number(parameters.get("p")),
            names_card=is_card,
            problems=(*_unreadable(parameters, read), *reversed_days(first, last)),
        )

    @property
    def is_filtered(self) -> bool:
        return replace(self, page=1, names_card=False, problems=()) != TransactionList()

    def query(self, **changes: object) -> str:
        """Return the query string of this list with changes; a changed filter begins at the first page again."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        parameters = {
            "q": changed.words,
            "from": changed.first,
            "to": changed.last,
            "status": changed.status.lower(),
            "agent": changed.agent_id,
            "location": changed.location_id,
            "type": changed.type.lower(),
            "tender": changed.tender.lower(),
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})


def _unreadable(parameters: Mapping[str, str], read: Mapping[str, object]) -> Iterator[Problem]:
    for name, value in read.items():
        if value is None and (text := parameters.get(name, "")):
            shown = "that" if names_card(text) else f"“{text[:40]}”"
            yield Problem("invalid_filter", f"{LABELS[name]}: {shown} cannot be looked for.", f"#/{name}")


def _one_of(kind: type[Filter], text: str | None) -> Filter | None:
    return next((one for one in kind if text and one.value == text.upper()), None)

"""The list request of synonyms, parsed from the address of the page. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlencode

from app.domain.catalogue.listing import LONGEST_WORDS, PAGE_SIZE, page_number, page_size
from app.domain.search.serving.synonyms import SynonymType

Choice = TypeVar("Choice", bound=StrEnum)


class StatusFilter(StrEnum):
    """ANY is for programs: the page shows one status at a time."""

    ANY = ""
    LIVE = "LIVE"
    SUGGESTED = "SUGGESTED"
    REJECTED = "REJECTED"


class SynonymOrder(StrEnum):
    """CHANGED puts the latest change first."""

    CHANGED = "changed"
    WORD = "word"


@dataclass(frozen=True, slots=True)
class SynonymList:
    """The parameters of a page of synonyms; invalid ones of an address get their defaults. `type` None is every type;
    `waiting` keeps only those that are saved and not live yet."""

    words: str = ""
    type: SynonymType | None = None
    status: StatusFilter = StatusFilter.LIVE
    waiting: bool = False
    order: SynonymOrder = SynonymOrder.CHANGED
    page: int = 1
    page_size: int = PAGE_SIZE

    @classmethod
    def read(cls, parameters: Mapping[str, str], status: StatusFilter = StatusFilter.LIVE) -> SynonymList:
        """Read a list from the parameters of an address. `status` is what holds where the address names none."""
        return cls(
            words=" ".join(parameters.get("q", "")[:LONGEST_WORDS].replace("\0", "").split()),
            type=next((kind for kind in SynonymType if kind.value == parameters.get("type")), None),
            status=_one_of(StatusFilter, parameters.get("status"), status),
            waiting=parameters.get("live") == "no",
            order=_one_of(SynonymOrder, parameters.get("sort"), SynonymOrder.CHANGED),
            page=page_number(parameters.get("pageNumber") or parameters.get("p")),
            page_size=page_size(parameters.get("pageSize")),
        )

    @property
    def types(self) -> tuple[SynonymType, ...]:
        """The types that there are, to choose from."""
        return tuple(SynonymType)

    @property
    def is_filtered(self) -> bool:
        return bool(self.words or self.type or self.waiting)

    def query(self, **changes: object) -> str:
        """The query string of this list with changes; a changed filter or order begins at the first page again."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        parameters = {
            "q": changed.words,
            "type": changed.type or "",
            "status": "" if changed.status is StatusFilter.LIVE else changed.status,
            "live": "no" if changed.waiting else "",
            "sort": "" if changed.order is SynonymOrder.CHANGED else changed.order,
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})


def _one_of(choices: type[Choice], text: str | None, default: Choice) -> Choice:
    return next((choice for choice in choices if choice.value == text), default)

"""Pages of lists, as tools take and answer them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.domain.shared.paging import Paged
from app.mcp.arguments import Answer

LAST_PAGE = 1_000_000
LARGEST_PAGE = 100

PageNumber = Annotated[int, Field(ge=1, le=LAST_PAGE, description="Which page of the list, from 1.")]
PageSize = Annotated[int, Field(ge=1, le=LARGEST_PAGE, description=f"How many a page has, {LARGEST_PAGE} at most.")]


class PagingShape(Answer):
    page_number: int
    page_size: int
    total_items: int
    total_pages: int


def paging_of(page: Paged[Any]) -> PagingShape:
    return PagingShape(
        page_number=page.page_number,
        page_size=page.page_size,
        total_items=page.total_items,
        total_pages=page.total_pages,
    )

"""The tool of redirects."""

from __future__ import annotations

from functools import partial
from typing import Literal

from pydantic import Field

from app import ports
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.seo.landing.pages import LandingPagesOf
from app.domain.seo.models import Redirect
from app.domain.seo.redirects import stored_redirects
from app.domain.seo.redirects.live_pages import live_among
from app.domain.seo.redirects.rules import FROM, TO, Source
from app.domain.seo.redirects.stored_redirects import (
    LONGEST_WORDS,
    RedirectDraft,
    RedirectFilter,
    RedirectRow,
    listed_redirect,
)
from app.domain.shared.addresses import lookup_id
from app.domain.shared.clock import rfc3339
from app.domain.shared.problems import Invalid, Problem
from app.mcp.arguments import Answer, DryRun, PageNumber, PageSize, PagingShape, WriteArguments, paging_of
from app.mcp.registry import Call, reads, tool, writes
from app.web.permissions import Permission

LONGEST = 500
POINTERS = {FROM: "#/oldAddress", TO: "#/newAddress"}  # The places of problems, by what the shop calls them.


class RedirectArguments(WriteArguments):
    action: Literal["list", "add", "edit", "delete"] = Field(
        description=(
            "list (takes words, source, pageNumber and pageSize): answer redirects, the latest first. add (needs "
            "oldAddress and newAddress): redirect an address without a page. edit (needs id, revision, oldAddress and "
            "newAddress): change a redirect. delete (needs id and revision): the old address answers 404 then."
        )
    )
    id: str | None = Field(default=None, max_length=20, description="For edit and delete: the id of the redirect.")
    revision: int | None = Field(
        default=None,
        description="For edit and delete: that of the redirect as you read it. One that changed since is refused.",
    )
    old_address: str | None = Field(
        default=None,
        max_length=LONGEST,
        description="A path of this shop that has no page, such as “/shop/tents.html”, without parameters.",
    )
    new_address: str | None = Field(
        default=None,
        max_length=LONGEST,
        description="A path of this shop, such as “/c/tents”, or an address elsewhere that begins with “https://”.",
    )
    words: str | None = Field(default=None, max_length=LONGEST_WORDS, description="For list: only those with this.")
    source: Literal[
        "product", "category", "page", "collection", "landing", "person", "table", "bundle", "agent", "ANY"
    ] = Field(default="ANY", description="For list: only those that this left behind.")
    page_number: PageNumber = 1
    page_size: PageSize = 50


class RedirectShape(Answer):
    id: str | None = Field(description="Null for one that a dry run only tried to make.")
    old_address: str
    new_address: str
    reach: str = Field(description="page: the address alone. below, together: its landing pages as well.")
    source: str
    updated_by: str
    updated_at: str
    revision: int
    rests: bool = Field(description="True while a page has the old address, which shoppers see instead.")


class RedirectsAnswer(Answer):
    redirects: list[RedirectShape] = Field(description="For list those that fit, else the one concerned.")
    paging: PagingShape | None = Field(description="For list.")
    deleted: str | None = Field(description="For delete: the old address.")
    changed: bool
    dry_run: DryRun


@tool(
    "manageRedirects",
    "Redirects of old addresses",
    Permission.MANAGE_MERCHANDISING,
    {
        "list": reads(takes=("words", "source", "pageNumber", "pageSize")),
        "add": writes("oldAddress", "newAddress"),
        "edit": writes("id", "revision", "oldAddress", "newAddress"),
        "delete": writes("id", "revision"),
    },
    is_destructive=True,
    is_idempotent=False,
)
def manage_redirects(call: Call, sent: RedirectArguments) -> RedirectsAnswer:
    """Read and change where addresses lead that have no page any more. Changing the address of a product, category,
    page or collection leaves a redirect by itself. A page that exists always wins. Redirects never form chains: one
    that leads to another redirect is stored as where that one ends."""
    match sent.action:
        case "list":
            return _listed(call, sent)
        case "delete":
            old = stored_redirects.remove(call.author, lookup_id(sent.id), sent.revision or 0)
            return RedirectsAnswer(redirects=[], paging=None, deleted=old, changed=True, dry_run=call.dry_run)
    try:
        return _saved(call, sent)
    except Invalid as invalid:
        named = [Problem(one.code, one.message, POINTERS.get(one.pointer, one.pointer)) for one in invalid.problems]
        raise Invalid(named) from None


def _saved(call: Call, sent: RedirectArguments) -> RedirectsAnswer:
    """Add a redirect or change one. Raises NotFound, StaleRevision, Invalid."""
    draft = RedirectDraft(sent.old_address or "", sent.new_address or "")
    if sent.action == "add":
        row = stored_redirects.add(call.author, *_shop(call), draft, Source.AGENT)
        return _one(call, row, changed=True, is_tried=call.dry_run)
    known = lookup_id(sent.id), sent.revision or 0
    row, changed = stored_redirects.save(call.author, *_shop(call), *known, draft, Source.AGENT)
    return _one(call, row, changed=changed)


def _shop(call: Call) -> tuple[Shop, LandingPagesOf]:
    shop = read_shop(call.site_id)
    return shop, partial(ports.landing_directory().of, ports.search_engine(), ports.clock(), shop)


def _listed(call: Call, sent: RedirectArguments) -> RedirectsAnswer:
    filters = RedirectFilter(
        " ".join((sent.words or "").split()), None if sent.source == "ANY" else Source(sent.source)
    )
    found = stored_redirects.list_redirects(*_shop(call), filters, sent.page_number, sent.page_size)
    shapes = [_shape(row) for row in found.items]
    return RedirectsAnswer(redirects=shapes, paging=paging_of(found), deleted=None, changed=False, dry_run=call.dry_run)


def _one(call: Call, row: Redirect, *, changed: bool, is_tried: bool = False) -> RedirectsAnswer:
    """Return the answer about one redirect. `is_tried`: a dry run made it, so its id is left out."""
    shape = _shape(listed_redirect(row, bool(live_among(*_shop(call), [row.old_path]))))
    shapes = [shape.model_copy(update={"id": None}) if is_tried else shape]
    return RedirectsAnswer(redirects=shapes, paging=None, deleted=None, changed=changed, dry_run=call.dry_run)


def _shape(row: RedirectRow) -> RedirectShape:
    return RedirectShape(
        id=str(row.id),
        old_address=row.old_path,
        new_address=row.to.address,
        reach=row.to.reach.value,
        source=row.source.value,
        updated_by=row.updated_by,
        updated_at=rfc3339(row.updated_at),
        revision=row.revision,
        rests=row.rests,
    )

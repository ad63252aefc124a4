"""The redirects of a site as they are stored: looked up for an address without a page, listed, added, changed and
deleted by people, and left behind by what moves. Call what writes within a transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

import structlog
from sqlalchemy import delete, func, or_, select, update

from app.domain.catalogue.revisions import check_revision
from app.domain.merchandising.shop import Shop
from app.domain.seo.landing.pages import LandingPagesOf
from app.domain.seo.models import Redirect
from app.domain.seo.redirects.live_pages import live_among
from app.domain.seo.redirects.rules import (
    FROM,
    MOST_REDIRECTS,
    Destination,
    Reach,
    Source,
    ends,
    joined,
    leads_back,
    looked_up,
    normal_path,
    old_path_problems,
    read_destination,
    step_from,
    with_moves,
)
from app.domain.shared.author import Author
from app.domain.shared.paging import STATEMENT_VALUES, Paged, batched
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.records import containing, count_rows, existing, find_record, upsert
from app.domain.sites import activity
from app.domain.sites.models import Domain, Site
from app.extensions import db

PAGE_SIZE = 50
LONGEST_WORDS = 200
MOST_STEPS = 5  # From one address to its page; only landing pages of categories that moved more than once need several.
KEY = ("site_id", "old_path")
KEPT = (*KEY, "revision")  # Columns that a redirect of the same old address keeps.
MISSING = "There is no such redirect on this site."
FOLLOWED = "followed"  # Old addresses of redirects that changed with another one, in its entry of the activity log.
HITS, LAST_HIT_ON = "hits", "last_hit_on"  # In the entry of a deleted redirect.
MOST_LOGGED = 100

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Follower:
    """Where the visitors of an address without a page are sent, by the redirect of `old_path`."""

    to: Destination
    old_path: str
    source: Source
    since: datetime
    redirect_id: int = 0


def redirect_at(shop: Shop, pages_of: LandingPagesOf, path: str) -> Follower | None:
    """Return where an address that has no page leads; None where no redirect is for it, in one statement. A page that
    exists wins over every redirect, and a redirect for the pages below an address leads only to pages that exist. Where
    redirects lead in a circle, none is for its addresses."""
    path = normal_path(path)
    if "\0" in path:  # PostgreSQL takes no text with it.
        return None
    found: Follower | None = None
    first: Redirect | None = None
    query = ""
    visited = {path}
    for _ in range(MOST_STEPS):
        rows = _rows_at(shop.site_id, looked_up(path))
        step = step_from(path, {old: _destination(row) for old, row in rows.items()})
        if step is None or (first is None and live_among(shop, pages_of, [path])):
            return found
        first = first or rows[step.old_path]
        query = joined(step.to.query, query)
        follower = Follower(
            replace(step.to, query=query), first.old_path, Source(first.source), first.updated_at, first.id
        )
        path = step.to.path
        if path in visited:
            return None
        visited.add(path)
        if step.to.is_elsewhere or live_among(shop, pages_of, [path]):
            return follower
        found = follower if step.is_sure else found
    return found


def _rows_at(site_id: int, paths: Sequence[str]) -> dict[str, Redirect]:
    query = select(Redirect).where(Redirect.site_id == site_id, Redirect.old_path.in_(paths))
    return {row.old_path: row for row in db.session.scalars(query)}


def _destination(row: Redirect) -> Destination:
    return Destination(row.new_path, row.new_query, Reach(row.reach))


@dataclass(frozen=True, slots=True)
class RedirectDraft:
    """A redirect as it was typed."""

    old: str
    new: str

    @classmethod
    def of(cls, row: Redirect) -> RedirectDraft:
        return cls(row.old_path, _destination(row).address)


@dataclass(frozen=True, slots=True)
class RedirectFilter:
    """A filter of the list; no `source` shows all. An unknown one filters nothing."""

    words: str = ""
    source: Source | None = None

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> RedirectFilter:
        words = " ".join(parameters.get("q", "")[:LONGEST_WORDS].replace("\0", "").split())
        return cls(words, next((one for one in Source if one.value == parameters.get("source")), None))

    @property
    def is_filtered(self) -> bool:
        return self != RedirectFilter()

    def query(self, page_number: int = 1) -> str:
        found = {"q": self.words, "source": self.source, "p": page_number if page_number > 1 else ""}
        return urlencode({name: str(value) for name, value in found.items() if value})


@dataclass(frozen=True, slots=True)
class RedirectRow:
    """A redirect in the list. `rests`: a page has the old address now, so visitors see that instead."""

    id: int
    old_path: str
    to: Destination
    source: Source
    updated_by: str
    updated_at: datetime
    revision: int
    hits: int = 0
    last_hit_on: date | None = None
    rests: bool = False


def list_redirects(
    shop: Shop, pages_of: LandingPagesOf, filters: RedirectFilter, page_number: int, page_size: int = PAGE_SIZE
) -> Paged[RedirectRow]:
    """Return a page of the redirects that the filter finds, the latest first."""
    query = select(Redirect).where(Redirect.site_id == shop.site_id)
    if filters.words:
        columns = Redirect.old_path, Redirect.new_path, Redirect.updated_by
        query = query.where(or_(*(containing(column, filters.words) for column in columns)))
    if filters.source is not None:
        query = query.where(Redirect.source == filters.source.value)
    total = count_rows(query)
    latest = query.order_by(Redirect.updated_at.desc(), Redirect.id.desc())
    rows = db.session.scalars(latest.limit(page_size).offset((page_number - 1) * page_size)).all()
    live = live_among(shop, pages_of, [row.old_path for row in rows])
    return Paged([listed_redirect(row, row.old_path in live) for row in rows], page_number, page_size, total)


def listed_redirect(row: Redirect, rests: bool) -> RedirectRow:
    place = _destination(row)
    made = row.updated_by, row.updated_at, row.revision
    return RedirectRow(row.id, row.old_path, place, Source(row.source), *made, row.hits, row.last_hit_on, rests)


def every_redirect(site_id: int) -> Iterable[tuple[str, Destination]]:
    """Yield the redirects of a site, by their old paths."""
    last = ""
    query = select(Redirect).where(Redirect.site_id == site_id).order_by(Redirect.old_path).limit(STATEMENT_VALUES)
    while rows := db.session.scalars(query.where(Redirect.old_path > last)).all():
        yield from ((row.old_path, _destination(row)) for row in rows)
        last = rows[-1].old_path


def redirect_of(site_id: int, redirect_id: int, to_change: bool = False) -> Redirect:
    """Return a redirect. Raises NotFound."""
    return existing(find_record(Redirect, site_id, redirect_id, to_change), MISSING)


def add(author: Author, shop: Shop, pages_of: LandingPagesOf, draft: RedirectDraft, source: Source) -> Redirect:
    """Add a redirect. One whose new address is itself redirected leads to where that one ends, and those that led to
    its old address lead on with it. Raises Invalid with every problem."""
    row, followed = _store(author, shop, pages_of, draft, source, Reach.PAGE)
    _note_added(author, row, followed)
    return row


def restore(
    author: Author,
    shop: Shop,
    pages_of: LandingPagesOf,
    redirect_id: int,
    values: Mapping[str, Any],
) -> Redirect:
    """Add a deleted redirect again, with the id and the values that the activity log has of it. Raises Invalid with
    every problem."""
    draft = RedirectDraft(values["from"], values["to"])
    row, followed = _store(author, shop, pages_of, draft, Source(values["source"]), Reach(values["reach"]))
    last_hit_on = values.get(LAST_HIT_ON)
    row.id, row.hits = redirect_id, values.get(HITS, 0)
    row.last_hit_on = date.fromisoformat(last_hit_on) if last_hit_on else None
    db.session.flush()
    _note_added(author, row, followed)
    return row


def _store(
    author: Author,
    shop: Shop,
    pages_of: LandingPagesOf,
    draft: RedirectDraft,
    source: Source,
    reach: Reach,
) -> tuple[Redirect, list[str]]:
    """Store a new redirect; return it and the old addresses of the others that changed with it."""
    lock(author.site_id)
    old, place = _check_draft(author.site_id, shop, pages_of, draft, None, reach)
    followed = store_moves(author.site_id, {old: place}, source, author.name, author.now())
    return _rows_at(author.site_id, [old])[old], followed


def _note_added(author: Author, row: Redirect, followed: Sequence[str]) -> None:
    after = {"from": row.old_path, "to": _destination(row).address} | _logged_followers(followed)
    activity.record(author, "redirect.create", ("redirect", str(row.id)), f"Redirected {row.old_path}", after=after)


def _logged_followers(followed: Sequence[str]) -> dict[str, Any]:
    """Return the redirects that changed with another, as the activity log has them; nothing where none did."""
    return {FOLLOWED: list(followed[:MOST_LOGGED])} if followed else {}


def logged_redirect(row: Redirect) -> dict[str, Any]:
    """Return all of a redirect as the activity log has it."""
    return {"from": row.old_path, "to": _destination(row).address, "reach": row.reach, "source": row.source}


def save(
    author: Author,
    shop: Shop,
    pages_of: LandingPagesOf,
    redirect_id: int,
    revision: int,
    draft: RedirectDraft,
    source: Source = Source.PERSON,
) -> tuple[Redirect, bool]:
    """Change a redirect that was read at `revision`; return it and whether it differs now. Raises NotFound,
    StaleRevision, Invalid."""
    lock(author.site_id)
    row = redirect_of(author.site_id, redirect_id, to_change=True)
    check_revision(author.site_id, ("redirect", row.id), row.revision, revision)
    before = RedirectDraft.of(row)
    old, place = _check_draft(author.site_id, shop, pages_of, draft, row, Reach(row.reach))
    if (old, place) == (row.old_path, _destination(row)):
        return row, False
    row.old_path, row.new_path, row.new_query = old, place.path, place.query
    row.reach, row.source = place.reach.value, source.value
    row.updated_by, row.updated_at, row.revision = author.name[:100], author.now(), row.revision + 1
    db.session.flush()
    followed = _follow(author.site_id, {old: place})
    after = {"from": old, "to": place.address} | _logged_followers(followed)
    stored = {"from": before.old, "to": before.new}
    activity.record(author, "redirect.save", ("redirect", str(row.id)), f"Changed the redirect of {old}", stored, after)
    return row, True


def remove(author: Author, redirect_id: int, revision: int | None = None) -> str:
    """Delete a redirect, so that its old address answers 404, and return that. Raises NotFound, StaleRevision."""
    row = redirect_of(author.site_id, redirect_id, to_change=True)
    if revision is not None:
        check_revision(author.site_id, ("redirect", row.id), row.revision, revision)
    last_hit_on = row.last_hit_on.isoformat() if row.last_hit_on else None
    old, before = row.old_path, logged_redirect(row) | {HITS: row.hits, LAST_HIT_ON: last_hit_on}
    db.session.delete(row)
    activity.record(author, "redirect.delete", ("redirect", str(redirect_id)), f"Deleted the redirect of {old}", before)
    return old


def _check_draft(
    site_id: int,
    shop: Shop,
    pages_of: LandingPagesOf,
    draft: RedirectDraft,
    own: Redirect | None,
    reach: Reach,
) -> tuple[str, Destination]:
    """Return the old path and where it leads in the end. Raises Invalid with every problem."""
    old = normal_path(draft.old.strip()) if draft.old.strip().startswith("/") else draft.old.strip()
    place, problems = read_destination(draft.new, hosts_of(site_id), reach)
    found = old_path_problems(old) if old else [Problem("required", "The old address is missing.", FROM)]
    if not found:
        found = _stored_problems(site_id, shop, pages_of, old, own)
    if not problems and not found:
        place, problems = _end_of(site_id, shop, pages_of, old, place)
    if found or problems:
        raise Invalid([*found, *problems])
    return old, place


def _stored_problems(
    site_id: int, shop: Shop, pages_of: LandingPagesOf, old: str, own: Redirect | None
) -> list[Problem]:
    """Return what is wrong with an old path beside what is stored: a page there, or another redirect from it."""
    if live_among(shop, pages_of, [old]):
        message = f"{old} has a page, which shoppers see instead of any redirect. Change the page’s address first."
        return [Problem("page_exists", message, FROM)]
    row = _rows_at(site_id, [old]).get(old)
    if row is not None and row is not own:
        message = f"{old} is redirected already, to {_destination(row).address}. Change that redirect instead."
        return [Problem("redirect_exists", message, FROM)]
    if own is None and count_of(site_id) >= MOST_REDIRECTS:
        return [Problem("too_many_redirects", f"A shop has at most {MOST_REDIRECTS:,} redirects.", FROM)]
    return []


def _end_of(
    site_id: int, shop: Shop, pages_of: LandingPagesOf, old: str, place: Destination
) -> tuple[Destination, list[Problem]]:
    """Return where a new redirect leads in the end, and the problem of leading back."""
    further, reached = redirects_ahead(site_id, {old: place})
    end = ends({old: place}, further, live_among(shop, pages_of, reached))[old]
    return (end, []) if end is not None else (place, [leads_back(old, place)])


def hosts_of(site_id: int) -> set[str]:
    """Return the hosts of a site, whose addresses count as paths."""
    return set(db.session.scalars(select(Domain.host).where(Domain.site_id == site_id)))


def count_of(site_id: int) -> int:
    return db.session.scalar(select(func.count()).where(Redirect.site_id == site_id)) or 0


def lock(site_id: int) -> None:
    """Lock the site's row, so that of two changes at once none makes a chain with the other."""
    db.session.execute(select(Site.id).where(Site.id == site_id).with_for_update(key_share=True))


def drop_at(site_id: int, paths: Collection[str]) -> None:
    """Drop the redirects of addresses that have a page now."""
    for batch in batched(paths):
        db.session.execute(delete(Redirect).where(Redirect.site_id == site_id, Redirect.old_path.in_(batch)))


def store_moves(
    site_id: int, moves: Mapping[str, Destination], source: Source | Mapping[str, Source], by: str, at: datetime
) -> list[str]:
    """Store the redirects that pages leave behind which moved all at once; return the old addresses of the others that
    changed with them. Of a site with MOST_REDIRECTS none is added and the shop goes on: its visitors get 404, as they
    would without any."""
    before = redirects_around(site_id, moves)
    after = with_moves(before, moves)
    drop_at(site_id, [old for old in before if old not in after])
    _follow_rows(site_id, before, {old: after[old] for old in before if old in after and old not in moves})
    added = [old for old in after if old in moves or old not in before]
    room = MOST_REDIRECTS - count_of(site_id) + sum(old in before for old in added) if added else 0
    if len(added) > room:
        log.warning("redirects_full", site=site_id, left_out=len(added) - max(room, 0))
    for batch in batched(added[: max(room, 0)]):
        rows = [_columns(site_id, old, after[old], _source(source, old), by, at) for old in batch]
        statement = upsert(Redirect)
        changed = {name: statement.excluded[name] for name in rows[0] if name not in KEPT}
        changed["revision"] = Redirect.revision + 1
        db.session.execute(statement.on_conflict_do_update(index_elements=list(KEY), set_=changed), rows)
    return _changed_with(moves, before, after)


def _changed_with(
    moves: Mapping[str, Destination], before: Mapping[str, Destination], after: Mapping[str, Destination]
) -> list[str]:
    others = {*before, *after} - moves.keys()
    return sorted(old for old in others if before.get(old) != after.get(old))


def _source(source: Source | Mapping[str, Source], old: str) -> Source:
    return source if isinstance(source, Source) else source.get(old, Source.LANDING)


def _columns(site_id: int, old: str, place: Destination, source: Source, by: str, at: datetime) -> dict[str, Any]:
    return {
        "site_id": site_id,
        "old_path": old,
        "new_path": place.path,
        "new_query": place.query,
        "reach": place.reach.value,
        "source": source.value,
        "updated_by": by[:100],
        "updated_at": at,
        "revision": 1,
    }


def redirects_around(site_id: int, moves: Mapping[str, Destination]) -> dict[str, Destination]:
    """Return the stored redirects that begin or end at an address of the moves; where categories move, also all that
    are for pages below an address."""
    paths = dict.fromkeys([*moves, *(place.path for place in moves.values())])
    around = [or_(Redirect.old_path.in_(batch), Redirect.new_path.in_(batch)) for batch in batched(paths)]
    if any(place.reach is Reach.BELOW for place in moves.values()):
        around.append(Redirect.reach != Reach.PAGE.value)
    columns = Redirect.old_path, Redirect.new_path, Redirect.new_query, Redirect.reach
    found: dict[str, Destination] = {}
    for condition in around:
        for old, path, query, reach in db.session.execute(
            select(*columns).where(Redirect.site_id == site_id, condition)
        ):
            found[old] = Destination(path, query, Reach(reach))
    return found


def redirects_ahead(site_id: int, moves: Mapping[str, Destination]) -> tuple[dict[str, Destination], set[str]]:
    """Return the stored redirects that may send the visitors of the new addresses of moves further, and all addresses
    that these reach, in one statement for each step and 500 old paths."""
    found: dict[str, Destination] = {}
    looked: set[str] = set()
    reached: set[str] = set()
    ahead = {place.path for place in moves.values() if not place.is_elsewhere}
    for _ in range(MOST_STEPS):
        reached |= ahead
        olds = {old for path in ahead for old in looked_up(path)} - looked
        for batch in batched(sorted(olds)):
            found.update((old, _destination(row)) for old, row in _rows_at(site_id, batch).items())
        looked |= olds
        known = {**found, **moves}
        steps = (step_from(path, known) for path in ahead)
        ahead = {step.to.path for step in steps if step is not None and not step.to.is_elsewhere} - reached
    return found, reached | ahead


def _follow(site_id: int, moves: Mapping[str, Destination]) -> list[str]:
    """Let what led to the old addresses of stored redirects lead to their new ones; return the old addresses of what
    changed."""
    before = {old: place for old, place in redirects_around(site_id, moves).items() if old not in moves}
    after = with_moves(before, moves)
    drop_at(site_id, [old for old in before if old not in after])
    _follow_rows(site_id, before, {old: after[old] for old in before if old in after})
    return _changed_with(moves, before, after)


def _follow_rows(site_id: int, before: Mapping[str, Destination], after: Mapping[str, Destination]) -> None:
    for old, place in after.items():
        if place != before[old]:
            columns = {"new_path": place.path, "new_query": place.query, "revision": Redirect.revision + 1}
            row = update(Redirect).where(Redirect.site_id == site_id, Redirect.old_path == old)
            db.session.execute(row.values(**columns), execution_options={"synchronize_session": False})

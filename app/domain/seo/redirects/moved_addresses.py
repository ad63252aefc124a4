"""Redirects that a changed address leaves behind. Listeners of the session note every product, category, page and
collection whose address changes, and every change of landing rules, so that no way of changing them can forget; before
the commit the redirects are written, in the same transaction. What is changed in bulk is noted by its writer, with
`note_moved`.

Whether one is left behind is the choice of the user who makes the change, else the site's setting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import event, inspect, select
from sqlalchemy.orm import Session, UOWTransaction

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.shop import FOLDERS
from app.domain.merchandising.tree import segment_of
from app.domain.merchandising.trees import primary_tree_id
from app.domain.seo.landing.rules import Rule, effective_rules
from app.domain.seo.redirects.rules import Destination, Reach, Source, segments_moved
from app.domain.seo.redirects.stored_redirects import drop_at, store_moves
from app.domain.shared.paging import batched
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import settings_of
from app.extensions import db

SETTING = "seo-redirect-changed-addresses"
_NOTED, _CHOICE = "moved_addresses", "redirects_moved_addresses"


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of record with an address, `folder` and the attribute that changes it."""

    source: Source
    folder: str
    attribute: str


_KINDS: Mapping[type[Any], _Kind] = {
    Product: _Kind(Source.PRODUCT, "/p", "seo_name"),
    Page: _Kind(Source.PAGE, f"/{FOLDERS['page']}", "seo_name"),
    Collection: _Kind(Source.COLLECTION, f"/{FOLDERS['collection']}", "seo_name"),
    Node: _Kind(Source.CATEGORY, "/c", "path"),
}
_RULES = {Node: "landing_rules", Tree: "default_landing_rules"}


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of a user: whether changed addresses leave redirects, and whether landing pages whose rule is gone
    lead to their category."""

    redirects: bool
    gone_to_category: bool = False


@dataclass(slots=True)
class _Noted:
    """What changed in the transaction of a session. `names` are the addresses that records had before it, by model,
    site and id, None for new records; `rules` the landing rules that categories and trees had."""

    names: dict[tuple[type[Any], int, int], str | None] = field(default_factory=dict)
    rules: dict[tuple[type[Any], int, int], Sequence[Rule] | None] = field(default_factory=dict)
    by: str = ""
    at: datetime | None = None


def listen(session_factory: Any) -> None:
    """Register the listeners on the sessions of a factory, once for each factory."""
    if not event.contains(session_factory, "after_flush", _note_changes):
        event.listen(session_factory, "after_flush", _note_changes)
        event.listen(session_factory, "before_commit", _leave_redirects)
        event.listen(session_factory, "after_rollback", _forget)


def redirects_by_default(site_id: int) -> bool:
    """Whether changed addresses of a site leave redirects where nobody chooses."""
    return bool(settings_of(site_id)[SETTING])


@contextmanager
def addresses_left_by(choice: Choice | None) -> Iterator[None]:
    """Take the choice of a user for the changes of a transaction: use it around the transaction. None is the site's
    setting."""
    info = db.session().info
    info[_CHOICE] = choice
    try:
        yield
    finally:
        info.pop(_CHOICE, None)


def note_moved(site_id: int, before: Mapping[int, str | None], by: str, at: datetime) -> None:
    """Note products that are changed or added in bulk, with the SEO names that they had, None for new ones, in the
    transaction that changes them."""
    noted = _noted(db.session())
    for product_id, name in before.items():
        noted.names.setdefault((Product, site_id, product_id), name)
    noted.by, noted.at = noted.by or by, noted.at or at


def _noted(session: Session) -> _Noted:
    noted: _Noted = session.info.setdefault(_NOTED, _Noted())
    return noted


def _note_changes(session: Session, _flush: UOWTransaction) -> None:
    for record in session.new:
        if type(record) in _KINDS:
            _noted(session).names.setdefault((type(record), record.site_id, record.id), None)
        elif isinstance(record, AuditEntry):
            noted = _noted(session)
            noted.by, noted.at = record.actor, record.at
    for record in session.dirty:
        _note_changed(session, record)


def _note_changed(session: Session, record: Any) -> None:
    """Note the address and the rules that a changed record had. The first note of a transaction stays."""
    key = type(record), getattr(record, "site_id", 0), getattr(record, "id", 0)
    if (kind := _KINDS.get(type(record))) and (old := _value_before(record, kind.attribute)):
        _noted(session).names.setdefault(key, old[0])
        _date(session, record)
    if (name := _RULES.get(type(record))) and (before := _value_before(record, name)):
        _noted(session).rules.setdefault(key, before[0])
        _date(session, record)


def _date(session: Session, record: Any) -> None:
    noted = _noted(session)
    noted.at = noted.at or record.updated_at


def _value_before(record: Any, attribute: str) -> Sequence[Any]:
    """Return the value that a flushed attribute had, in a list that is empty where it did not change."""
    history = inspect(record).attrs[attribute].history
    return list(history.deleted) if history.has_changes() else []


def _forget(session: Session) -> None:
    if not session.in_nested_transaction():
        session.info.pop(_NOTED, None)


def _leave_redirects(session: Session) -> None:
    """Write the redirects of a transaction before its commit. What was noted is compared with what is stored now, so
    that an address which changed and came back leaves nothing."""
    if session.in_nested_transaction():
        return
    session.flush()
    noted: _Noted | None = session.info.pop(_NOTED, None)
    if noted is None or not (noted.names or noted.rules):
        return
    for site_id in sorted({site_id for _, site_id, _ in (*noted.names, *noted.rules)}):
        _leave_of_site(session, site_id, noted)


def _leave_of_site(session: Session, site_id: int, noted: _Noted) -> None:
    """Leave the redirects of one site. An address that has a page now is no longer redirected, whatever the choice."""
    moves: dict[str, Destination] = {}
    sources: dict[str, Source] = {}
    taken: set[str] = set()
    for model, kind in _KINDS.items():
        for old, new in _names(session, site_id, model, kind, noted):
            taken.add(new)
            if old is not None and old != new:
                moves[old] = Destination(new, reach=Reach.BELOW if model is Node else Reach.PAGE)
                sources[old] = kind.source
    choice: Choice | None = session.info.get(_CHOICE)
    leaves = (choice.redirects if choice else redirects_by_default(site_id)) if moves or noted.rules else False
    kept = moves if leaves else {}
    together = choice is not None and choice.gone_to_category
    for folder, before, after in _changed_segments(session, site_id, noted):
        taken.update(f"{folder}/{segment}" for _, segment in after)
        for old, place in segments_moved(folder, before, after, together=together):
            if leaves or place.reach is Reach.TOGETHER:
                kept.setdefault(old, place)
                sources.setdefault(old, Source.LANDING)
    drop_at(site_id, taken)
    kept = {old: place for old, place in kept.items() if old not in taken}
    if kept and noted.at is not None:
        store_moves(site_id, kept, sources, noted.by, noted.at)


def _names(
    session: Session, site_id: int, model: type[Any], kind: _Kind, noted: _Noted
) -> Iterator[tuple[str | None, str]]:
    """Yield the old address of each noted record, None for a new one, and the one that it has now."""
    before = {id: name for (of, site, id), name in noted.names.items() if of is model and site == site_id}
    column = getattr(model, kind.attribute)
    for batch in batched(before):
        query = select(model.id, column).where(model.id.in_(batch))
        if model is Node:
            query = query.where(Node.tree_id == primary_tree_id(site_id))
        for id, name in session.execute(query):
            old = before[id]
            yield None if old is None else f"{kind.folder}/{old}".lower(), f"{kind.folder}/{name}".lower()


Segments = list[tuple[str, str]]


def _changed_segments(session: Session, site_id: int, noted: _Noted) -> Iterator[tuple[str, Segments, Segments]]:
    """Yield the categories whose landing rules changed, each by its address, with the facets and segments of its rules
    before and after."""
    if not noted.rules:
        return
    of_nodes = {id: rules for (of, site, id), rules in noted.rules.items() if of is Node and site == site_id}
    of_trees = {id: rules for (of, site, id), rules in noted.rules.items() if of is Tree and site == site_id}
    tree_id = primary_tree_id(site_id)
    default = session.scalar(select(Tree.default_landing_rules).where(Tree.id == tree_id)) or []
    default_before = of_trees.get(tree_id) or [] if tree_id in of_trees else default
    query = select(Node.id, Node.path, Node.landing_rules).where(Node.tree_id == tree_id)
    if tree_id not in of_trees:
        query = query.where(Node.id.in_(of_nodes))
    for id, path, own in session.execute(query):
        before = effective_rules(of_nodes.get(id, own), default_before)
        after = effective_rules(own, default)
        if before != after:
            yield f"/c/{path}", _segments(before), _segments(after)


def _segments(rules: Iterable[Rule]) -> Segments:
    return [(rule["facetId"], segment_of(rule)) for rule in rules]

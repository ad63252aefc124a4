"""Rules that name categories, as the categories change: a rule follows a category to its new path, in the same flush,
and names that changed are published anew.

Session listeners see to it, so that no path by which categories change can forget. Nothing is written to the activity
log: the change of the category stands there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import event, inspect, select
from sqlalchemy.orm import Session, SessionTransaction, UOWTransaction

from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.trees import primary_tree_id
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_levels import names_some, republish_names
from app.domain.search.serving import configuration

CHANGED = "sites_with_changed_categories"
NAMING = ("name", "path", "parent_id", "visible")  # What of a category the names of a rule depend on.
Paths = Mapping[str, str]


def listen(session_factory: Any) -> None:
    """Register the listeners on the sessions of a factory, once for each factory."""
    if not event.contains(session_factory, "before_flush", _before_flush):
        event.listen(session_factory, "before_flush", _before_flush)
        event.listen(session_factory, "before_commit", _before_commit)
        event.listen(session_factory, "after_soft_rollback", _after_rollback)


def _before_flush(session: Session, _flush: UOWTransaction, _objects: object) -> None:
    moved: dict[tuple[int, int], dict[str, str]] = defaultdict(dict)
    for record in (*session.new, *session.dirty, *session.deleted):
        if not isinstance(record, Node | Tree) or not _is_concerned(session, record):
            continue
        session.info.setdefault(CHANGED, set()).add(record.site_id)
        if isinstance(record, Node) and record not in session.deleted:
            for before in inspect(record).attrs.path.history.deleted:
                moved[record.site_id, record.tree_id][before] = record.path
    with session.no_autoflush:
        for (site_id, tree_id), paths in moved.items():
            if tree_id == primary_tree_id(site_id):
                _follow(session, site_id, paths)


def _is_concerned(session: Session, record: Node | Tree) -> bool:
    if record in session.new or record in session.deleted:
        return True
    if isinstance(record, Tree):
        return bool(inspect(record).attrs.primary.history.has_changes())
    attributes = inspect(record).attrs
    return any(attributes[name].history.has_changes() for name in NAMING)


def _follow(session: Session, site_id: int, paths: Paths) -> None:
    """Give the rules of a site the new paths of the categories that they name."""
    columns = select(SearchRule.id, SearchRule.categories)
    named = columns.where(SearchRule.site_id == site_id, names_some(SearchRule.categories))
    ids = [row.id for row in session.execute(named) if not paths.keys().isdisjoint(row.categories)]
    for rule in session.scalars(select(SearchRule).where(SearchRule.id.in_(ids)).with_for_update()) if ids else ():
        rule.categories = list(dict.fromkeys(paths.get(path, path) for path in rule.categories))
        rule.revision += 1
        rule.words_version = configuration.raise_version(site_id)


def _before_commit(session: Session) -> None:
    session.flush()  # What is not flushed yet may change categories, too.
    for site_id in sorted(session.info.pop(CHANGED, ())):
        republish_names(site_id)


def _after_rollback(session: Session, ended: SessionTransaction) -> None:
    if not ended.nested:
        session.info.pop(CHANGED, None)

"""The products that a change of categories concerns.

A product's document names its categories and all above them, so moving or deleting a category concerns the products of
its whole branch, a changed rule those that the old or the new one names; a name, an address or being hidden concerns
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, and_, inspect, or_, select
from sqlalchemy.orm import Session

from app.domain.catalogue.models import Product
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.membership import any_of, shown_by
from app.domain.merchandising.models import Node, Tree
from app.domain.taxonomy.taxonomies import active_tree

RULE = ("source_levels", "source_manufacturers")


@dataclass(slots=True)
class _Concerned:
    """The changes of one site: ids of categories that are concerned with all below them, of deleted trees and of
    categories whose rule changes, and the rules as they will be."""

    branches: list[int] = field(default_factory=list)
    trees: list[int] = field(default_factory=list)
    own_rules: list[int] = field(default_factory=list)
    new_rules: list[SourceRule] = field(default_factory=list)


def products_of_changed_categories(session: Session) -> Iterator[tuple[int, int]]:
    """Yield (site id, product id) for the changes of categories that the session is about to write. Reads what is
    stored, so call it before the flush."""
    by_site: dict[int, _Concerned] = {}
    for record in (*session.new, *session.dirty, *session.deleted):
        if isinstance(record, Node | Tree):
            _note_category(session, record, by_site.setdefault(record.site_id, _Concerned()))
    for site_id, concerned in by_site.items():
        node_ids, rules = _read_concerned(session, concerned)
        if node_ids or rules:
            shown = any_of(shown_by(site_id, node_ids, rules, active_tree(site_id)))
            found = session.scalars(select(Product.id).where(Product.site_id == site_id, shown))
            yield from ((site_id, product_id) for product_id in found)


def _note_category(session: Session, record: Node | Tree, concerned: _Concerned) -> None:
    """Note which categories and rules the change of a category or of a tree concerns."""
    if isinstance(record, Tree):
        if record in session.deleted:
            concerned.trees.append(record.id)
    elif record in session.deleted:
        concerned.branches.append(record.id)
    elif record in session.new:
        concerned.new_rules.append(_source_rule(record.source_levels, record.source_manufacturers))
    else:
        if _has_changed(record, ("parent_id",)):
            concerned.branches.append(record.id)
        if _has_changed(record, RULE):
            concerned.own_rules.append(record.id)
            concerned.new_rules.append(_source_rule(record.source_levels, record.source_manufacturers))


def _has_changed(record: Node, names: Iterable[str]) -> bool:
    attributes = inspect(record).attrs
    return any(attributes[name].history.has_changes() for name in names)


def _read_concerned(session: Session, concerned: _Concerned) -> tuple[list[int], list[SourceRule]]:
    """Return the ids of the categories in moved or deleted branches and trees, and all rules that the changes concern:
    as they are stored and as they will be."""
    rules = [rule for rule in concerned.new_rules if rule != SourceRule()]
    conditions: list[ColumnElement[bool]] = []
    if concerned.branches:
        roots = select(Node.tree_id, Node.path).where(Node.id.in_(concerned.branches))
        conditions += [
            and_(Node.tree_id == tree_id, or_(Node.path == path, Node.path.startswith(f"{path}/", autoescape=True)))
            for tree_id, path in session.execute(roots)
        ]
    if concerned.trees:
        conditions.append(Node.tree_id.in_(concerned.trees))
    nodes: Sequence[Any] = _read_rules(session, or_(*conditions)) if conditions else ()
    changed: Sequence[Any] = _read_rules(session, Node.id.in_(concerned.own_rules)) if concerned.own_rules else ()
    rules += (_source_rule(*row[1:]) for row in (*nodes, *changed))
    return [row.id for row in nodes], rules


def _read_rules(session: Session, condition: ColumnElement[bool]) -> Sequence[Any]:
    return session.execute(select(Node.id, Node.source_levels, Node.source_manufacturers).where(condition)).all()


def _source_rule(levels: Sequence[str] | None, manufacturers: Sequence[str] | None) -> SourceRule:
    return SourceRule(tuple(levels or ()), tuple(manufacturers or ()))

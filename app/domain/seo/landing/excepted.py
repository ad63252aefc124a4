"""The categories of a tree that do not take its landing rules."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from app.domain.merchandising.models import Node
from app.domain.seo.landing.inheritance import LandingMode, mode_of
from app.extensions import db


@dataclass(frozen=True, slots=True)
class ExceptedCategory:
    """A category that does not inherit its landing rules. `rules` counts its own; none switch landing pages off."""

    id: int
    name: str
    path: str
    mode: LandingMode
    rules: int


def categories_with_own_rules(tree_id: int) -> list[ExceptedCategory]:
    """Return the categories with rules of their own or none, by their address."""
    query = select(Node.id, Node.name, Node.path, Node.landing_rules).where(Node.tree_id == tree_id)
    rows = db.session.execute(query.where(Node.landing_rules.is_not(None)).order_by(Node.path)).all()
    return [ExceptedCategory(id, name, path, mode_of(rules), len(rules or ())) for id, name, path, rules in rows]

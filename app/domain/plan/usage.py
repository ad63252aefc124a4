"""The usage of a site: how much it uses of what its plan allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ScalarSelect, distinct, func, select

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.merchandising.models import Tree
from app.domain.merchandising.trees import MOST_TREES
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.relevance.rule_definition import MOST_RULES
from app.domain.relevance.synonym_definition import MOST_GROUPS
from app.domain.sites.models import RoleGrant
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one limit of a plan. `most` None: no limit but that of the shop's machine."""

    key: str
    label: str
    meaning: str
    used: int
    most: int | None = None


@dataclass(frozen=True, slots=True)
class _Counted:
    label: str
    meaning: str
    number: Any
    most: int | None = None


def _records(model: Any, *which: Any) -> Any:
    return lambda site_id: _count(select(func.count()).select_from(model).where(model.site_id == site_id, *which))


def _count(query: Any) -> ScalarSelect[int]:
    number: ScalarSelect[int] = query.scalar_subquery()
    return number


def _users(site_id: int) -> ScalarSelect[int]:
    """Count the users of a site; one who holds several roles is one user."""
    return _count(select(func.count(distinct(RoleGrant.user_id))).where(RoleGrant.site_id == site_id))


COUNTED: Mapping[str, _Counted] = {
    "products": _Counted("Products", "Including hidden products.", _records(Product)),
    "pages": _Counted("Pages", "Content pages, such as “About us”.", _records(Page)),
    "collections": _Counted("Collections", "Groups of products chosen by hand.", _records(Collection)),
    "users": _Counted("Users", "Users with a role in this shop.", _users),
    "agents": _Counted(
        "Till agents", "Agents who can take card payments.", _records(PosAgent, PosAgent.enabled.is_(True))
    ),
    "locations": _Counted("Till locations", "Places where card payments are taken.", _records(PosLocation)),
    "taxonomies": _Counted("Taxonomies", "Active or not.", _records(Taxonomy)),
    "trees": _Counted("Merchandising trees", "Shoppers browse the primary one.", _records(Tree), MOST_TREES),
    "rules": _Counted("Search rules", "Live, paused and ended rules.", _records(SearchRule), MOST_RULES),
    "synonyms": _Counted("Synonyms", "Live synonyms.", _records(Synonym, Synonym.status == "LIVE"), MOST_GROUPS),
}


def usage(site_id: int) -> list[Usage]:
    """Return what a site uses, in one statement."""
    row = db.session.execute(select(*(one.number(site_id).label(key) for key, one in COUNTED.items()))).one()
    return [Usage(key, one.label, one.meaning, getattr(row, key), one.most) for key, one in COUNTED.items()]

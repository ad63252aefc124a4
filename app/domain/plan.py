"""A site's plan: the capabilities it includes, what they allow, and how much of its limits the site uses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ScalarSelect, distinct, func, select

from app.domain.catalogue import models as catalogue
from app.domain.merchandising.models import Tree
from app.domain.merchandising.trees import MOST_TREES
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.relevance.rule_definition import MOST_RULES
from app.domain.relevance.synonym_definition import MOST_GROUPS
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.shared.records import existing
from app.domain.sites import activity
from app.domain.sites.models import RoleGrant, Site
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import ENGINE_CAPABILITY
from app.extensions import db


@dataclass(frozen=True, slots=True)
class Capability:
    """A capability that a plan may include. `without` says what a site without it misses."""

    name: str
    label: str
    meaning: str
    without: str
    is_included: bool = False


KNOWN = (
    Capability(
        ENGINE_CAPABILITY,
        "Taxonomy engine",
        "Products are classified by levels and attributes, from which filters, categories and landing pages are made.",
        "no taxonomy can be active.",
    ),
)
UNKNOWN_MEANING = "Not used in this version."


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one limit of a plan. `most` None: no limit but that of the shop's machine."""

    key: str
    label: str
    meaning: str
    used: int
    most: int | None = None


def capabilities(site_id: int) -> list[Capability]:
    """Every capability that this version knows, then those of the site that it does not know, such as came with a
    bundle. Raises NotFound."""
    included = _site(site_id).capabilities
    known = [Capability(c.name, c.label, c.meaning, c.without, c.name in included) for c in KNOWN]
    names = {capability.name for capability in KNOWN}
    return known + [Capability(name, name, UNKNOWN_MEANING, "", True) for name in included if name not in names]


def change_capabilities(author: Author, names: Collection[str], among: Collection[str]) -> bool:
    """Set the capabilities of the author's site: of those that a form decided on, `among`, it has `names` afterwards;
    others stay as they are. Return whether anything changed. Raises Invalid for one that is neither known nor the
    site's already."""
    offered = [capability.name for capability in capabilities(author.site_id)]
    if strangers := sorted({*names, *among} - set(offered)):
        raise Invalid.one("unknown_capability", f"There is no capability “{strangers[0][:64]}”.", "#/capability")
    site = _site(author.site_id)
    before = list(site.capabilities)
    wanted = [name for name in offered if name in (names if name in among else before)]
    if set(wanted) == set(before):
        return False
    site.capabilities = wanted
    subject = ("site", str(author.site_id))
    activity.record(author, "site.capabilities", subject, "Changed what the plan includes", before, wanted)
    return True


def _site(site_id: int) -> Site:
    return existing(db.session.get(Site, site_id), "There is no such shop.")


@dataclass(frozen=True, slots=True)
class _Limit:
    label: str
    meaning: str
    number: Any
    most: int | None = None


def _count_records(model: Any, *which: Any) -> Any:
    return lambda site_id: _count(select(func.count()).select_from(model).where(model.site_id == site_id, *which))


def _count(query: Any) -> ScalarSelect[int]:
    number: ScalarSelect[int] = query.scalar_subquery()
    return number


def _count_users(site_id: int) -> ScalarSelect[int]:
    """Count the users of a site; one who holds several roles is one user."""
    return _count(select(func.count(distinct(RoleGrant.user_id))).where(RoleGrant.site_id == site_id))


COUNTED: Mapping[str, _Limit] = {
    "products": _Limit("Products", "Including hidden products.", _count_records(catalogue.Product)),
    "pages": _Limit("Pages", "Content pages, such as “About us”.", _count_records(catalogue.Page)),
    "collections": _Limit("Collections", "Groups of products chosen by hand.", _count_records(catalogue.Collection)),
    "users": _Limit("Users", "Users with a role in this shop.", _count_users),
    "agents": _Limit(
        "Till agents", "Agents who can take payments.", _count_records(PosAgent, PosAgent.enabled.is_(True))
    ),
    "locations": _Limit("Till locations", "Places where payments are taken.", _count_records(PosLocation)),
    "taxonomies": _Limit("Taxonomies", "Active or not.", _count_records(Taxonomy)),
    "trees": _Limit("Merchandising trees", "Shoppers browse the primary one.", _count_records(Tree), MOST_TREES),
    "rules": _Limit("Search rules", "Live, paused and ended rules.", _count_records(SearchRule), MOST_RULES),
    "synonyms": _Limit("Synonyms", "Live synonyms.", _count_records(Synonym, Synonym.status == "LIVE"), MOST_GROUPS),
}


def usage(site_id: int) -> list[Usage]:
    """Return what a site uses, in one statement."""
    row = db.session.execute(select(*(one.number(site_id).label(key) for key, one in COUNTED.items()))).one()
    return [Usage(key, one.label, one.meaning, getattr(row, key), one.most) for key, one in COUNTED.items()]

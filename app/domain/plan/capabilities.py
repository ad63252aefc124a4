"""The capabilities of a site's plan: what they allow, and changing them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.shared.records import existing
from app.domain.sites import audit
from app.domain.sites.models import Site
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
    audit.record(author, "site.capabilities", subject, "Changed what the plan includes", before, wanted)
    return True


def _site(site_id: int) -> Site:
    return existing(db.session.get(Site, site_id), "There is no such shop.")

"""A site's taxonomies: which there are and which one is in use."""

from __future__ import annotations

from app.domain.shared.problems import Problem
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import block_problems, line_problems
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.models import Taxonomy

ACTIVE = "taxonomy-active-id"
LONGEST_NAME = 200
LONGEST_DESCRIPTION = 5_000


def taxonomy_of(site_id: int, taxonomy_id: str, to_change: bool = False) -> Taxonomy:
    """A taxonomy of this site. `to_change` locks its row until the end of the transaction, and reads it anew.
    Raises NotFound."""
    taxonomy = find_record(Taxonomy, site_id, taxonomy_id, to_change)
    return existing(taxonomy, "There is no such taxonomy on this site.")


def active_id(site_id: int) -> str | None:
    """Return the id in the site's setting, whatever the plan allows, and even when there is no such taxonomy any
    more."""
    configured: str | None = settings_of(site_id)[ACTIVE]
    return configured


def is_active(taxonomy: Taxonomy) -> bool:
    """Whether the site's setting names the taxonomy, whatever the plan allows: its products hold their classification
    even while the plan lacks the engine."""
    return active_id(taxonomy.site_id) == taxonomy.id


def name_problems(name: str, description: str, pointer: str = "#") -> list[Problem]:
    """Return the problems of the own texts of a taxonomy, which stands at `pointer`."""
    return [
        *line_problems(name, "The taxonomy’s name", LONGEST_NAME, f"{pointer}/name", required=True),
        *block_problems(description, "The description", LONGEST_DESCRIPTION, f"{pointer}/description"),
    ]

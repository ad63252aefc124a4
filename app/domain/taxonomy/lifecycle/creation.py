"""Creating a taxonomy, blank, from the sample or as a copy, and deleting one."""

from __future__ import annotations

import copy
from typing import Any

from sqlalchemy import select

from app.domain.shared.addresses import free_slug, slug
from app.domain.shared.author import Author
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.text import one_line
from app.domain.sites import audit
from app.domain.taxonomy.lifecycle.listing import count_levels
from app.domain.taxonomy.lifecycle.revisions import record_revision
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import active_id, name_problems, taxonomy_of
from app.domain.taxonomy.validation.sample import SAMPLE_LEVELS
from app.domain.taxonomy.validation.structure import check_structure
from app.extensions import db

LONGEST_GENERATED_ID = 80
RESERVED_IDS = frozenset(("new", "create", "activate", "tasks", "worklist"))  # Their addresses are pages.


def clean_texts(name: str, description: str) -> tuple[str, str]:
    """Name and description as they are stored, trimmed. Raises Invalid."""
    name, description = one_line(name), description.strip()
    if problems := name_problems(name, description):
        raise Invalid(problems)
    return name, description


def create(author: Author, name: str, description: str, sample: bool) -> Taxonomy:
    """Add a taxonomy at revision 1, without levels or with those of the sample, and return it. Raises Invalid,
    Conflict."""
    name, description = clean_texts(name, description)
    levels = check_structure(SAMPLE_LEVELS).levels if sample else []
    made = _keep(author, name, description, levels)
    change = "Made from the sample." if sample else "Made without levels."
    record_revision(author, made, [change])
    audit.record(author, "taxonomy.create", ("taxonomy", made.id), f"Added the taxonomy {name}")
    return made


def duplicate(author: Author, taxonomy_id: str, name: str) -> Taxonomy:
    """Copy a taxonomy under another name, at revision 1 and not active. Raises NotFound, Invalid, Conflict."""
    source = taxonomy_of(author.site_id, taxonomy_id)
    name, description = clean_texts(name, source.description)
    made = _keep(author, name, description, copy.deepcopy(source.root_levels))
    record_revision(author, made, [f"Copied from “{source.name}”, revision {source.revision}."])
    summary = f"Copied the taxonomy {source.name} as {name}"
    audit.record(author, "taxonomy.copy", ("taxonomy", made.id), summary)
    return made


def _keep(author: Author, name: str, description: str, levels: list[dict[str, Any]]) -> Taxonomy:
    taken = set(db.session.scalars(select(Taxonomy.id).where(Taxonomy.site_id == author.site_id)))
    made = Taxonomy(
        site_id=author.site_id,
        id=free_slug(slug(name, "taxonomy")[:LONGEST_GENERATED_ID].rstrip("-"), taken | RESERVED_IDS),
        catalogue_id=str(author.site_id),
        name=name,
        description=description,
        root_levels=levels,
        revision=1,
        created_at=author.now(),
        updated_at=author.now(),
    )
    db.session.add(made)
    flush_or_conflict("Another user added a taxonomy of this name at the same moment. Nothing was saved; try again.")
    return made


def namesakes(site_id: int, name: str) -> list[str]:
    """The ids of the taxonomies of this name, whatever the case of its letters."""
    known = db.session.execute(select(Taxonomy.id, Taxonomy.name).where(Taxonomy.site_id == site_id))
    wanted = one_line(name).casefold()
    return sorted(found_id for found_id, found in known if found.casefold() == wanted)


def delete(author: Author, taxonomy_id: str) -> str:
    """Delete a taxonomy with its revisions and drafts, and return its name. Raises NotFound, and Conflict for the
    active one."""
    taxonomy = taxonomy_of(author.site_id, taxonomy_id, to_change=True)
    if active_id(author.site_id) == taxonomy.id:
        raise Conflict(f"“{taxonomy.name}” is the active taxonomy. Activate another one before you delete it.")
    name = taxonomy.name
    before = {"name": name, "levels": count_levels(taxonomy.root_levels), "revision": taxonomy.revision}
    db.session.delete(taxonomy)
    db.session.flush()
    summary = f"Deleted the taxonomy {name}"
    audit.record(author, "taxonomy.delete", ("taxonomy", taxonomy_id), summary, before=before)
    return name

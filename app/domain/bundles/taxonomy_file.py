"""The taxonomies of a bundle, and which of them classifies the products."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.domain.bundles.reading import Document
from app.domain.bundles.task import ImportTask
from app.domain.catalogue.models import Product
from app.domain.search.outbox import PRODUCT, enqueue
from app.domain.shared.problems import Problem
from app.domain.shared.shapes import Field, Kind, Shape, read_fields
from app.domain.shared.text import block_problems, line_problems, one_line
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings, settings_of
from app.domain.taxonomy.classification import ENGINE_CAPABILITY, active_tree
from app.domain.taxonomy.comparison import compare
from app.domain.taxonomy.lifecycle import RESERVED_IDS
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.revisions import changed_texts, keep_state, record_revision, stored_state
from app.domain.taxonomy.structure import check_structure
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation import ID, LONGEST_ID
from app.extensions import db

FILE = "taxonomy.json"
KIND = "taxonomies"
PARTS = "parts of taxonomies"
TAXONOMY: Shape = {
    "id": Field(Kind.TEXT, required=True),
    "name": Field(Kind.TEXT, required=True),
    "description": Field(Kind.TEXT, nullable=True),
    "active": Field(Kind.FLAG),
    "rootLevels": Field(Kind.LIST, required=True),
}
ACTIVE = "taxonomy-active-id"
LONGEST_NAME = 200
LONGEST_DESCRIPTION = 5_000


def import_taxonomies(task: ImportTask) -> None:
    """Every taxonomy is matched by its id. Levels, attributes and values that break a rule are left out, each with
    all below it. Afterwards `task.tree` is the active taxonomy as it will be."""
    document = task.documents.get(FILE)
    if task.site_id:
        task.tree, task.taxonomy_id = active_tree(task.site_id), settings_of(task.site_id)[ACTIVE]
    for index, raw in enumerate(document.content["taxonomies"] if document else ()):
        with task.writing():
            _import_one(task, document, raw, f"#/taxonomies/{index}")  # type: ignore[arg-type]


def _import_one(task: ImportTask, document: Document, raw: Any, pointer: str) -> None:
    problems: list[Problem] = []
    fields = read_fields(raw, TAXONOMY, pointer, problems)
    problems += _own_problems(fields, pointer)
    checked = check_structure(fields.get("rootLevels", []), pointer=f"{pointer}/rootLevels")
    problems += [problem for problem in checked.problems if problem.record == "#"]
    if problems:
        task.refuse(KIND, document, problems)
        return
    for problem in (*checked.problems, *checked.further):
        task.refuse(PARTS, document, [problem])
    _store(task, fields, checked.levels)
    if fields.get("active"):
        _activate(task, document, fields["id"], checked.levels, pointer)


def _own_problems(fields: dict[str, Any], pointer: str) -> list[Problem]:
    taxonomy_id, name = fields.get("id", "x"), fields.get("name", "x")
    problems = []
    if not ID.fullmatch(taxonomy_id) or len(taxonomy_id) > LONGEST_ID:
        message = f"The id “{taxonomy_id[:80]}” may hold only letters, digits, hyphens and underscores."
        problems.append(Problem("invalid_id", message, f"{pointer}/id"))
    elif taxonomy_id in RESERVED_IDS:
        message = f"A taxonomy cannot have the id “{taxonomy_id}”, which is the address of a page of the admin."
        problems.append(Problem("reserved_id", message, f"{pointer}/id"))
    description = fields.get("description") or ""
    return [
        *problems,
        *line_problems(name, "The taxonomy’s name", LONGEST_NAME, f"{pointer}/name", required=True),
        *block_problems(description, "The description", LONGEST_DESCRIPTION, f"{pointer}/description"),
    ]


def _store(task: ImportTask, fields: dict[str, Any], levels: list[dict[str, Any]]) -> None:
    wanted = {"name": one_line(fields["name"]), "root_levels": levels}
    if "description" in fields:
        wanted["description"] = fields["description"] or ""
    stored = db.session.get(Taxonomy, (task.site_id, fields["id"]), with_for_update=not task.dry_run)
    counts = task.report.of(KIND)
    if stored is None:
        counts.added += 1
        if not task.dry_run:
            _add(task, fields["id"], wanted)
    elif any(getattr(stored, name) != value for name, value in wanted.items()):
        counts.changed += 1
        if not task.dry_run:
            _change(task, stored, wanted)
    else:
        counts.unchanged += 1


def _add(task: ImportTask, taxonomy_id: str, wanted: dict[str, Any]) -> None:
    now = task.clock.now()
    added = Taxonomy(
        site_id=task.site_id,
        id=taxonomy_id,
        catalogue_id=str(task.site_id),
        revision=1,
        created_at=now,
        updated_at=now,
        **{"description": ""} | wanted,
    )
    db.session.add(added)
    record_revision(task.clock, added, ["Imported from a bundle."], "", task.actor)


def _change(task: ImportTask, stored: Taxonomy, wanted: dict[str, Any]) -> None:
    before = stored_state(stored)
    for name, value in wanted.items():
        setattr(stored, name, value)
    stored.revision += 1
    stored.updated_at = task.clock.now()
    keep_state(before)
    changes = [*changed_texts(before, stored), *compare(before.root_levels, stored.root_levels).sentences()]
    record_revision(task.clock, stored, changes, "Imported from a bundle.", task.actor)
    if settings_of(task.site_id)[ACTIVE] == stored.id:
        task.report.note("The active taxonomy changed: products that are not in the bundle keep their values.")
        task.tree_changed = True
        enqueue_all_products(task.site_id)


def enqueue_all_products(site_id: int) -> None:
    """Everything that depends on the site's structure is indexed anew."""
    enqueue(db.session, site_id, PRODUCT, db.session.scalars(select(Product.id).where(Product.site_id == site_id)))


def _activate(
    task: ImportTask, document: Document, taxonomy_id: str, levels: list[dict[str, Any]], pointer: str
) -> None:
    """Only the first activation: switching clears the classification of every product, which an administrator
    confirms in the taxonomy's own page."""
    active_id = settings_of(task.site_id)[ACTIVE]
    if active_id not in (None, taxonomy_id):
        message = f"The taxonomy “{active_id}” is active on this site; switching is done in the admin."
        task.refuse(PARTS, document, [Problem("other_is_active", message, f"{pointer}/active")])
        return
    site = db.session.get(Site, task.site_id)
    if site is not None and ENGINE_CAPABILITY not in site.capabilities:
        message = f"The plan of this site lacks {ENGINE_CAPABILITY}; the taxonomy is not active."
        task.refuse(PARTS, document, [Problem("capability_missing", message, f"{pointer}/active")])
        return
    task.tree = TaxonomyTree.parse(levels)
    if active_id is None and not task.dry_run:
        change_settings(task.site_id, {ACTIVE: taxonomy_id})
        task.taxonomy_id, task.tree_changed = taxonomy_id, True

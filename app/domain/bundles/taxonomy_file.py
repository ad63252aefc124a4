"""The taxonomies of taxonomy.json, in and out, and which of them classifies the products. Where a level or an attribute
is left out for a problem, what the site has under its id stays, so that a slip in a bundle costs no product a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from app.domain.bundles.archive import order_fields
from app.domain.bundles.import_task import ImportTask
from app.domain.bundles.reading import Document
from app.domain.catalogue.models import Product
from app.domain.search.document_ids import PRODUCT
from app.domain.search.index.outbox import enqueue
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Record, Text
from app.domain.shared.text import one_line
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.lifecycle import RESERVED_IDS, activate_taxonomy
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.revisions import record_revision
from app.domain.taxonomy.saves import replace_state
from app.domain.taxonomy.stored_tree import Levels, stored_records
from app.domain.taxonomy.taxonomies import (
    ENGINE_CAPABILITY,
    active_id,
    active_tree,
    has_engine,
    is_active,
    name_problems,
)
from app.domain.taxonomy.tree import TaxonomyTree, stored_levels
from app.domain.taxonomy.validation.rules import ID, LONGEST_ID
from app.domain.taxonomy.validation.sent_tree import StructureProblem
from app.domain.taxonomy.validation.structure import CheckedStructure, check_structure, ids_of, patterns_of
from app.extensions import db

FILE = "taxonomy.json"
KIND = "taxonomies"
PARTS = "parts of taxonomies"
TAXONOMY = Record(
    id=Text(required=True),
    name=Text(required=True),
    description=Text(allow_none=True),
    active=Flag(),
    rootLevels=Items(required=True),
)
IMPORTED = "Imported from a bundle."


def check_over_stored(
    raw: Sequence[Any], root_levels: Levels, pointer: str
) -> tuple[CheckedStructure, list[StructureProblem]]:
    """Check a tree that is to replace the stored `root_levels`, and return it with every problem. The stored records
    stand in it for those that are left out; where even these do not fit, nothing does."""
    first = check_structure(raw, pointer=pointer)
    problems = [*first.problems, *first.further]
    if not problems or not root_levels or any(problem.record == "#" for problem in problems):
        return first, problems
    completed = _StandIns({problem.record for problem in problems}, root_levels).levels(raw, pointer)
    stored = TaxonomyTree.parse(root_levels)
    again = check_structure(completed, ids_of(stored), pointer, known_patterns=patterns_of(stored))
    return again, list(dict.fromkeys([*problems, *again.problems, *again.further]))


class _StandIns:
    """The stored records that stand in for the `refused` ones, by the pointers to these."""

    def __init__(self, refused: Collection[str], root_levels: Levels) -> None:
        self._refused = refused
        self._stored = {level["levelId"]: level for level in stored_records(root_levels)}

    def levels(self, raw: Sequence[Any], at: str) -> list[Any]:
        return [self._level(level, f"{at}/{place}") for place, level in enumerate(raw)]

    def _level(self, raw: Any, at: str) -> Any:
        stored = self._stored.get(_id_of(raw, "levelId"))
        if at in self._refused:
            return raw if stored is None else _without_place(stored)
        if not isinstance(raw, dict):
            return raw
        known = {found["attributeId"]: found for found in (stored or {}).get("attributes") or ()}
        attributes = [
            known.get(_id_of(attribute, "attributeId"), attribute)
            if f"{at}/attributes/{place}" in self._refused
            else attribute
            for place, attribute in enumerate(raw.get("attributes") or ())
        ]
        return raw | {"attributes": attributes, "children": self.levels(raw.get("children") or (), f"{at}/children")}


def _id_of(raw: Any, name: str) -> str:
    found = raw.get(name) if isinstance(raw, dict) else None
    return found if isinstance(found, str) else ""


def _without_place(level: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored level without its place, which in the bundle may be another."""
    return {name: value for name, value in level.items() if name not in ("parentLevelId", "displayOrder")}


def import_taxonomies(task: ImportTask) -> None:
    """Import the taxonomies, each matched by its id. Levels, attributes and values that break a rule are left out, each
    with all below it; what the site has in their places stays. Afterwards `task.tree` is the active taxonomy as it
    will be."""
    document = task.documents.get(FILE)
    if task.site_id:
        task.tree, task.taxonomy_id = active_tree(task.site_id), active_id(task.site_id)
    for index, raw in enumerate(document.content["taxonomies"] if document else ()):
        with task.writing():
            _import_taxonomy(task, document, raw, f"#/taxonomies/{index}")  # type: ignore[arg-type]


def _import_taxonomy(task: ImportTask, document: Document, raw: Any, pointer: str) -> None:
    problems: list[Problem] = []
    fields = TAXONOMY.read(raw, pointer, problems)
    problems += _own_problems(fields, pointer)
    stored = None if problems else db.session.get(Taxonomy, (task.site_id, fields["id"]))
    root_levels = [] if stored is None else stored.root_levels
    checked, refused = check_over_stored(fields.get("rootLevels", []), root_levels, f"{pointer}/rootLevels")
    problems += [problem for problem in refused if problem.record == "#"]
    if problems:
        task.refuse(KIND, document, problems)
        return
    for problem in refused:
        task.refuse(PARTS, document, [problem])
    _store_taxonomy(task, fields, checked.tree)
    if fields["id"] == task.taxonomy_id and has_engine(task.site_id):
        task.tree = checked.tree
    if fields.get("active"):
        _activate(task, document, fields["id"], checked.tree, pointer)


def _own_problems(fields: dict[str, Any], pointer: str) -> list[Problem]:
    taxonomy_id, name = fields.get("id", "x"), fields.get("name", "x")
    problems = []
    if not ID.fullmatch(taxonomy_id) or len(taxonomy_id) > LONGEST_ID:
        message = f"The id “{taxonomy_id[:80]}” may hold only letters, digits, hyphens and underscores."
        problems.append(Problem("invalid_id", message, f"{pointer}/id"))
    elif taxonomy_id in RESERVED_IDS:
        message = f"A taxonomy cannot have the id “{taxonomy_id}”, which is the address of a page of the admin."
        problems.append(Problem("reserved_id", message, f"{pointer}/id"))
    return [*problems, *name_problems(name, fields.get("description") or "", pointer)]


def _store_taxonomy(task: ImportTask, fields: dict[str, Any], tree: TaxonomyTree) -> None:
    wanted = {"name": one_line(fields["name"]), "root_levels": stored_levels(tree)}
    if "description" in fields:
        wanted["description"] = fields["description"] or ""
    stored = db.session.get(Taxonomy, (task.site_id, fields["id"]), with_for_update=not task.dry_run)
    counts = task.report.of(KIND)
    if stored is None:
        counts.note("added", fields["id"])
        if not task.dry_run:
            _add_taxonomy(task, fields["id"], wanted)
    elif any(getattr(stored, name) != value for name, value in wanted.items()):
        counts.note("changed", fields["id"])
        if not task.dry_run:
            _change_taxonomy(task, stored, wanted)
    else:
        counts.note("unchanged", fields["id"])


def _add_taxonomy(task: ImportTask, taxonomy_id: str, wanted: dict[str, Any]) -> None:
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
    record_revision(task.author, added, [IMPORTED])


def _change_taxonomy(task: ImportTask, stored: Taxonomy, wanted: dict[str, Any]) -> None:
    replace_state(task.author, stored, wanted, IMPORTED)
    if is_active(stored):
        task.report.note("The active taxonomy changed: products that are not in the bundle keep their values.")
        enqueue_all_products(task.site_id)


def enqueue_all_products(site_id: int) -> None:
    """Enqueue all products of a site for the index, after a change of its structure."""
    enqueue(db.session, site_id, PRODUCT, db.session.scalars(select(Product.id).where(Product.site_id == site_id)))


def _activate(task: ImportTask, document: Document, taxonomy_id: str, tree: TaxonomyTree, pointer: str) -> None:
    """Activate the taxonomy, only where none is active: switching clears the classification of every product, which an
    administrator confirms in the taxonomy's own page."""
    current = active_id(task.site_id)
    if current not in (None, taxonomy_id):
        message = f"The taxonomy “{current}” is active on this site; switching is done in the admin."
        task.refuse(PARTS, document, [Problem("other_is_active", message, f"{pointer}/active")])
        task.wanted_taxonomy_id = taxonomy_id
        return
    if task.site_id and not has_engine(task.site_id):
        message = f"The plan of this site lacks {ENGINE_CAPABILITY}; the taxonomy is not active."
        task.refuse(PARTS, document, [Problem("capability_missing", message, f"{pointer}/active")])
        return
    task.tree = tree
    if current is None and not task.dry_run:
        activate_taxonomy(task.author, taxonomy_id, None)
        task.taxonomy_id = taxonomy_id


def taxonomies_document(site_id: int) -> dict[str, Any]:
    stored_id = settings_of(site_id)["taxonomy-active-id"]
    rows = db.session.scalars(select(Taxonomy).where(Taxonomy.site_id == site_id).order_by(Taxonomy.id))
    return {
        "taxonomies": [
            {
                "id": taxonomy.id,
                "name": taxonomy.name,
                "description": taxonomy.description,
                "active": taxonomy.id == stored_id,
                "rootLevels": order_fields(taxonomy.root_levels),
            }
            for taxonomy in rows
        ]
    }

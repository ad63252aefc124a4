"""Saves of a whole taxonomy: checked, only on the revision that was read, and with everything that follows from one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sqlalchemy import CursorResult, select, update

from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem, StaleRevision
from app.domain.shared.text import block_problems, one_line
from app.domain.sites import activity, stored_events, versioning
from app.domain.taxonomy import tasks
from app.domain.taxonomy.diff import StructureDiff, compare
from app.domain.taxonomy.models import Taxonomy, TaxonomyRevision
from app.domain.taxonomy.products.queries import products_by_level
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.revisions import (
    LONGEST_NOTE,
    describe_changed_texts,
    keep_state,
    record_revision,
    renames_between,
    revision_of,
    stored_state,
)
from app.domain.taxonomy.taxonomies import is_active, name_problems, rename_parameters, taxonomy_of
from app.domain.taxonomy.tree import TaxonomyTree, stored_levels
from app.domain.taxonomy.validation.sent_tree import read_sent_tree, with_places
from app.domain.taxonomy.validation.structure import check_tree, ids_of, patterns_of
from app.extensions import db

# Its payload: `taxonomyId`, `revision`, the ids of `placedLevels` (added, removed or moved) and of `definedAttributes`
# (added, removed or of another type), and those of `renamedLevels` where there are any.
INDEX_EVENT = "TaxonomyIndexEvent"


@dataclass(frozen=True, slots=True)
class SavedTaxonomy:
    """A taxonomy after a save. `ids` maps the ids that stood for new records (`new-…`) to those they got."""

    taxonomy: Taxonomy
    ids: Mapping[str, str]
    comparison: StructureDiff


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked state that may replace the taxonomy at `revision`. `state` are its columns."""

    site_id: int
    taxonomy_id: str
    revision: int
    state: Mapping[str, Any]
    ids: Mapping[str, str]
    note: str = ""
    renames: Sequence[ValueRename] = ()


def prepare(
    site_id: int,
    taxonomy_id: str,
    revision: int | None,
    name: str,
    description: str | None,
    levels: Sequence[Any] | TaxonomyTree,
    note: str = "",
    renames: Sequence[ValueRename] = (),
    known_ids: Collection[str] = (),
) -> Prepared:
    """Check a tree that was read at `revision` (None counts as 0); `levels` are JSON as a client sent it, or a draft. A
    `description` of None stays as it is. Ids that the stored tree has, or that are in `known_ids`, may have any form.

    A large tree takes a while to check, and on SQLite a transaction keeps all others from writing: so call it before
    the transaction that stores. Raises NotFound, StaleRevision (another user saved in between) and Invalid with every
    problem."""
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    _check_revision(taxonomy, revision)
    text_problems = [
        *name_problems(name, description or ""),
        *block_problems(note, "The note", LONGEST_NOTE, "#/note"),
    ]
    proposal = check_proposal(taxonomy, levels, renames, known_ids, text_problems)
    state: dict[str, Any] = {"name": one_line(name), "root_levels": stored_levels(proposal.tree)}
    if description is not None:
        state["description"] = description.strip()
    return Prepared(site_id, taxonomy_id, taxonomy.revision, state, proposal.ids, note.strip(), proposal.renames)


def store(author: Author, prepared: Prepared) -> SavedTaxonomy:
    """Save what was checked; the revision rises by one. Products follow renamed values in the background.

    Raises NotFound, and StaleRevision when another user saved since; then nothing is written. Call it in a transaction,
    and let an exception end it."""
    taxonomy = taxonomy_of(author.site_id, prepared.taxonomy_id)
    _check_revision(taxonomy, prepared.revision)
    comparison, changes = replace_state(author, taxonomy, prepared.state, prepared.note, prepared.renames)
    after = {"revision": taxonomy.revision, "changes": changes} | ({"note": prepared.note} if prepared.note else {})
    summary, before = f"Saved the taxonomy {taxonomy.name}", {"revision": prepared.revision}
    activity.record(author, "taxonomy.save", ("taxonomy", taxonomy.id), summary, before, after)
    if prepared.renames and is_active(taxonomy):  # Only products of the active taxonomy hold any values.
        tree = TaxonomyTree.parse(prepared.state["root_levels"])
        parameters = rename_parameters(taxonomy.id, tree, prepared.renames, author.now())
        tasks.request(author, tasks.Kind.RENAME_VALUES, parameters)
    return SavedTaxonomy(taxonomy, prepared.ids, comparison)


def prepare_texts(site_id: int, taxonomy_id: str, revision: int, name: str, description: str) -> Prepared:
    """Prepare another name and description for a taxonomy that was read at `revision`, whose levels stay. Raises
    NotFound, StaleRevision, Invalid."""
    taxonomy = taxonomy_of(site_id, taxonomy_id)
    _check_revision(taxonomy, revision)
    if problems := name_problems(name, description):
        raise Invalid(problems)
    state = {"name": one_line(name), "description": description.strip()}
    return Prepared(site_id, taxonomy_id, taxonomy.revision, state, {})


def replace_state(
    author: Author,
    taxonomy: Taxonomy,
    state: Mapping[str, Any],
    note: str,
    renames: Sequence[ValueRename] = (),
) -> tuple[StructureDiff, list[str]]:
    """Replace the taxonomy's columns by `state`, with a tree that was checked, and return what changed, also as
    sentences. Its change log and the event for the index are written in the same transaction. Raises StaleRevision when
    another user saved since the taxonomy was read: of two saves at the same moment the second waits for the first and
    then matches no row."""
    before, site_id, taxonomy_id = stored_state(taxonomy), taxonomy.site_id, taxonomy.id
    of_revision = update(Taxonomy).where(
        Taxonomy.site_id == site_id, Taxonomy.id == taxonomy_id, Taxonomy.revision == before.revision
    )
    columns = {**state, "revision": before.revision + 1, "updated_at": author.now()}
    written = db.session.execute(of_revision.values(columns))
    if isinstance(written, CursorResult) and written.rowcount == 0:
        db.session.expire(taxonomy)
        raise _stale_revision(site_id, taxonomy_id, taxonomy.revision)
    versioning.touch(db.session(), [site_id])
    keep_state(before)
    stored = before.tree
    tree = TaxonomyTree.parse(state["root_levels"]) if "root_levels" in state else stored
    comparison = compare(stored, tree, renames)
    changes = [*describe_changed_texts(before, taxonomy), *comparison.sentences()]
    record_revision(author, taxonomy, changes, note, renames)
    payload = {
        "taxonomyId": taxonomy.id,
        "revision": taxonomy.revision,
        "placedLevels": comparison.placed_level_ids,
        "definedAttributes": comparison.defined_attribute_ids,
    }
    payload |= {"renamedLevels": comparison.renamed_level_ids} if comparison.renamed_level_ids else {}
    stored_events.store(author.clock, author.site_id, INDEX_EVENT, payload)
    return comparison, changes


@dataclass(frozen=True, slots=True)
class Proposal:
    """A tree and renames as a save would store them. `ids` maps ids that stood for new records to those they got."""

    tree: TaxonomyTree
    ids: Mapping[str, str]
    renames: Sequence[ValueRename]


def check_proposal(
    taxonomy: Taxonomy,
    levels: Sequence[Any] | TaxonomyTree,
    renames: Sequence[ValueRename] = (),
    known_ids: Collection[str] = (),
    other_problems: Sequence[Problem] = (),
    is_placed: bool = False,
) -> Proposal:
    """Check a tree that is to replace the taxonomy's, and the renames of its values: each must lead to a value that its
    attribute offers now. Parents and order that were sent are ignored: the nesting says both; where it `is_placed`,
    parents that contradict it are reported. Raises Invalid with every problem, `other_problems` first."""
    stored = taxonomy.tree
    checked = check_tree(
        with_places(levels) if isinstance(levels, TaxonomyTree) else read_sent_tree(levels, is_placed=is_placed),
        ids_of(stored).union(known_ids),
        _IdsInUse(taxonomy),
        patterns_of(stored),
    )
    if problems := [*other_problems, *checked.problems]:
        raise Invalid(problems)
    ids = checked.ids
    wanted = [
        replace(
            one,
            level_id=ids.get(one.level_id, one.level_id),
            attribute_id=ids.get(one.attribute_id, one.attribute_id),
            renamed=one.renamed.strip(),
        )
        for one in renames
    ]
    unknown = [
        Problem("unknown_value", f"No attribute offers “{one.renamed[:80]}” there.", f"#/valueRenames/{number}")
        for number, one in enumerate(wanted)
        if one.renamed not in checked.tree.offered_values(one.level_id, one.attribute_id)
    ]
    if unknown:
        raise Invalid(unknown)
    return Proposal(checked.tree.sharing(stored), ids, [one for one in wanted if one.value != one.renamed])


def prepare_earlier(site_id: int, taxonomy_id: str, wanted: int, revision: int, note: str = "") -> Prepared:
    """Prepare the state of an earlier revision (`wanted`) for a save as a new one on top of `revision`, which the
    caller has seen. Values that were renamed since get their former names again, on products too. Raises what `prepare`
    raises; NotFound also when the change log no longer has the revision."""
    earlier = revision_of(site_id, taxonomy_id, wanted)
    note = note.strip() or f"Restored revision {wanted}"
    renames = renames_between(site_id, taxonomy_id, taxonomy_of(site_id, taxonomy_id).revision, wanted)
    texts, tree = (earlier.name, earlier.description), earlier.tree
    return prepare(site_id, taxonomy_id, revision, *texts, tree, note, renames, ids_of(tree))


class _IdsInUse(Mapping[str, Collection[str]]):
    """The ids of the attributes of which products at a level may hold values, by the ids of the stored levels and of
    those that are gone and that products name still: no new record takes one over with the products of another. Read
    when the first new record needs an id, which few trees have."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self._taxonomy = taxonomy

    @cached_property
    def _ids(self) -> dict[str, Collection[str]]:
        tree = self._taxonomy.tree
        named = products_by_level(self._taxonomy.site_id) if is_active(self._taxonomy) else {}
        return {level_id: tree.applicable_attributes(level_id).keys() for level_id in {**named, **tree.levels}}

    def __getitem__(self, level_id: str) -> Collection[str]:
        return self._ids[level_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def _check_revision(taxonomy: Taxonomy, revision: int | None) -> None:
    if taxonomy.revision != (revision or 0):
        raise _stale_revision(taxonomy.site_id, taxonomy.id, taxonomy.revision)


def _stale_revision(site_id: int, taxonomy_id: str, current: int) -> StaleRevision:
    log = TaxonomyRevision
    newest = select(log.saved_by).where(log.site_id == site_id, log.taxonomy_id == taxonomy_id)
    who = db.session.scalar(newest.order_by(log.revision.desc()).limit(1)) or "Another user"
    return StaleRevision(f"{who} saved this taxonomy while you worked on it. It is at revision {current}.", current)

"""A site's taxonomies: which there are, which one is in use, and its tree with the former words of its values.

A save renames an allowed value at once, but products follow one by one in the background, and a form may be older than
both: the words that it sends are still understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select

from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Problem
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import block_problems, line_problems
from app.domain.sites.models import Setting, Site
from app.domain.sites.settings import settings_of
from app.domain.taxonomy.models import Kind, Taxonomy, TaxonomyTask
from app.domain.taxonomy.renames import ValueRename, words_of_saves
from app.domain.taxonomy.tree import Renames, TaxonomyTree
from app.domain.work.models import UNFINISHED, State
from app.extensions import db

ACTIVE = "taxonomy-active-id"
LONGEST_NAME = 200
LONGEST_DESCRIPTION = 5_000
ENGINE_CAPABILITY = "TAXONOMY_ENGINE"
UNDERSTOOD_FOR = timedelta(days=1)  # After the products have the new words: so old may a form be.
NO_TAXONOMY = "No taxonomy is active on this site, so products cannot be classified. Activate one first."


def taxonomy_of(site_id: int, taxonomy_id: str, to_change: bool = False) -> Taxonomy:
    """A taxonomy of this site. `to_change` locks its row until the end of the transaction, and reads it anew.
    Raises NotFound."""
    taxonomy = find_record(Taxonomy, site_id, taxonomy_id, to_change)
    return existing(taxonomy, "There is no such taxonomy on this site.")


def name_problems(name: str, description: str, pointer: str = "#") -> list[Problem]:
    """Return the problems of the own texts of a taxonomy, which stands at `pointer`."""
    return [
        *line_problems(name, "The taxonomy’s name", LONGEST_NAME, f"{pointer}/name", required=True),
        *block_problems(description, "The description", LONGEST_DESCRIPTION, f"{pointer}/description"),
    ]


def active_id(site_id: int) -> str | None:
    """Return the id in the site's setting, whatever the plan allows, and even when there is no such taxonomy any
    more."""
    configured: str | None = settings_of(site_id)[ACTIVE]
    return configured


def is_active(taxonomy: Taxonomy) -> bool:
    """Whether the site's setting names the taxonomy, whatever the plan allows: its products hold their classification
    even while the plan lacks the engine."""
    return active_id(taxonomy.site_id) == taxonomy.id


def has_engine(site_id: int) -> bool:
    """Whether the site's plan includes the taxonomy engine."""
    site = db.session.get(Site, site_id)
    return site is not None and ENGINE_CAPABILITY in site.capabilities


def active_taxonomy_id(site_id: int) -> str | None:
    """The id that the site's setting names, whether or not there is such a taxonomy; None when the site's plan lacks
    the taxonomy engine."""
    return active_id(site_id) if has_engine(site_id) else None


def active_taxonomy(site_id: int) -> Taxonomy | None:
    """The taxonomy that the site's setting names; None without one, when it is gone, or when the site's plan lacks
    the taxonomy engine."""
    taxonomy_id = active_taxonomy_id(site_id)
    if taxonomy_id is None:
        return None
    return db.session.scalar(select(Taxonomy).where(Taxonomy.site_id == site_id, Taxonomy.id == taxonomy_id))


def active_tree(site_id: int) -> TaxonomyTree:
    """The levels of the active taxonomy; an empty tree where none is active."""
    taxonomy = active_taxonomy(site_id)
    return TaxonomyTree() if taxonomy is None else taxonomy.tree


def lock_active_id(site_id: int) -> str | None:
    """Return the id of the active taxonomy, and lock the setting until this transaction ends: another activation waits.
    Call it before reading products or the tree in order to classify; else, on PostgreSQL, a product could be given a
    level of the taxonomy that was active a moment ago."""
    row = select(Setting.value).where(Setting.site_id == site_id, Setting.key == ACTIVE)
    held: str | None = db.session.scalar(row.with_for_update(read=True))
    return held


@dataclass(frozen=True, slots=True)
class ActiveTaxonomy:
    """The taxonomy that the shop uses. `tree` knows the former words of its values."""

    id: str
    name: str
    tree: TaxonomyTree


def active_with_tree(clock: Clock, site_id: int) -> ActiveTaxonomy | None:
    """The active taxonomy, its tree read once, with the former words of its values; None without one."""
    taxonomy = active_taxonomy(site_id)
    if taxonomy is None:
        return None
    tree = with_former_words(clock, site_id, taxonomy.id, taxonomy.tree)
    return ActiveTaxonomy(taxonomy.id, taxonomy.name, tree)


def taxonomy_in_use(clock: Clock, site_id: int) -> ActiveTaxonomy:
    """Return the active taxonomy. Raises Conflict where none is, or the plan lacks the taxonomy engine."""
    taxonomy = active_with_tree(clock, site_id)
    if taxonomy is None:
        raise Conflict(NO_TAXONOMY, "no_active_taxonomy")
    return taxonomy


def rename_parameters(
    taxonomy_id: str, tree: TaxonomyTree, renames: Sequence[ValueRename], now: datetime
) -> dict[str, Any]:
    """Return the parameters of the task by which products follow a save, with the tree that was saved and when."""
    governed = [
        {"levelId": level_id, "attributeId": attribute_id, "levelIds": tree.governed_levels(level_id, attribute_id)}
        for level_id, attribute_id in dict.fromkeys((rename.level_id, rename.attribute_id) for rename in renames)
    ]
    as_json = [rename.as_json() for rename in renames]
    return {"taxonomyId": taxonomy_id, "renames": as_json, "governed": governed, "since": now.isoformat()}


def former_words(clock: Clock, site_id: int, taxonomy_id: str | None) -> Renames:
    """Return the former words of values whose rename on products is unfinished, failed (products hold them until
    someone has it go on) or ended within UNDERSTOOD_FOR. One statement."""
    recent = TaxonomyTask.finished_at > clock.now() - UNDERSTOOD_FOR
    query = select(TaxonomyTask.parameters).where(
        TaxonomyTask.site_id == site_id,
        TaxonomyTask.kind == Kind.RENAME_VALUES.value,
        or_(TaxonomyTask.state.in_((*UNFINISHED, State.FAILED)), recent),
    )
    in_order = db.session.scalars(query.order_by(TaxonomyTask.created_at, TaxonomyTask.id))
    return words_of_saves(found for found in in_order if found["taxonomyId"] == taxonomy_id)


def with_former_words(clock: Clock, site_id: int, taxonomy_id: str | None, tree: TaxonomyTree) -> TaxonomyTree:
    """Return the tree with the former words of its values, for classifying products or for a preview of that."""
    words = former_words(clock, site_id, taxonomy_id)
    return tree.with_former_words(words) if words else tree


class CurrentTree:
    """The active taxonomy of a site, for work on many products during which people may save another structure. It is
    read again only for another revision or when values were renamed. A plan that lacks the engine for a while does not
    matter: products keep their classification, so changes must still reach them."""

    def __init__(self, site_id: int) -> None:
        self._site_id = site_id
        self._known: tuple[str, int, datetime] | None = None
        self._words: Renames = {}
        self._stored = self._tree = TaxonomyTree()

    def read(self, clock: Clock) -> tuple[str | None, TaxonomyTree]:
        """Return the active taxonomy's id, and its tree as it is now with the former words of its values; without an
        active taxonomy, None and a tree without levels."""
        this = Taxonomy.site_id == self._site_id, Taxonomy.id == active_id(self._site_id)
        row = db.session.execute(select(Taxonomy.id, Taxonomy.revision, Taxonomy.updated_at).where(*this)).one_or_none()
        if row is None:
            return None, TaxonomyTree()
        if self._known != (known := (row.id, row.revision, row.updated_at)):
            self._stored = TaxonomyTree.parse(db.session.scalar(select(Taxonomy.root_levels).where(*this)) or [])
            self._known, self._words, self._tree = known, {}, self._stored
        words = former_words(clock, self._site_id, row.id)
        if words != self._words:
            self._words, self._tree = words, self._stored.with_former_words(words)
        return row.id, self._tree

"""Requests that many products get a level or a value. Call within a transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy import tasks
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.products.saving import active_with_tree
from app.domain.taxonomy.task_kinds import Kind
from app.domain.taxonomy.tasks.assigning import Way
from app.domain.taxonomy.tasks.bulk_preview import check_value

Chosen = Mapping[str, Any]  # As app/domain/taxonomy/tasks/chosen.py makes it.


def assign_level(author: Author, chosen: Chosen, level_id: str) -> TaxonomyTask:
    """Request the task that gives products a level, and return it. Raises Invalid for an unknown level, Conflict
    without an active taxonomy."""
    taxonomy_id, tree = _active(author)
    level = tree.levels.get(level_id)
    if level is None:
        raise Invalid.one("unknown_level", "Choose a level of the active taxonomy.", "#/levelId")
    parameters = {"taxonomyId": taxonomy_id, "levelId": level_id, "levelName": level.name, **chosen}
    return tasks.request(author, Kind.ASSIGN_LEVEL, parameters)


def assign_value(author: Author, chosen: Chosen, attribute_id: str, way: Way, given: Any) -> TaxonomyTask:
    """Request the task that changes a value of products, and return it. Raises Invalid for an unknown attribute or a
    value that no level takes, Conflict without an active taxonomy."""
    taxonomy_id, tree = _active(author)
    check_value(tree, attribute_id, way, given)
    parameters = {
        "taxonomyId": taxonomy_id,
        "attributeId": attribute_id,
        "attributeName": tree.attributes_by_id()[attribute_id][0].name,
        "way": way.value,
        "value": None if way is Way.CLEAR else given,
        **chosen,
    }
    return tasks.request(author, Kind.ASSIGN_VALUE, parameters)


def _active(author: Author) -> tuple[str, TaxonomyTree]:
    taxonomy = active_with_tree(author.clock, author.site_id)
    if taxonomy is None:
        raise Conflict("No taxonomy is active, so there are no levels and attributes to give.")
    return taxonomy.id, taxonomy.tree

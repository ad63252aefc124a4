"""Categories that take products by their level, and so show none of them while products have no level."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.merchandising.queries import load_tree


@dataclass(frozen=True, slots=True)
class LevelCategory:
    """A category with a taxonomy level. `label` is the way to it, as in "Garden › Tools"; `path` is where shoppers
    reach it, None where they do not."""

    label: str
    path: str | None


def categories_by_level(site_id: int) -> list[LevelCategory]:
    """Return the categories with a taxonomy level, in the order of their labels."""
    tree = load_tree(site_id)
    found = [
        LevelCategory(
            label=tree.label(node.id),
            path=node.path if tree.at(node.path) is node else None,
        )
        for node in tree.nodes.values()
        if node.source_levels
    ]
    return sorted(found, key=lambda category: category.label.casefold())

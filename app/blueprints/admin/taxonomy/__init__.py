"""Taxonomies in the admin. Importing the modules registers their views."""

from app.blueprints.admin.taxonomy import (
    activation,
    attribute,
    banner,
    conflict,
    editor,
    move,
    panel,
    rest,
    review,
    revisions,
    tasks,
    taxonomies,
    tree,
    worklist,
)

__all__ = [
    "activation",
    "attribute",
    "banner",
    "conflict",
    "editor",
    "move",
    "panel",
    "rest",
    "review",
    "revisions",
    "tasks",
    "taxonomies",
    "tree",
    "worklist",
]

"""The places to which a level of the draft may move, found by words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.taxonomy.editor import EDITOR
from app.domain.shared.problems import NotFound
from app.domain.taxonomy.editor import drafts
from app.domain.taxonomy.levels.flat import FlatLevels, branch, path
from app.domain.taxonomy.validation.sent import DEEPEST
from app.htmx import wants_fragment
from app.permissions import Permission, requires

MOST_SHOWN = 50
LONGEST_WORDS = 100


@dataclass(frozen=True, slots=True)
class MoveTarget:
    """A level that could take another below it; `way` names those above it."""

    level_id: str
    name: str
    way: str


@bp.get(f"{EDITOR}/move")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_move(taxonomy_id: str) -> str:
    editing = drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)
    level_id, words = request.args.get("level", ""), request.args.get("q", "")[:LONGEST_WORDS]
    if level_id not in editing.levels:
        raise NotFound("There is no such level any more.")
    found = [place for place in _places(editing.levels, level_id) if _matches(place, words)]
    context = {
        "editing": editing,
        "taxonomy": editing.taxonomy,
        "level_id": level_id,
        "level": editing.levels[level_id],
        "words": words,
        "places": found[:MOST_SHOWN],
        "more": max(0, len(found) - MOST_SHOWN),
    }
    template = "admin/taxonomy/move/_dialog.html" if wants_fragment() else "admin/taxonomy/move/page.html"
    return render_template(template, **context)


def _places(levels: FlatLevels, level_id: str) -> Iterator[MoveTarget]:
    """Yield the levels below which a level could be moved: none of its own branch, not its parent, and none so deep
    that the branch would not fit."""
    own = set(branch(levels, level_id))
    depths = {found: len(path(levels, found)) for found in levels}
    height = max(depths[found] for found in own) - depths[level_id] + 1
    for found, level in levels.items():
        if found in own or found == levels[level_id]["parentLevelId"] or depths[found] + height > DEEPEST:
            continue
        yield MoveTarget(found, level["name"], " › ".join(levels[above]["name"] for above in path(levels, found)[:-1]))


def _matches(place: MoveTarget, words: str) -> bool:
    text = f"{place.way} {place.name}".casefold()
    return all(word in text for word in words.casefold().split())

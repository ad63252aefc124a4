"""The places to which a category may move, found by words."""

from __future__ import annotations

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.merchandising.tree import CATEGORY
from app.domain.merchandising import nodes
from app.domain.merchandising.arrangement import room_for
from app.domain.merchandising.trees import OutlineRow, TreeOutline, outline_of
from app.domain.shared.records import existing
from app.htmx import wants_fragment
from app.permissions import Permission, requires

MOST_SHOWN = 50
LONGEST_WORDS = 100


@bp.get(f"{CATEGORY}/move")
@requires(Permission.MANAGE_MERCHANDISING)
def category_places(category_id: int) -> str:
    words = request.args.get("q", "")[:LONGEST_WORDS]
    outline = outline_of(current_user.site_id, nodes.node_of(current_user.site_id, category_id).tree_id)
    row = existing(outline.rows.get(category_id), nodes.MISSING)
    found = [place for place in _places(outline, row) if _matches(place, words)]
    template = "admin/merchandising/move/_dialog.html" if wants_fragment() else "admin/merchandising/move/page.html"
    return render_template(
        template,
        outline=outline,
        row=row,
        words=words,
        places=found[:MOST_SHOWN],
        more=max(0, len(found) - MOST_SHOWN),
    )


def _places(outline: TreeOutline, row: OutlineRow) -> list[tuple[OutlineRow, str]]:
    """Return the categories that can take the moved one, each with the names of those above it, in the order of the
    tree."""
    room = room_for({id: other.place for id, other in outline.rows.items()}, row.id)
    ways = ((outline.rows[id], " › ".join(above.name for above in outline.above(id))) for id in room)
    return sorted(ways, key=lambda place: (place[1].casefold(), place[0].name.casefold()))


def _matches(place: tuple[OutlineRow, str], words: str) -> bool:
    text = f"{place[1]} {place[0].name}".casefold()
    return all(word in text for word in words.casefold().split())

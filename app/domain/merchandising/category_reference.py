"""One category by any reference to it: its id, its path or its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from sqlalchemy import select

from app.domain.merchandising.models import Node, Tree
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.shared.text import one_line
from app.extensions import db

LONGEST = 1_000
MOST_CANDIDATES = 20
FOLDER = "c/"  # Of the addresses of categories.
POINTER = "#/category"


@dataclass(frozen=True, slots=True)
class _Named:
    """A category, and of its tree the name and whether shoppers browse it."""

    id: int
    name: str
    path: str
    tree: str
    primary: bool

    @property
    def label(self) -> str:
        return f"{self.name}, id {self.id}, path {self.path}, tree {self.tree}"

    def as_json(self) -> dict[str, str]:
        return {"id": str(self.id), "name": self.name, "path": self.path, "tree": self.tree}


class AmbiguousCategory(Invalid):
    """Several categories are meant; `candidates` of the problem document names them."""

    code = "ambiguous_category"

    def __init__(self, reference: str, found: Sequence[_Named]) -> None:
        shown = found[:MOST_CANDIDATES]
        listed = "; ".join(one.label for one in shown) + ("; …" if len(found) > len(shown) else "")
        message = f"“{reference[:80]}” can mean {len(found):,} categories. Give the id of one: {listed}."
        super().__init__([Problem(self.code, message, POINTER)])
        self.details = {"candidates": [one.as_json() for one in shown]}


def category_referred_to(site_id: int, reference: str) -> int:
    """Return the id of the category that has this id, else of the one at this path (with or without `/c/`, in the tree
    that shoppers browse first), else of the one of this name, whatever its case. Raises NotFound, and AmbiguousCategory
    where there are several."""
    text = one_line(reference)
    found = _found(site_id, text) if 0 < len(text) <= LONGEST and "\0" not in text else []
    if not found:
        raise NotFound(f"No category of this site has the id, path or name “{text[:80]}”.")
    if len(found) > 1:
        raise AmbiguousCategory(text, found)
    return found[0].id


def _found(site_id: int, text: str) -> list[_Named]:
    """Return the categories by the first way to read the reference that finds any; in one statement."""
    query = select(Node.id, Node.name, Node.path, Tree.name, Tree.primary).join(Tree, Tree.id == Node.tree_id)
    rows = db.session.execute(query.where(Node.site_id == site_id).order_by(Tree.primary.desc(), Node.path, Node.id))
    named = [_Named(*row) for row in rows]
    path, folded = _path(text), text.casefold()
    ways: tuple[Callable[[_Named], bool], ...] = (
        lambda one: str(one.id) == text,
        lambda one: one.path == path and one.primary,
        lambda one: one.path == path,
        lambda one: one.name == text,
        lambda one: one.name.casefold() == folded,
    )
    return next((found for way in ways if (found := list(filter(way, named)))), [])


def _path(text: str) -> str:
    """Return the path in a reference, or in an address as it stands in a browser, whose case does not matter; a word
    with capitals alone is rather a name. Empty for none."""
    try:
        path = unquote(urlsplit(text).path)
    except ValueError:
        return ""
    bare = path.strip("/").removeprefix(FOLDER)
    return bare.lower() if "/" in path else bare

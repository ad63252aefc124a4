"""Categories as a kind of content, which is what the editor of one changes; products placed and buried in them; and one
category by any reference to it. The place of a category is changed in its tree (`nodes.py`).

Call the writing functions within a transaction. Those that place a product lock the category, then the product.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import func, select

from app.domain.catalogue.content import ContentDraft, ContentKind, ContentText, unknown_products
from app.domain.catalogue.products import product_of
from app.domain.merchandising import arrangement
from app.domain.merchandising.category_rules import (
    LONGEST_DESCRIPTION,
    LONGEST_META_DESCRIPTION,
    LONGEST_META_TITLE,
    LONGEST_NAME,
    MOST_BURIED,
    NO_SOURCE,
    SourceRule,
    category_slug_problems,
    clean_source,
    tidy_source,
)
from app.domain.merchandising.facets import clean_facets
from app.domain.merchandising.membership import buried_in, hand_made_order, hand_made_orders
from app.domain.merchandising.models import Burial, Node, Placement, Tree
from app.domain.merchandising.nodes import arrangement_of, mark_changed, node_of, note_change, store_arrangement
from app.domain.merchandising.trees import is_primary, tree_of
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.shared.records import find_record
from app.domain.shared.text import numbered, one_line
from app.domain.sites import activity
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db

MOST_PLACED = 1_000  # In one save; only the first 500 keep an order of their own.


@dataclass(frozen=True, slots=True)
class CategoryDraft(ContentDraft):
    """A category as it was sent. `facets` None inherits; `product_ids` are those placed by hand, in their order.
    `buried_ids` stand last, also where they are placed by hand."""

    name: str
    description: str = ""
    meta_title: str | None = None
    meta_description: str | None = None
    exclude_from_sitemap: bool = False
    source: SourceRule = NO_SOURCE
    facets: tuple[Mapping[str, Any], ...] | None = None
    product_ids: tuple[int, ...] = ()
    buried_ids: tuple[int, ...] = ()


# Lists of products that a category has by hand: the name in the activity log, that in the draft, and their reader.
BY_HAND: Mapping[str, tuple[str, Callable[[Collection[int]], Mapping[int, Sequence[int]]]]] = {
    "products": ("product_ids", hand_made_orders),
    "buried": ("buried_ids", buried_in),
}


class _CategoryKind(ContentKind[Node, CategoryDraft]):
    drafted_as = {name: drafted for name, (drafted, _) in BY_HAND.items()}

    def further(self, record: Node) -> dict[str, Any]:
        return self._further_of([record])[record.id]

    def _further_of(self, records: Sequence[Node]) -> dict[int, dict[str, Any]]:
        ids = [record.id for record in records]
        by_hand = {drafted: read(ids) for drafted, read in BY_HAND.values()}
        return {
            record.id: {
                "exclude_from_sitemap": record.exclude_from_sitemap,
                "source": SourceRule(tuple(record.source_levels), tuple(record.source_manufacturers)),
                "facets": None if record.facets is None else tuple(record.facets),
            }
            | {drafted: tuple(lists.get(record.id, ())) for drafted, lists in by_hand.items()}
            for record in records
        }

    def drafts_of(self, records: Sequence[Node]) -> list[CategoryDraft]:
        further = self._further_of(records)
        columns = ({name: getattr(record, name) for name in self.fields} for record in records)
        return [self.draft(**own, **further[record.id]) for record, own in zip(records, columns, strict=True)]

    def logged(self, draft: CategoryDraft) -> dict[str, Any]:
        values = super().logged(draft)
        source: SourceRule = values.pop("source")
        return values | {"source_levels": list(source.levels), "source_manufacturers": list(source.manufacturers)}

    def draft_of_logged(self, values: Mapping[str, Any]) -> CategoryDraft:
        source = SourceRule(tuple(values["source_levels"]), tuple(values["source_manufacturers"]))
        return super().draft_of_logged({**values, "source": source})

    def tidy_further(self, draft: CategoryDraft) -> CategoryDraft:
        source = tidy_source(draft.source.levels, draft.source.manufacturers)
        order = buried_last(tuple(dict.fromkeys(draft.product_ids)), draft.buried_ids)
        return replace(draft, product_ids=order, buried_ids=tuple(dict.fromkeys(draft.buried_ids)), source=source)

    def name_problems(self, seo_name: str) -> list[Problem]:
        return category_slug_problems(seo_name, "#/seoName")

    def further_problems(self, draft: CategoryDraft) -> list[Problem]:
        problems = [] if draft.facets is None else clean_facets(draft.facets, "#/facets")[1]
        if len(draft.product_ids) > MOST_PLACED:
            problems.append(Problem("too_many", f"At most {MOST_PLACED:,} products are placed by hand.", "#/products"))
        if len(draft.buried_ids) > MOST_BURIED:
            problems.append(Problem("too_many", f"A category buries at most {MOST_BURIED:,} products.", "#/products"))
        return problems

    def stored_problems(self, site_id: int, draft: CategoryDraft, own_id: int | None) -> list[Problem]:
        """Return the problems that a draft has with what is stored. A level that the stored rule has may stay, even if
        the active taxonomy no longer has it."""
        own = node_of(site_id, own_id) if own_id is not None else None
        levels = {*active_tree(site_id).levels, *(own.source_levels if own else ())}
        _, of_source = clean_source(draft.source.levels, draft.source.manufacturers, levels, "#/source")
        return [
            *(_slug_problems(own, draft.seo_name) if own else ()),
            *of_source,
            *unknown_products(site_id, (*draft.product_ids[:MOST_PLACED], *draft.buried_ids[:MOST_BURIED])),
            *(_placement_problems(own, draft.product_ids) if own else ()),
        ]

    def lock(self, site_id: int, record_id: int) -> None:
        tree_of(site_id, node_of(site_id, record_id).tree_id, to_change=True)

    def assign_further(self, record: Node, draft: CategoryDraft) -> dict[str, tuple[Any, Any]]:
        facets = None if draft.facets is None else clean_facets(draft.facets, "#/facets")[0]
        wanted = {
            "exclude_from_sitemap": draft.exclude_from_sitemap,
            "source_levels": list(draft.source.levels),
            "source_manufacturers": list(draft.source.manufacturers),
            "facets": facets,
        }
        changed = {name: (getattr(record, name), value) for name, value in wanted.items()}
        changed = {name: pair for name, pair in changed.items() if pair[0] != pair[1]}
        for name, (_, value) in changed.items():
            setattr(record, name, value)
        return changed | _store_placements(record, draft.product_ids) | store_burials(record, draft.buried_ids)

    def follow(self, author: Author, record: Node, before: dict[str, Any]) -> None:
        """Change the addresses of the category and of all below it, where its slug changed."""
        if "seo_name" not in before:
            return
        tree = tree_of(author.site_id, record.tree_id)
        places = arrangement_of(tree.id)
        places[record.id] = replace(places[record.id], slug=before["seo_name"])
        store_arrangement(author, tree, places, arrangement.change_slug(places, record.id, record.slug))


CATEGORY = _CategoryKind(
    "category",
    Node,
    CategoryDraft,
    (
        ContentText("name", "The name", LONGEST_NAME, required=True),
        ContentText("description", "The description", LONGEST_DESCRIPTION, is_html=True),
        ContentText("meta_title", "The meta title", LONGEST_META_TITLE, is_nullable=True),
        ContentText("meta_description", "The meta description", LONGEST_META_DESCRIPTION, is_nullable=True),
    ),
)


def set_picture(author: Author, node_id: int, file: str | None) -> Node:
    """Give a category a stored picture, or with None that of its first product again, and return it. As those of
    products, it is changed beside the form and does not raise the revision. Raises NotFound."""
    node = node_of(author.site_id, node_id, to_change=True)
    before = node.picture
    if before != file:
        node.picture = file
        node.updated_at = author.now()
        summary = f"Gave {node.name} a picture of its own" if file else f"Removed the picture of {node.name}"
        note_change(author, node, "picture", summary, {"picture": before}, {"picture": file})
        db.session.flush()
    return node


def placed_beyond_order(site_id: int, node_id: int) -> int:
    """Return the number of products that are placed by hand behind those whose order is kept."""
    placed = select(func.count()).select_from(Placement).where(Placement.site_id == site_id)
    return max(
        0, (db.session.scalar(placed.where(Placement.node_id == node_id)) or 0) - len(hand_made_order(site_id, node_id))
    )


def describe_changed_addresses(record: Node, old_path: str, *, redirected: bool) -> str | None:
    """Return the sentence about the addresses that a save changed. `redirected`: the old ones lead to the new ones,
    else they answer 404. None where the path stayed, or where shoppers do not browse the tree, so that no shopper knows
    the addresses."""
    if record.path == old_path or not is_primary(tree_of(record.site_id, record.tree_id)):
        return None
    below = len(arrangement.branch(arrangement_of(record.tree_id), record.id)) - 1
    moved = f"The address changed from /c/{old_path} to /c/{record.path}"
    if not below:
        return f"{moved}. The old one {'leads there' if redirected else 'answers 404'} from now on."
    categories = numbered(below, "category", "categories")
    old = "lead there" if redirected else "answer 404"
    return f"{moved}, and with it those of {categories} below. The old ones {old} from now on."


def _slug_problems(own: Node, slug: str) -> list[Problem]:
    """Return a problem where a sibling of the category has the slug, else none."""
    query = select(Node.name).where(Node.tree_id == own.tree_id, Node.id != own.id, Node.slug == slug)
    beside = Node.parent_id.is_(None) if own.parent_id is None else Node.parent_id == own.parent_id
    owner = db.session.scalar(query.where(beside).limit(1))
    if owner is None:
        return []
    message = f"“{owner[:80]}”, which stands beside it, has the slug “{slug[:80]}”."
    return [Problem("duplicate_slug", message, "#/seoName")]


def _placement_problems(own: Node, product_ids: Sequence[int]) -> list[Problem]:
    """Return a problem where one of the products is placed in MOST_CATEGORIES others already, else none."""
    placed = select(Placement.product_id).where(Placement.product_id.in_(product_ids), Placement.node_id != own.id)
    often = placed.group_by(Placement.product_id).having(func.count() >= MOST_CATEGORIES)
    if not db.session.scalars(often.limit(1)).all():
        return []
    message = f"Some of these products are placed in {MOST_CATEGORIES} categories already."
    return [Problem("too_many", message, "#/products")]


def _store_placements(record: Node, product_ids: Sequence[int]) -> dict[str, tuple[Any, Any]]:
    """Store the hand-made order and return its change, empty for none. A placement that stays is the same record, so
    that only what moved is written; those behind the order that was shown stay behind it."""
    held = hand_made_order(record.site_id, record.id)
    if held == list(product_ids):
        return {}
    query = select(Placement).where(Placement.node_id == record.id)
    stored = {placement.product_id: placement for placement in db.session.scalars(query)}
    for product_id in set(held).difference(product_ids):
        db.session.delete(stored.pop(product_id))
    for position, product_id in enumerate(product_ids):
        placement = stored.pop(product_id, None)
        if placement is None:
            placement = Placement(site_id=record.site_id, node_id=record.id, product_id=product_id)
            db.session.add(placement)
        placement.position = position
    for placement in stored.values():
        placement.position = max(placement.position, len(product_ids))
    return {"products": (held, list(product_ids))}


def buried_last(product_ids: Sequence[int], buried: Collection[int]) -> tuple[int, ...]:
    """Return a hand-made order with what is buried behind the others; it stays in the category."""
    return tuple(sorted(product_ids, key=set(buried).__contains__))


def store_burials(record: Node, product_ids: Collection[int]) -> dict[str, tuple[Any, Any]]:
    """Store what a category buries and return its change, empty for none."""
    stored = {one.product_id: one for one in db.session.scalars(select(Burial).where(Burial.node_id == record.id))}
    if stored.keys() == set(product_ids):
        return {}
    for product_id in stored.keys() - set(product_ids):
        db.session.delete(stored[product_id])
    for product_id in set(product_ids) - stored.keys():
        db.session.add(Burial(site_id=record.site_id, node_id=record.id, product_id=product_id))
    return {"buried": (sorted(stored), sorted(product_ids))}


MOST_CATEGORIES = 50


def place_product(author: Author, product_id: int, node_id: int | None) -> None:
    """Place a product at the end of a category's own order; one that is there already stays where it is.
    Raises NotFound, Invalid."""
    node = None if node_id is None else find_record(Node, author.site_id, node_id, to_change=True)
    product = product_of(author.site_id, product_id, to_change=True)
    if node_id is None:
        raise Invalid.one("no_category", "Choose a category first.", "#/category")
    placed = _placements_of(author.site_id, product_id)
    if node_id in placed:
        return
    if len(placed) >= MOST_CATEGORIES:
        raise Invalid.one("too_many", f"A product is placed in at most {MOST_CATEGORIES} categories.", "#/category")
    if node is None:
        raise Invalid.one("unknown_category", "This category no longer exists. Reload the page.", "#/category")
    last = db.session.scalar(select(func.max(Placement.position)).where(Placement.node_id == node_id))
    position = 0 if last is None else last + 1
    db.session.add(Placement(site_id=author.site_id, node_id=node_id, product_id=product_id, position=position))
    mark_changed(author, node)
    summary = f"Placed {product.name} in {node.name}"
    activity.record(author, "product.place", ("product", str(product_id)), summary)


def unplace_product(author: Author, product_id: int, node_id: int) -> None:
    """Take a product out of a category; nothing happens when it is not placed there. Raises NotFound."""
    node = find_record(Node, author.site_id, node_id, to_change=True)
    product = product_of(author.site_id, product_id, to_change=True)
    placement = _placements_of(author.site_id, product_id).get(node_id)
    if node is None or placement is None:
        return
    db.session.delete(placement)
    mark_changed(author, node)
    summary = f"Took {product.name} out of {node.name}"
    activity.record(author, "product.unplace", ("product", str(product_id)), summary)


def _placements_of(site_id: int, product_id: int) -> dict[int, Placement]:
    query = select(Placement).where(Placement.site_id == site_id, Placement.product_id == product_id)
    return {placement.node_id: placement for placement in db.session.scalars(query)}


LONGEST_REFERENCE = 1_000
MOST_CANDIDATES = 20
FOLDER = "c/"  # Of the addresses of categories.
POINTER = "#/category"


@dataclass(frozen=True, slots=True)
class _Candidate:
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

    def __init__(self, reference: str, found: Sequence[_Candidate]) -> None:
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
    found = _find_candidates(site_id, text) if 0 < len(text) <= LONGEST_REFERENCE and "\0" not in text else []
    if not found:
        raise NotFound(f"No category of this site has the id, path or name “{text[:80]}”.")
    if len(found) > 1:
        raise AmbiguousCategory(text, found)
    return found[0].id


def _find_candidates(site_id: int, text: str) -> list[_Candidate]:
    """Return the categories by the first way to read the reference that finds any; in one statement."""
    query = select(Node.id, Node.name, Node.path, Tree.name, Tree.primary).join(Tree, Tree.id == Node.tree_id)
    rows = db.session.execute(query.where(Node.site_id == site_id).order_by(Tree.primary.desc(), Node.path, Node.id))
    named = [_Candidate(*row) for row in rows]
    path, folded = _path_in(text), text.casefold()
    ways: tuple[Callable[[_Candidate], bool], ...] = (
        lambda one: str(one.id) == text,
        lambda one: one.path == path and one.primary,
        lambda one: one.path == path,
        lambda one: one.name == text,
        lambda one: one.name.casefold() == folded,
    )
    return next((found for way in ways if (found := list(filter(way, named)))), [])


def _path_in(text: str) -> str:
    """Return the path in a reference, or in an address as it stands in a browser, whose case does not matter; a word
    with capitals alone is rather a name. Empty for none."""
    try:
        path = unquote(urlsplit(text).path)
    except ValueError:
        return ""
    bare = path.strip("/").removeprefix(FOLDER)
    return bare.lower() if "/" in path else bare

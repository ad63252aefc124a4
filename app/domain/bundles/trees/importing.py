"""Import of category trees: a tree is matched by its name and replaced whole, its nodes keep their records by path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.domain.bundles.reading import Document
from app.domain.bundles.task import ImportTask
from app.domain.bundles.taxonomy_file import enqueue_all_products
from app.domain.bundles.trees.drafts import NodeDraft, NodeReader, every_node
from app.domain.merchandising.facets import clean_facets
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.trees import LONGEST_NAME
from app.domain.search.index.outbox import categories_indexed_separately
from app.domain.shared.counts import numbered
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Record, Text
from app.domain.shared.text import line_problems, one_line
from app.extensions import db

FILE = "merchandising.json"
TREES, NODES, PARTS = "category trees", "categories", "parts of categories"
TREE = Record(
    name=Text(required=True),
    primary=Flag(),
    facets=Items(allow_none=True),
    landingRules=Items(allow_none=True),
    nodes=Items(),
)


@dataclass(frozen=True, slots=True)
class RequestedOrder:
    """The products that a category is to show first, by SKU. `node_id` is None in a dry run that adds it."""

    node_id: int | None
    path: str
    skus: Sequence[str]
    at: str


def import_trees(task: ImportTask) -> list[RequestedOrder]:
    """Import the trees, and return the orders of products that can be applied once the products are there."""
    document = task.documents.get(FILE)
    if document is None:
        return []
    orders: list[RequestedOrder] = []
    task.report.of(TREES)
    task.report.of(NODES)
    with task.writing(), categories_indexed_separately(db.session):
        changes = task.report.changes
        names: set[str] = set()
        for index, raw in enumerate(document.content["trees"]):
            orders += _import_tree(task, document, raw, f"#/trees/{index}", names)
        if task.report.changes != changes and not task.dry_run:
            enqueue_all_products(task.site_id)
    return orders


def _import_tree(task: ImportTask, document: Document, raw: Any, pointer: str, names: set[str]) -> list[RequestedOrder]:
    problems: list[Problem] = []
    fields = TREE.read(raw, pointer, problems)
    name = one_line(fields.get("name", "x"))
    problems += line_problems(name, "The tree’s name", LONGEST_NAME, f"{pointer}/name", required=True)
    if name in names:
        problems.append(Problem("duplicate_name", f"Two trees have the name “{name[:80]}”.", f"{pointer}/name"))
    if problems:
        task.refuse(TREES, document, problems)
        return []
    names.add(name)
    reader = NodeReader(task.site_id, task.tree.attributes_by_id(), task.tree.levels)
    wanted = _tree_columns(fields, reader, pointer)
    nodes = reader.read(fields.get("nodes", []), wanted.get("facets", []), f"{pointer}/nodes")
    for complaint in reader.complaints:
        task.refuse(PARTS, document, complaint.problems)
    tree = _store_tree(task, name, wanted)
    return _store_nodes(task, tree, nodes, reader.refused) if "nodes" in fields else []


def _tree_columns(fields: dict[str, Any], reader: NodeReader, pointer: str) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    if "primary" in fields:
        wanted["primary"] = fields["primary"]
    if "facets" in fields:
        wanted["facets"], problems = clean_facets(fields["facets"] or [], f"{pointer}/facets")
        reader.complain(problems)
    if "landingRules" in fields:
        rules = reader.rules(fields["landingRules"] or [], wanted.get("facets", []), f"{pointer}/landingRules")
        wanted["default_landing_rules"] = rules
    return wanted


def _store_tree(task: ImportTask, name: str, wanted: dict[str, Any]) -> Tree | None:
    """Store a tree and return it; None in a dry run that would add it."""
    counts = task.report.of(TREES)
    tree = db.session.scalar(select(Tree).where(Tree.site_id == task.site_id, Tree.name == name))
    if tree is None:
        counts.note("added", name)
        if task.dry_run:
            return None
        tree = Tree(site_id=task.site_id, name=name, updated_at=task.clock.now())
        db.session.add(tree)
    elif all(getattr(tree, column) == value for column, value in wanted.items()):
        counts.note("unchanged", name)
        return tree
    else:
        counts.note("changed", name)
    if not task.dry_run:
        _change_tree(task, tree, wanted)
    return tree


def _change_tree(task: ImportTask, tree: Tree, wanted: dict[str, Any]) -> None:
    if wanted.get("primary"):
        with db.session.no_autoflush:
            others = select(Tree).where(Tree.site_id == task.site_id, Tree.primary, Tree.name != tree.name)
            for other in db.session.scalars(others):
                other.primary = False
        db.session.flush()  # No more than one tree is primary at any moment.
    for column, value in wanted.items():
        setattr(tree, column, value)
    tree.updated_at = task.clock.now()
    db.session.flush()


def _store_nodes(
    task: ImportTask, tree: Tree | None, drafts: list[NodeDraft], refused: set[str]
) -> list[RequestedOrder]:
    """Store the nodes of a tree, and return the orders of their products. Stored nodes that the bundle does not have
    go, but none that it has and that was left out: a slip in a bundle costs the shop no category."""
    stored = select(Node).where(Node.tree_id == tree.id) if tree else None
    known = {node.path: node for node in db.session.scalars(stored)} if stored is not None else {}
    wanted = {draft.path for draft, _ in every_node(drafts)}
    spared = {path for path in known if not refused.isdisjoint(_with_those_above(path))}
    _remove_nodes(task, [node for path, node in known.items() if path not in wanted | spared])
    orders = []
    for draft, parent in every_node(drafts):
        node = _store_node(task, tree, draft, known.get(parent.path) if parent else None, known)
        if draft.products is not None:
            orders.append(RequestedOrder(node.id if node else None, draft.path, draft.products, f"{draft.at}/products"))
    return orders


def _with_those_above(path: str) -> list[str]:
    """Return a path and those of all above it, "" for the tree among them."""
    steps = path.split("/")
    return ["/".join(steps[:end]) for end in range(len(steps) + 1)]


def _remove_nodes(task: ImportTask, nodes: list[Node]) -> None:
    if nodes and not task.removes:
        listed = numbered(len(nodes), "category", "categories")
        task.report.note(f"{listed} of the site’s trees that the bundle does not have: kept.")
        return
    for node in nodes:
        task.report.of(NODES).note("removed", node.path)
    if not task.dry_run:
        for node in sorted(nodes, key=lambda node: -node.path.count("/")):
            db.session.delete(node)
            db.session.flush()


def _store_node(
    task: ImportTask, tree: Tree | None, draft: NodeDraft, parent: Node | None, known: dict[str, Node]
) -> Node | None:
    counts = task.report.of(NODES)
    node = known.get(draft.path)
    if node is not None and all(getattr(node, column) == value for column, value in draft.columns.items()):
        counts.note("unchanged", draft.path)
        return node
    counts.note("added" if node is None else "changed", draft.path)
    if task.dry_run or tree is None:
        return node
    if node is None:
        parent_id = parent.id if parent else None
        node = Node(site_id=task.site_id, tree_id=tree.id, parent_id=parent_id, path=draft.path)
        db.session.add(node)
        known[draft.path] = node
    else:
        node.revision += 1
    for column, value in draft.columns.items():
        setattr(node, column, value)
    node.updated_at = task.clock.now()
    db.session.flush()
    return node

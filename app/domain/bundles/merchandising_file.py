"""The category trees of merchandising.json, in and out: a tree is matched by its name and replaced whole, its nodes
keep their records by path, the products that a category shows first are placed in the order of the bundle, and those
that it shows last are buried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, Table, delete, insert, select

from app.domain.bundles.archive import MEDIA, order_fields
from app.domain.bundles.bundle_pictures import keep_picture
from app.domain.bundles.category_drafts import NodeDraft, NodeReader, every_node
from app.domain.bundles.import_task import ImportTask, ids_by_sku
from app.domain.bundles.reading import Document
from app.domain.bundles.taxonomy_file import enqueue_all_products
from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.merchandising.categories import store_burials
from app.domain.merchandising.facets import clean_facets
from app.domain.merchandising.membership import buried_in
from app.domain.merchandising.models import Burial, Node, Placement, Tree
from app.domain.merchandising.trees import LONGEST_NAME, is_primary, note_deleted, primary_tree_id
from app.domain.search.document_ids import PRODUCT
from app.domain.search.index.outbox import categories_indexed_separately, enqueue
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Flag, Items, Record, Text
from app.domain.shared.text import line_problems, numbered, one_line
from app.extensions import db

FILE = "merchandising.json"
TREES, NODES, PARTS = "category trees", "categories", "parts of categories"
ORDERS = "orders of categories"
PLACEMENTS: Table = Placement.__table__  # type: ignore[assignment]
TREE = Record(
    name=Text(required=True),
    primary=Flag(),
    facets=Items(allow_none=True),
    landingRules=Items(allow_none=True),
    nodes=Items(),
)


@dataclass(frozen=True, slots=True)
class RequestedOrder:
    """The products that a category is to show first and those that it is to bury, by SKU; None leaves them as they are.
    `node_id` is None in a dry run that adds it."""

    node_id: int | None
    path: str
    at: str
    skus: Sequence[str] | None
    buried: Sequence[str] | None


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
    for draft, _ in every_node(nodes):
        _keep_picture(task, document, draft)
    for complaint in reader.complaints:
        task.refuse(PARTS, document, complaint.problems)
    tree = _store_tree(task, name, wanted)
    if wanted.get("primary") or (tree is not None and is_primary(tree)) or primary_tree_id(task.site_id) is None:
        task.categories = {draft.path for draft, _ in every_node(nodes)}
    return _store_nodes(task, tree, nodes, reader.refused) if "nodes" in fields else []


def _keep_picture(task: ImportTask, document: Document, draft: NodeDraft) -> None:
    """Store the picture of a node; where that is refused, the node keeps the one that it has."""
    name = draft.columns.get("picture")
    if name is None:
        return
    try:
        draft.columns["picture"] = keep_picture(task, name).file
    except Invalid as refused:
        del draft.columns["picture"]
        task.refuse(PARTS, document, [Problem(p.code, p.message, f"{draft.at}/image") for p in refused.problems])


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
        if draft.products is not None or draft.buried is not None:
            node_id = node.id if node else None
            orders.append(RequestedOrder(node_id, draft.path, draft.at, draft.products, draft.buried))
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
        note_deleted(task.author, nodes, ", which the bundle does not have")
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


def import_orders(task: ImportTask, orders: Sequence[RequestedOrder]) -> None:
    """Place the products of the categories by hand, in the order of the bundle, and bury those that it buries. A SKU
    that the shop does not have is reported and left out."""
    document = task.documents.get(FILE)
    if document is None or not orders:
        return
    task.report.of(ORDERS)
    with task.writing():
        for order in orders:
            _import_order(task, document, order)


def _import_order(task: ImportTask, document: Document, order: RequestedOrder) -> None:
    stored, held = _stored_order(order.node_id), _stored_burials(order.node_id)
    wanted = stored if order.skus is None else _known_products(task, document, order.skus, f"{order.at}/products")
    buried = held if order.buried is None else _known_products(task, document, order.buried, f"{order.at}/buried")
    is_moved, is_buried = wanted != stored, set(buried) != set(held)
    task.report.of(ORDERS).note("changed" if is_moved or is_buried else "unchanged", order.path)
    if task.dry_run or order.node_id is None or not (is_moved or is_buried):
        return
    node = db.session.get_one(Node, order.node_id)
    node.updated_at = task.clock.now()
    node.revision += 1
    if is_moved:
        _write_order(task, node.id, wanted, stored)
    if is_buried:
        store_burials(node, buried)


def _known_products(task: ImportTask, document: Document, skus: Sequence[str], at: str) -> list[int]:
    """Return the products of these SKUs, each once; one that the shop does not have is reported."""
    ids = ids_by_sku(task, skus)
    for index, sku in enumerate(skus):
        if sku not in ids:
            message = f"The shop has no product with the SKU “{sku[:80]}”."
            task.refuse(PARTS, document, [Problem("unknown_sku", message, f"{at}/{index}")])
    return list(dict.fromkeys(ids[sku] for sku in skus if sku in ids))


def _stored_burials(node_id: int | None) -> list[int]:
    return [] if node_id is None else buried_in([node_id]).get(node_id, [])


def _stored_order(node_id: int | None) -> list[int]:
    """Return the ids of the placed products, in their order."""
    query = select(Placement.product_id).where(Placement.node_id == node_id)
    return list(db.session.scalars(query.order_by(Placement.position, Placement.product_id)))


def _write_order(task: ImportTask, node_id: int, product_ids: Sequence[int], before: Sequence[int]) -> None:
    removal = delete(PLACEMENTS).where(PLACEMENTS.c.node_id == node_id)
    db.session.execute(removal, execution_options=INDEXED_SEPARATELY)
    rows = [
        {"node_id": node_id, "product_id": product_id, "site_id": task.site_id, "position": position}
        for position, product_id in enumerate(product_ids)
    ]
    if rows:
        db.session.execute(insert(PLACEMENTS), rows, execution_options=INDEXED_SEPARATELY)
    enqueue(db.session, task.site_id, PRODUCT, {*product_ids, *before})


def trees_document(site_id: int) -> dict[str, Any]:
    rows = db.session.scalars(select(Tree).where(Tree.site_id == site_id).order_by(Tree.id))
    return {"trees": [_tree_json(tree) for tree in rows]}


def _tree_json(tree: Tree) -> dict[str, Any]:
    query = select(Node).where(Node.tree_id == tree.id).order_by(Node.position, Node.id)
    children: dict[int | None, list[Node]] = {}
    for node in db.session.scalars(query):
        children.setdefault(node.parent_id, []).append(node)
    placed, buried = _placed_skus(tree), _buried_skus(tree)
    return {
        "name": tree.name,
        "primary": tree.primary,
        "facets": order_fields(tree.facets),
        "landingRules": order_fields(tree.default_landing_rules),
        "nodes": [_node_json(node, children, placed, buried) for node in children.get(None, [])],
    }


def _placed_skus(tree: Tree) -> dict[int, list[str]]:
    query = (
        select(Placement.node_id, Product.sku)
        .join(Node, Node.id == Placement.node_id)
        .join(Product, Product.id == Placement.product_id)
        .where(Node.tree_id == tree.id)
        .order_by(Placement.position, Product.id)
    )
    return _by_node(query)


def _buried_skus(tree: Tree) -> dict[int, list[str]]:
    query = (
        select(Burial.node_id, Product.sku)
        .join(Node, Node.id == Burial.node_id)
        .join(Product, Product.id == Burial.product_id)
        .where(Node.tree_id == tree.id)
        .order_by(Product.id)
    )
    return _by_node(query)


def _by_node(query: Select[int, str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for node_id, sku in db.session.execute(query):
        found.setdefault(node_id, []).append(sku)
    return found


def _node_json(
    node: Node, children: dict[int | None, list[Node]], placed: dict[int, list[str]], buried: dict[int, list[str]]
) -> dict[str, Any]:
    return {
        "name": node.name,
        "slug": node.slug,
        "visible": node.visible,
        "description": node.description,
        "image": f"{MEDIA}{node.picture}" if node.picture else None,  # Without one, that of another shop goes.
        "seo": {
            "canonicalOverride": node.canonical_override,
            "excludeFromSitemap": node.exclude_from_sitemap,
            "metaTitle": node.meta_title,
            "metaDescription": node.meta_description,
        },
        "landingRules": order_fields(node.landing_rules),
        "facets": order_fields(node.facets),
        "products": placed.get(node.id, []),
        "buried": buried.get(node.id, []),
        "source": {"levels": node.source_levels, "manufacturers": node.source_manufacturers},
        "children": [_node_json(child, children, placed, buried) for child in children.get(node.id, [])],
    }


def category_files(site_id: int) -> set[str]:
    """Return the files of the categories' own pictures."""
    query = select(Node.picture).where(Node.site_id == site_id, Node.picture.is_not(None))
    return set(db.session.scalars(query))

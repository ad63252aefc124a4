"""A site's category tree in memory, and the categories in the bar at the top of every page. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

FLAGS = ("inStock", "onSale", "featured")
VALUE_FACETS = frozenset(("manufacturer", *FLAGS))
NUMBER_FACETS = frozenset(("rating",))
BRAND_SEGMENT = "brand"  # Of the landing pages of manufacturers, unless their rule names another.


class Display(StrEnum):
    """The display of a filter: values with counts, colours, one switch, or two ends of a number."""

    LIST = "list"
    SWATCH = "swatch"
    TOGGLE = "toggle"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter of a listing. `facet_id` is a built-in name (manufacturer, price, rating, inStock, onSale,
    featured) or an attribute id; `swatches` gives colours (`#rrggbb`) to values whose name is none."""

    facet_id: str
    display: Display = Display.LIST
    label: str | None = None
    swatches: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Facet:
        """Return the facet of the stored form, which is the bundle's."""
        return cls(
            facet_id=stored["facetId"],
            display=Display(stored.get("display") or Display.LIST),
            label=stored.get("label") or None,
            swatches=stored.get("swatches") or {},
        )


@dataclass(frozen=True, slots=True)
class ShopNode:
    """A category. `path` is the slugs from the root, joined by `/`. None in `own_facets` or `own_landing_rules`
    inherits."""

    id: int
    tree_id: int
    parent_id: int | None
    name: str
    slug: str
    path: str
    visible: bool = True
    description: str = ""
    picture: str | None = None
    canonical_override: str | None = None
    exclude_from_sitemap: bool = False
    meta_title: str | None = None
    meta_description: str | None = None
    updated_at: datetime | None = None
    own_landing_rules: tuple[dict[str, Any], ...] | None = None
    own_facets: tuple[Facet, ...] | None = None
    source_levels: tuple[str, ...] = ()
    source_manufacturers: tuple[str, ...] = ()


def segment_of(rule: Mapping[str, Any]) -> str:
    """The step of the address that leads to the pages of a landing rule."""
    default = BRAND_SEGMENT if rule["facetId"] == "manufacturer" else rule["facetId"].lower()
    return str(rule.get("pathSegment") or default)


class ShopTree:
    """The categories of a site, those of its primary tree reachable by path.

    `nodes` come in display order. Other trees have no addresses, but products are sorted into them too.
    """

    def __init__(
        self,
        nodes: Iterable[ShopNode],
        tree_facets: Mapping[int, tuple[Facet, ...]],
        primary_tree_id: int | None,
        default_landing_rules: Mapping[int, tuple[dict[str, Any], ...]] | None = None,
    ) -> None:
        self.nodes: dict[int, ShopNode] = {node.id: node for node in nodes}
        self._tree_facets = tree_facets
        self._default_landing_rules = default_landing_rules or {}
        self.primary_tree_id = primary_tree_id
        self._children: dict[int | None, list[ShopNode]] = {}
        self._by_path: dict[str, ShopNode] = {}
        self._by_level: dict[str, list[ShopNode]] = {}
        self._by_manufacturer_alone: list[tuple[frozenset[str], int]] = []
        self._makers: dict[int, frozenset[str]] = {}
        for node in self.nodes.values():
            self._arrange(node)

    def _arrange(self, node: ShopNode) -> None:
        if node.tree_id == self.primary_tree_id:
            self._by_path[node.path] = node
        if node.parent_id is not None or node.tree_id == self.primary_tree_id:
            self._children.setdefault(node.parent_id, []).append(node)
        makers = frozenset(name.casefold() for name in node.source_manufacturers)
        if node.source_levels:
            self._makers[node.id] = makers
            for level_id in node.source_levels:
                self._by_level.setdefault(level_id, []).append(node)
        elif makers:
            self._by_manufacturer_alone.append((makers, node.id))

    def at(self, path: str) -> ShopNode | None:
        """The category that shoppers reach by this path; None where none is, or it or one above is hidden."""
        node = self._by_path.get(path)
        return node if node is not None and self.is_shown(node) else None

    @property
    def by_path(self) -> Mapping[str, ShopNode]:
        """The categories of the primary tree by their paths, hidden ones too."""
        return self._by_path

    def is_shown(self, node: ShopNode) -> bool:
        return node.visible and all(above.visible for above in self.ancestors(node.id))

    def ancestors(self, node_id: int) -> list[ShopNode]:
        """The categories above, the root first."""
        above: list[ShopNode] = []
        parent_id = self.nodes[node_id].parent_id
        while parent_id is not None:
            parent = self.nodes[parent_id]
            above.append(parent)
            parent_id = parent.parent_id
        return above[::-1]

    def trail(self, node_id: int) -> list[ShopNode]:
        """The way to a category: those above it, then itself."""
        return [*self.ancestors(node_id), self.nodes[node_id]]

    def label(self, node_id: int) -> str:
        """The trail in words, as in "Garden › Tools"."""
        return " › ".join(step.name for step in self.trail(node_id))

    def children(self, node_id: int | None) -> list[ShopNode]:
        """The visible categories below one, or with None the roots of the primary tree, in display order."""
        return [node for node in self.every_child(node_id) if node.visible]

    def shown(self, below: int | None = None) -> Iterator[ShopNode]:
        """Yield the categories that shoppers reach, all or those below one, in display order: each is followed by those
        below it."""
        for node in self.children(below):
            yield node
            yield from self.shown(node.id)

    def every_child(self, node_id: int | None) -> Sequence[ShopNode]:
        """Return the categories below one, with the hidden ones, which hold their addresses too."""
        return self._children.get(node_id, ())

    def with_those_below(self, node_id: int) -> list[ShopNode]:
        """A category and all below it, hidden ones too, which show their products in those above."""
        return [node for node in self.nodes.values() if any(step.id == node_id for step in self.trail(node.id))]

    def facets(self, node_id: int) -> tuple[Facet, ...]:
        """The filters of a category: its own, else those of the nearest category above, else the tree's."""
        for node in reversed(self.trail(node_id)):
            if node.own_facets is not None:
                return node.own_facets
        return self.tree_facets(self.nodes[node_id].tree_id)

    def tree_facets(self, tree_id: int) -> tuple[Facet, ...]:
        """The filters of the categories of a tree that neither have nor inherit others."""
        return self._tree_facets.get(tree_id, ())

    def default_landing_rules(self, tree_id: int) -> tuple[dict[str, Any], ...]:
        """The landing rules of the categories of a tree that have none of their own."""
        return self._default_landing_rules.get(tree_id, ())

    def landing_segments(self, node: ShopNode) -> frozenset[str]:
        """The steps of addresses below a category under which its landing rules give it pages; none where it has a
        canonical override."""
        own = node.own_landing_rules
        rules = self.default_landing_rules(node.tree_id) if own is None else own
        return frozenset() if node.canonical_override else frozenset(map(segment_of, rules))

    def categories_of(
        self, level_path: Sequence[str], manufacturer: str, placed_node_ids: Iterable[int] = ()
    ) -> frozenset[int]:
        """Every category that shows a product: where it is placed by hand, where a rule takes it, and all above.

        `level_path` is its level and the levels above it. A rule takes a product that is of one of its
        levels (or below) and of one of its manufacturers, where it names any; case does not matter in names.
        """
        found: set[int] = {node_id for node_id in placed_node_ids if node_id in self.nodes}
        maker = manufacturer.casefold()
        for level_id in level_path:
            for node in self._by_level.get(level_id, ()):
                makers = self._makers[node.id]
                if not makers or maker in makers:
                    found.add(node.id)
        found.update(node_id for makers, node_id in self._by_manufacturer_alone if maker in makers)
        for node_id in tuple(found):
            found.update(above.id for above in self.ancestors(node_id))
        return frozenset(found)

    def main_category(self, category_ids: Iterable[int]) -> ShopNode | None:
        """Return the main one of the categories that show a product: the deepest shown one of the primary tree, the
        first of them in display order."""
        order = list(self.nodes)
        shown = [
            self.nodes[node_id]
            for node_id in category_ids
            if node_id in self.nodes
            and self.nodes[node_id].tree_id == self.primary_tree_id
            and self.is_shown(self.nodes[node_id])
        ]
        return min(shown, key=lambda node: (-node.path.count("/"), order.index(node.id)), default=None)


MENU_ROOM = 100  # Characters of names in one line of a wide screen, in the widest letters of our themes.
BETWEEN_NAMES = 4  # Characters that fit between two names.


@dataclass(frozen=True, slots=True)
class Menu:
    """`shown` stand in the bar, `more` behind its last entry, both in the order of the tree."""

    shown: Sequence[ShopNode]
    more: Sequence[ShopNode]


def menu(roots: Sequence[ShopNode], room: int = MENU_ROOM) -> Menu:
    """Return the menu of a tree: as many of its first categories as there is room for, one at least."""
    used = 0
    for place, root in enumerate(roots):
        used += len(root.name) + BETWEEN_NAMES
        if used > room and place:
            return Menu(roots[:place], roots[place:])
    return Menu(roots, ())


MOST_MENU_LINKS = 400  # Of the menu of all categories, which every page carries.


def has_deep_menu(tree: ShopTree) -> bool:
    """Whether the menu of all categories shows three levels of them; two where three would be too many links."""
    roots = tree.children(None)
    children = [child for root in roots for child in tree.children(root.id)]
    leaves = sum(len(tree.children(child.id)) for child in children)
    return len(roots) + len(children) + leaves <= MOST_MENU_LINKS

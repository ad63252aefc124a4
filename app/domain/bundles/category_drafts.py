"""The categories of a bundle, read and checked without the database. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.catalogue.markup import clean_html
from app.domain.merchandising.category_rules import (
    MOST_BURIED,
    canonical_problems,
    category_slug_problems,
    clean_source,
    count_problems,
    depth_problems,
    description_problems,
    meta_problems,
    name_problems,
    path_of,
    slug_from,
)
from app.domain.merchandising.facets import clean_facets
from app.domain.seo.landing.rules import clean_rules
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Object, Record, Text, Texts
from app.domain.shared.text import one_line
from app.domain.taxonomy.tree import Attribute

NODE = Record(
    name=Text(required=True),
    slug=Text(allow_none=True),
    visible=Flag(),
    description=Text(allow_none=True),
    image=Text(allow_none=True),
    seo=Object(allow_none=True),
    landingRules=Items(allow_none=True),
    facets=Items(allow_none=True),
    products=Texts(),
    buried=Texts(),
    source=Object(allow_none=True),
    children=Items(),
)
SEO = Record(
    canonicalOverride=Text(allow_none=True),
    excludeFromSitemap=Flag(),
    metaTitle=Text(allow_none=True),
    metaDescription=Text(allow_none=True),
)
SOURCE = Record(levels=Texts(), manufacturers=Texts())

Facets = list[dict[str, Any]]


@dataclass(slots=True)
class NodeDraft:
    """A node of a bundle's tree. `columns` holds what the bundle says of the node, by column, its picture as the bundle
    names it; None in `products` says nothing of its order, in `buried` nothing of what stands last."""

    at: str
    path: str
    columns: dict[str, Any]
    products: list[str] | None = None
    buried: list[str] | None = None
    children: list[NodeDraft] = field(default_factory=list)


@dataclass(slots=True)
class Complaint:
    """A node, filter or landing rule that is left out, for one or several reasons."""

    problems: list[Problem]


@dataclass(slots=True)
class NodeReader:
    """A reader of the nodes of one tree. `attributes` are those of the active taxonomy, `levels` its level ids.
    `refused` are the paths of the nodes that are left out; of one whose own path is not known for sure, since it has no
    name or a wrong slug, that of its parent."""

    site_id: int
    attributes: Mapping[str, Sequence[Attribute]]
    levels: Collection[str]
    complaints: list[Complaint] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    count: int = 0

    def read(self, raw: Sequence[Any], facets: Facets, pointer: str, above: str = "") -> list[NodeDraft]:
        """Return the sound nodes of a list; `facets` are the ones that hold above it, `above` is the parent's path."""
        nodes: list[NodeDraft] = []
        taken: set[str] = set()
        for index, item in enumerate(raw):
            node = self._read_node(item, facets, f"{pointer}/{index}", above, taken)
            if node is not None:
                node.columns["position"] = len(nodes)
                nodes.append(node)
        return nodes

    def _read_node(self, raw: Any, inherited: Facets, at: str, above: str, taken: set[str]) -> NodeDraft | None:
        problems: list[Problem] = []
        fields = NODE.read(raw, at, problems)
        seo = SEO.read(fields.get("seo") or {}, f"{at}/seo", problems)
        source = SOURCE.read(fields.get("source") or {}, f"{at}/source", problems)
        own_slug: str = (fields.get("slug") or "").strip()
        node_slug = own_slug or slug_from(fields.get("name", ""), taken)
        path = path_of(above, node_slug)
        self.count += 1
        problems += [*_node_problems(fields, seo, node_slug, path, taken, at), *count_problems(self.count, at)]
        if problems:
            self.complaints.append(Complaint(problems))
            has_path = bool(own_slug or fields.get("name")) and all(p.pointer != f"{at}/slug" for p in problems)
            self.refused.add(path if has_path else above)
            return None
        taken.add(node_slug)
        columns = {"slug": node_slug, **_node_columns(fields, seo, self.site_id)}
        node = NodeDraft(at, path, columns, fields.get("products"), self._read_buried(fields.get("buried"), at))
        facets = self._read_facets(node, fields, inherited)
        if "landingRules" in fields:
            node.columns["landing_rules"] = self.rules(fields["landingRules"], facets, f"{at}/landingRules")
        self._read_source(node, source, "source" in fields)
        node.children = self.read(fields.get("children", []), facets, f"{at}/children", path)
        return node

    def _read_facets(self, node: NodeDraft, fields: Mapping[str, Any], inherited: Facets) -> Facets:
        if "facets" not in fields:
            return inherited
        if fields["facets"] is None:
            node.columns["facets"] = None
            return inherited
        kept, problems = clean_facets(fields["facets"], f"{node.at}/facets")
        self.complain(problems)
        node.columns["facets"] = kept
        return kept

    def rules(self, raw: list[Any] | None, facets: Facets, pointer: str) -> list[dict[str, Any]] | None:
        if raw is None:
            return None
        kept, problems = clean_rules(raw, self.attributes, shown_as_range(facets), pointer)
        self.complain(problems)
        return kept

    def _read_source(self, node: NodeDraft, source: Mapping[str, list[str]], is_given: bool) -> None:
        if not is_given:
            return
        levels, makers = source.get("levels", []), source.get("manufacturers", [])
        rule, problems = clean_source(levels, makers, self.levels, f"{node.at}/source")
        self.complain(problems)
        if (levels and not rule.levels) or (makers and not rule.manufacturers):
            return  # What is left of the rule would take far more products than it was to.
        node.columns["source_levels"] = list(rule.levels)
        node.columns["source_manufacturers"] = list(rule.manufacturers)

    def _read_buried(self, skus: list[str] | None, at: str) -> list[str] | None:
        if skus is None or len(set(skus)) <= MOST_BURIED:
            return skus
        message = f"A category buries at most {MOST_BURIED:,} products. What it buries stays as it is."
        self.complain([Problem("too_many", message, f"{at}/buried")])
        return None

    def complain(self, problems: Sequence[Problem]) -> None:
        """Add a complaint for each problem, which is about a part of its own."""
        self.complaints += [Complaint([problem]) for problem in problems]


def shown_as_range(facets: Facets) -> set[str]:
    return {facet["facetId"] for facet in facets if facet["display"] == "range"}


def every_node(nodes: Sequence[NodeDraft]) -> Iterator[tuple[NodeDraft, NodeDraft | None]]:
    """Yield each node with its parent, parents first."""
    waiting: list[tuple[NodeDraft, NodeDraft | None]] = [(node, None) for node in reversed(nodes)]
    while waiting:
        node, parent = waiting.pop()
        yield node, parent
        waiting += [(child, node) for child in reversed(node.children)]


def _node_problems(
    fields: Mapping[str, Any], seo: Mapping[str, Any], node_slug: str, path: str, taken: Collection[str], at: str
) -> Iterator[Problem]:
    yield from name_problems(fields.get("name", "x"), f"{at}/name")
    yield from description_problems(fields.get("description") or "", f"{at}/description")
    yield from category_slug_problems(node_slug, f"{at}/slug")
    if node_slug in taken:
        yield Problem("duplicate_slug", f"Two categories side by side have the slug “{node_slug}”.", f"{at}/slug")
    yield from depth_problems(path, at)
    yield from canonical_problems((seo.get("canonicalOverride") or "").strip(), f"{at}/seo/canonicalOverride")
    yield from meta_problems(seo.get("metaTitle") or "", seo.get("metaDescription") or "", f"{at}/seo")


def _node_columns(fields: Mapping[str, Any], seo: Mapping[str, Any], site_id: int) -> dict[str, Any]:
    columns: dict[str, Any] = {"name": one_line(fields["name"])}
    if "visible" in fields:
        columns["visible"] = fields["visible"]
    if "description" in fields:
        columns["description"] = clean_html(fields["description"] or "", site_id)
    if "image" in fields:
        columns["picture"] = fields["image"] or None
    if "canonicalOverride" in seo:
        columns["canonical_override"] = (seo["canonicalOverride"] or "").strip() or None
    if "excludeFromSitemap" in seo:
        columns["exclude_from_sitemap"] = seo["excludeFromSitemap"]
    for name, column in (("metaTitle", "meta_title"), ("metaDescription", "meta_description")):
        if name in seo:
            columns[column] = one_line(seo[name] or "") or None
    return columns

"""A category as a search engine would list it, while its texts are edited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.domain.merchandising.category_rules import canonical_problems, category_slug_problems, path_of
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.search.listings.listing import ListingRequest
from app.domain.seo.heads import ShownListing, category_head, category_request, shortened
from app.domain.seo.indexing_decision import is_cross_domain
from app.domain.shared.text import one_line

LONGEST_TITLE = 60  # Characters of a title that fit into a result, more or less.


@dataclass(frozen=True, slots=True)
class ResultTexts:
    """The typed texts that decide how a category is listed."""

    name: str
    slug: str = ""
    description: str = ""
    meta_title: str = ""
    meta_description: str = ""
    canonical_override: str = ""
    exclude_from_sitemap: bool = False


@dataclass(frozen=True, slots=True)
class ResultPreview:
    """The preview of a search result. `title` and `description` are cut as a result shows them. `notes` say what a
    merchandiser should know."""

    site: str
    title: str
    address: str
    description: str
    notes: tuple[str, ...]


def result_preview(shop: Shop, node_id: int, typed: ResultTexts, products: int) -> ResultPreview:
    """Return the preview of a category with the typed texts. It must be in the shop's trees; `products` is how many it
    shows."""
    node = _edited(shop.tree.nodes[node_id], typed)
    request = category_request(node, ListingRequest(path=f"/c/{node.path}"))
    head = category_head(shop, node, request, ShownListing(products))
    return ResultPreview(
        site=shop.name,
        title=_cut(head.title),
        address=head.decision.canonical or "",
        description=shortened(head.description),
        notes=tuple(_notes(shop, node, head.title)),
    )


def _edited(node: ShopNode, typed: ResultTexts) -> ShopNode:
    """Return the category with the typed texts; where a name, slug or canonical cannot be saved, with the stored
    one."""
    above, _, stored_slug = node.path.rpartition("/")
    slug, override = typed.slug.strip(), typed.canonical_override.strip()
    return replace(
        node,
        name=one_line(typed.name) or node.name,
        path=path_of(above, stored_slug if category_slug_problems(slug, "") else slug),
        description=typed.description,
        meta_title=one_line(typed.meta_title) or None,
        meta_description=one_line(typed.meta_description) or None,
        canonical_override=node.canonical_override if canonical_problems(override, "") else override or None,
        exclude_from_sitemap=typed.exclude_from_sitemap,
    )


def _notes(shop: Shop, node: ShopNode, title: str) -> Iterator[str]:
    stored = shop.tree.nodes[node.id]
    if node.path != stored.path and shop.tree.at(stored.path) is stored:
        below = len(shop.tree.with_those_below(node.id)) - 1
        which = f"the old one and those of {below:,} below it answer" if below else "the old one answers"
        yield f"Its address changes from /c/{stored.path}: once this is saved, {which} 404."
    if shop.staging:
        yield "This is a staging site, which is hidden from search engines."
    if node.tree_id != shop.tree.primary_tree_id:
        yield "Not listed, because this tree is not the primary one."
    elif not shop.tree.is_shown(stored):
        yield "Not listed, because it or a category above it is hidden."
    if node.canonical_override:
        elsewhere = is_cross_domain(node.canonical_override, shop.primary_host)
        yield (
            f"Search engines know it by {'an address of another site' if elsewhere else 'another address'}; it is "
            "left out of the sitemap and gets no landing pages."
        )
    elif node.exclude_from_sitemap:
        yield "Excluded from the sitemap. Categories below are still listed."
    if len(title) > LONGEST_TITLE:
        yield f"The title has {len(title)} characters; results show about {LONGEST_TITLE}."


def _cut(title: str) -> str:
    return title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1].rsplit(" ", 1)[0].rstrip(" |–-,") + "…"

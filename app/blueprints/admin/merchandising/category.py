"""The editor of one category: its texts, its rule, its products in their order, its filters, and what search engines
are shown of it. It extends the editor of all content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from flask import g, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.content import ContentEditor, ContentForm, TextControl, add_editor
from app.blueprints.admin.forms import Difference, FieldErrors
from app.blueprints.admin.merchandising.tree_filters import FacetList, FacetRow, filter_choices
from app.blueprints.admin.merchandising.trees import LIST
from app.blueprints.admin.product_order import MOST_COMPARED
from app.blueprints.admin.redirect_choice import redirects_old_address
from app.blueprints.storefront.listing_previews import drawn_category
from app.domain.catalogue.queries import manufacturers
from app.domain.merchandising.categories import CATEGORY, CategoryDraft, describe_changed_addresses, placed_beyond_order
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.models import Node
from app.domain.merchandising.nodes import node_of
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.search.listings.browsing import category_counts, order_without_hand
from app.domain.seo.heads import ResultTexts, result_preview
from app.domain.taxonomy.choices import level_paths, meant_level
from app.domain.taxonomy.taxonomies import active_tree
from app.web.permissions import Permission, requires

MOST_SUGGESTED = 500  # Manufacturers, as one types.
PARTS = "admin/merchandising/category/_parts.html"


@dataclass(frozen=True, slots=True)
class CategoryParts:
    """The parts of a category's form besides texts and products. `chosen_level` is what stands in the field that adds a
    level to the rule, its path, name or id; `level_problem` says why it could not be added."""

    facets: FacetList
    levels: tuple[str, ...] = ()
    manufacturers: str = ""
    exclude_from_sitemap: bool = False
    chosen_level: str = ""
    level_problem: str = ""

    @classmethod
    def of(cls, draft: CategoryDraft) -> Self:
        makers = "\n".join(draft.source.manufacturers)
        return cls(FacetList.of(draft.facets), draft.source.levels, makers, draft.exclude_from_sitemap)

    @classmethod
    def sent(cls, sent: MultiDict[str, str]) -> Self:
        return cls(
            FacetList.sent(sent),
            tuple(dict.fromkeys(sent.getlist("level"))),
            "\n".join(_distinct("\n".join(sent.getlist("manufacturers")))),
            "excludeFromSitemap" in sent,
            sent.get("newLevel", "").strip(),
        )

    def after(self, action: str, name: str) -> Self:
        """Return the parts after a button of the filters (`facet-up:colour`), of the rule's levels (`level-add`,
        `level-remove:7`) or of its manufacturers, where the one that is typed is sent with the others."""
        subject, _, verb = action.partition("-")
        if subject == "facet":
            return replace(self, facets=self.facets.after(verb, name))
        if action == "level-add" and self.chosen_level:
            return self._with_chosen_level()
        if action == "level-remove":
            return replace(self, levels=tuple(level for level in self.levels if level != name))
        if action == "manufacturer-remove":
            kept = (one for one in self.manufacturers.splitlines() if one != name)
            return replace(self, manufacturers="\n".join(kept))
        return self

    def _with_chosen_level(self) -> Self:
        level_id = meant_level(active_tree(current_user.site_id), self.chosen_level)
        if level_id is None:
            text = self.chosen_level[:80]
            return replace(self, level_problem=f"“{text}” is no level of the taxonomy, or the name of several.")
        return replace(self, levels=tuple(dict.fromkeys((*self.levels, level_id))), chosen_level="")

    def chosen_levels(self, paths: Mapping[str, str]) -> list[tuple[str, str, str]]:
        """Return the id, the path and what is wrong of each level."""
        return [(id, paths.get(id, id), "" if id in paths else "not in the active taxonomy") for id in self.levels]

    def other_levels(self, paths: Mapping[str, str]) -> list[str]:
        return [path for id, path in paths.items() if id not in self.levels]

    @property
    def chosen_manufacturers(self) -> list[tuple[str, str, str]]:
        return [(name, name, "") for name in _distinct(self.manufacturers)]

    def draft(self) -> dict[str, Any]:
        source = SourceRule(self.levels, tuple(self.manufacturers.splitlines()))
        facets = self.facets.draft()
        return {"source": source, "facets": facets, "exclude_from_sitemap": self.exclude_from_sitemap}

    def differences(self, stored: Self) -> list[Difference]:
        paths = level_paths(active_tree(current_user.site_id))
        pairs = (
            ("Levels", *("; ".join(paths.get(id, id) for id in one.levels) for one in (stored, self))),
            ("Manufacturers", stored.manufacturers, self.manufacturers),
            ("Filters", stored.facets.summary, self.facets.summary),
            ("In the sitemap", *("No" if one.exclude_from_sitemap else "Yes" for one in (stored, self))),
        )
        return [Difference(*pair) for pair in pairs if pair[1].split() != pair[2].split()]


def _distinct(lines: str) -> list[str]:
    """Return the names of a text, one per line, each once whatever its case."""
    names: dict[str, str] = {}
    for line in lines.splitlines():
        if name := " ".join(line.split()):
            names.setdefault(name.casefold(), name)
    return list(names.values())


class CategoryEditor(ContentEditor):
    def in_shop(self, seo_name: str) -> str:
        return f"/c/…/{seo_name}"

    def shop_path(self, record: Node) -> str | None:
        shop = _shop()
        node = shop.tree.nodes.get(record.id)
        is_seen = node is not None and shop.tree.at(node.path) is node
        return f"/c/{record.path}" if is_seen else None

    @property
    def address_help(self) -> str:
        return "The last part of its address. Changing it changes the addresses of this category and of all below it."

    def address_of(self, record: Node) -> str:
        return record.path

    def moved(self, record: Node, old_address: str) -> str | None:
        return describe_changed_addresses(record, old_address, redirected=redirects_old_address())

    def back(self, record: Node) -> tuple[str, str]:
        return url_for("admin.tree_page", tree_id=record.tree_id, category=record.id), "The tree"

    def order_without_hand(self, record: Node) -> Sequence[int]:
        shop = _shop()
        node = shop.tree.nodes.get(record.id)
        return order_without_hand(shop, node, MOST_COMPARED) if node is not None else ()

    def drawn_for_shoppers(self, record: Node) -> str | None:
        shop = _shop()
        node = shop.tree.nodes.get(record.id)
        return drawn_category(shop, node) if node is not None and self.shop_path(record) else None

    def context(self, record: Node, form: ContentForm) -> dict[str, Any]:
        shown = category_counts(ports.search_engine(), record.site_id).of(record.id)
        return _parts(record, form.parts) | {
            "beyond": placed_beyond_order(record.site_id, record.id),
            "shown_products": shown,
            "preview": _preview(record, form, shown),
        }


EDITOR = CategoryEditor(
    kind=CATEGORY,
    plural="categories",
    folder=LIST,
    permission=Permission.MANAGE_MERCHANDISING,
    controls=(
        TextControl("name", "Name"),
        TextControl(
            "description",
            "Description",
            "Shown above the products. Headings, lists and links are kept; scripts are removed.",
            rows=4,
            is_rich=True,
        ),
    ),
    address_heading="Address and search engines",
    address_label="Slug",
    address_controls=(
        TextControl("meta_title", "Meta title", "The title of the page, as written. Empty: made from the name."),
        TextControl(
            "meta_description",
            "Meta description",
            "One or two sentences that search engines may show. Empty: the beginning of the description.",
            rows=2,
        ),
    ),
    holds_products=True,
    buries_products=True,
    products_help="What is placed by hand is shown first, in this order, before the products of the rule.",
    has_list=False,
    parts=CategoryParts,
    parts_template=PARTS,
    address_template="admin/merchandising/category/_search_engines.html",
    below_template="admin/merchandising/category/_below.html",
)
add_editor(EDITOR)
CATEGORY_PAGE = f"{LIST}/category/<int(max=2147483647):category_id>"


@bp.post(f"{CATEGORY_PAGE}/parts")
@requires(Permission.MANAGE_MERCHANDISING)
def category_parts(category_id: int) -> str:
    """Return the rule and the filters as the pressed button changes them; nothing is saved."""
    record = node_of(current_user.site_id, category_id)
    form = ContentForm.sent(EDITOR, request.form).after(request.form.get("intent", ""))
    return render_template(
        PARTS, form=form, record=record, changed=True, errors=FieldErrors(), **_parts(record, form.parts)
    )


@bp.post(f"{CATEGORY_PAGE}/preview")
@requires(Permission.MANAGE_MERCHANDISING)
def category_preview(category_id: int) -> str:
    """Return the preview of a search engine's result for the form as it is filled in."""
    record = node_of(current_user.site_id, category_id)
    shown = category_counts(ports.search_engine(), record.site_id).of(record.id)
    preview = _preview(record, ContentForm.sent(EDITOR, request.form), shown)
    return render_template("admin/merchandising/category/_preview.html", preview=preview)


def _shop() -> Shop:
    """Return the shop, read once a request. To be called after what the request saves."""
    if "edited_shop" not in g:
        g.edited_shop = read_shop(current_user.site_id)
    shop: Shop = g.edited_shop
    return shop


def _parts(record: Node, parts: CategoryParts) -> dict[str, Any]:
    shop = _shop()
    inherited = tuple(FacetRow.of(facet) for facet in _inherited(shop, record))
    facets = parts.facets if parts.facets.own else replace(parts.facets, rows=inherited)
    return filter_choices(shop, facets) | {
        "facets": facets,
        "inherits": True,
        "levels": level_paths(shop.taxonomy),
        "manufacturers": manufacturers(record.site_id, "", MOST_SUGGESTED),
    }


def _inherited(shop: Shop, record: Node) -> Any:
    """Return the filters that a category inherits: those of the category above it, at the top those of the tree."""
    if record.parent_id is not None:
        return shop.tree.facets(record.parent_id)
    return shop.tree.tree_facets(record.tree_id)


def _preview(record: Node, form: ContentForm, shown: int | None) -> Any:
    texts = form.texts
    return result_preview(
        _shop(),
        record.id,
        ResultTexts(
            name=texts["name"],
            slug=texts["seo_name"],
            description=texts["description"],
            meta_title=texts["meta_title"],
            meta_description=texts["meta_description"],
            canonical_override=texts["canonical_url"],
            exclude_from_sitemap=form.parts.exclude_from_sitemap,
        ),
        shown or 0,
    )

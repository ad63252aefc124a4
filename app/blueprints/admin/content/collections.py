"""Collections, and the lookup of products for editors that hold a list of them."""

from __future__ import annotations

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.content.editor import ContentEditor, TextControl
from app.blueprints.admin.content.views import add_editor
from app.domain.catalogue import queries
from app.domain.catalogue.content import COLLECTION
from app.domain.catalogue.listing import LONGEST_WORDS
from app.permissions import Permission, requires

add_editor(
    ContentEditor(
        kind=COLLECTION,
        plural="collections",
        folder="/catalogue",
        permission=Permission.MANAGE_CATALOGUE,
        lead="Products chosen by hand, with a page of their own: a season, a gift list.",
        none_yet="A collection puts products that belong together on one page, in the order you choose.",
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
        holds_products=True,
        deletion="The page of the collection goes; the shop keeps its {products}. This cannot be undone.",
        deleted=" Its products stay.",
    )
)


@bp.get("/catalogue/products/lookup")
@requires(Permission.MANAGE_CATALOGUE)
def products_lookup() -> str:
    """Return the products that match what was typed into the lookup of an editor, for adding them."""
    words = request.args.get("lookup", "")[:LONGEST_WORDS]
    found = queries.find_products(current_user.site_id, words)
    return render_template("admin/content/_lookup.html", found=found, words=words.strip())

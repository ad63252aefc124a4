"""The filters of a tree: those of every category that has none of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.merchandising.facet_list import FacetList
from app.blueprints.admin.merchandising.trees import TREE
from app.blueprints.author import current_author
from app.domain.merchandising import trees
from app.domain.merchandising.facets import known_facets
from app.domain.merchandising.shop import read_shop
from app.domain.shared.problems import Conflict, Invalid
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

NO_ERRORS = FieldErrors()
Answer = str | AnyResponse


@bp.get(f"{TREE}/filters")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_filters(tree_id: int) -> Answer:
    return _page(tree_id, FacetList.of(trees.tree_of(current_user.site_id, tree_id).facets))


@bp.post(f"{TREE}/filters")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_filters_save(tree_id: int) -> Answer:
    """Save the filters. A button within the list (`intent`) changes only the form."""
    facets = replace(FacetList.sent(request.form), own=True)
    version = request.form.get("version", "")
    action, _, name = request.form.get("intent", "").partition(":")
    if action:
        return _page(tree_id, facets.after(action.removeprefix("facet-"), name), version, changed=True)
    try:
        with transaction():
            changed = trees.change_facets(current_author(), tree_id, facets.draft() or (), version)
    except (Invalid, Conflict) as error:
        return _page(tree_id, facets, version, FieldErrors(error))
    flash("Saved. Live within a few seconds." if changed else "No changes to save.", "good")
    return redirect(url_for("admin.tree_page", tree_id=tree_id))


def _page(
    tree_id: int, facets: FacetList, version: str = "", errors: FieldErrors = NO_ERRORS, changed: bool = False
) -> Answer:
    """Show the form. After a conflict, saving it again replaces the filters that are stored now."""
    tree = trees.tree_of(current_user.site_id, tree_id)
    current = trees.facets_version(tree)
    context: dict[str, Any] = {
        "tree": tree,
        "facets": facets,
        "known": known_facets(read_shop(current_user.site_id).attributes),
        "version": current if errors.conflict else version or current,
        "errors": errors,
        "changed": changed,
    }
    if wants_fragment():
        return render_template("admin/merchandising/tree_filters/_filters.html", **context)
    page = render_template("admin/merchandising/tree_filters/page.html", **context)
    return make_response(page, errors.status if errors else 200)

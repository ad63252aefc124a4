"""The lookup of products in the Search section."""

from __future__ import annotations

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.catalogue import queries
from app.domain.catalogue.listing import LONGEST_WORDS
from app.permissions import Permission, requires

PLAIN = "pick"
CHOICES = {PLAIN, "rule"}  # Purposes for which a product can be chosen.


@bp.get("/search/products")
@requires(Permission.MANAGE_SEARCH)
def search_products() -> str:
    """Find products by `q`, or by the parameter that `field` names; `for` is the purpose."""
    words = request.args.get("q") or request.args.get(request.args.get("field", ""), "")
    words = words[:LONGEST_WORDS].strip()
    chosen_for = request.args.get("for", PLAIN)
    return render_template(
        "admin/search/products/_found.html",
        found=queries.find_products(current_user.site_id, words),
        words=words,
        chosen_for=chosen_for if chosen_for in CHOICES else PLAIN,
    )

"""Products to choose from, for what was typed into a lookup of the Search section."""

from __future__ import annotations

from flask import render_template, request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.domain.catalogue import queries
from app.domain.catalogue.listing import LONGEST_WORDS
from app.permissions import Permission, requires

PLAIN = "pick"
CHOICES = {PLAIN, "rule"}  # What a found product can be chosen for.


@bp.get("/search/products")
@requires(Permission.MANAGE_SEARCH)
def search_products() -> str:
    """The words stand in `q`, or in the field that `field` names; `for` says what they are chosen for."""
    words = request.args.get("q") or request.args.get(request.args.get("field", ""), "")
    words = words[:LONGEST_WORDS].strip()
    chosen_for = request.args.get("for", PLAIN)
    return render_template(
        "admin/search/_found_products.html",
        found=queries.find_products(current_user.site_id, words),
        words=words,
        chosen_for=chosen_for if chosen_for in CHOICES else PLAIN,
    )

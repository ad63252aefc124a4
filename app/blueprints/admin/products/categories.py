"""The categories in which a product is placed by hand: each change is saved at once."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.form_numbers import sent_number
from app.blueprints.author import current_author
from app.domain.merchandising import categories
from app.domain.merchandising.product_pages import product_editor
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

CATEGORIES = "/catalogue/product/<int(max=2147483647):product_id>/categories"
Answer = str | Response


@bp.post(CATEGORIES)
@requires(Permission.MANAGE_CATALOGUE)
def product_category_add(product_id: int) -> Answer:
    chosen = sent_number(request.form.get("category", ""))
    with transaction():
        categories.place_product(current_author(), product_id, chosen)
    return _categories(product_id)


@bp.post(f"{CATEGORIES}/<int(max=2147483647):node_id>/remove")
@requires(Permission.MANAGE_CATALOGUE)
def product_category_remove(product_id: int, node_id: int) -> Answer:
    with transaction():
        categories.unplace_product(current_author(), product_id, node_id)
    return _categories(product_id)


def _categories(product_id: int) -> Answer:
    if wants_fragment():
        return render_template(
            "admin/products/_categories.html",
            editor=product_editor(ports.clock(), current_user.site_id, product_id),
            moved_focus=True,
        )
    return redirect(url_for("admin.product_edit", product_id=product_id, _anchor="categories"))

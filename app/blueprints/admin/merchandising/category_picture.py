"""The picture of a category: each change is saved at once and answered with the card of the picture."""

from __future__ import annotations

from flask import make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.merchandising.category import CATEGORY_PAGE
from app.blueprints.callers import current_author
from app.domain.merchandising.categories import set_picture
from app.domain.merchandising.models import Node
from app.domain.merchandising.nodes import node_of
from app.domain.shared.problems import Invalid
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires


@bp.post(f"{CATEGORY_PAGE}/picture")
@requires(Permission.MANAGE_MERCHANDISING)
def category_picture_set(category_id: int) -> Response:
    record = node_of(current_user.site_id, category_id)
    upload = request.files.get("picture")
    try:
        stored = ports.images().keep(current_user.site_id, upload.read() if upload else b"")
    except Invalid as error:
        return _card(record, FieldErrors(error))
    with transaction():
        record = set_picture(current_author(), category_id, stored.file)
    return _card(record)


@bp.post(f"{CATEGORY_PAGE}/picture/remove")
@requires(Permission.MANAGE_MERCHANDISING)
def category_picture_remove(category_id: int) -> Response:
    with transaction():
        record = set_picture(current_author(), category_id, None)
    return _card(record)


def _card(record: Node, errors: FieldErrors | None = None) -> Response:
    """Show the card: with JavaScript alone; without it in the editor, or the reason on a page of its own."""
    if wants_fragment():
        context = {"record": record, "picture_errors": errors or FieldErrors(), "is_changed": True}
        fragment = render_template("admin/merchandising/category_picture/_card.html", **context)
        answer = make_response(fragment, errors.status if errors else 200)
        answer.headers["HX-Retarget"], answer.headers["HX-Reswap"] = "#category-picture", "outerHTML"
        return answer
    if errors:
        raise Invalid(errors.problems)
    return make_response(redirect(url_for("admin.category_edit", category_id=record.id, _anchor="category-picture")))

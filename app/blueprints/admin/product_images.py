"""The pictures of a product: each change is saved at once and answered with the list of pictures."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.domain.catalogue import images
from app.domain.catalogue.models import Product
from app.domain.catalogue.products import product_of
from app.domain.shared.problems import Invalid
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

IMAGES = "/catalogue/product/<int(max=2147483647):product_id>/images"
IMAGE = f"{IMAGES}/<int(max=2147483647):image_id>"
Answer = str | Response | tuple[str, int]


@bp.post(IMAGES)
@requires(Permission.MANAGE_CATALOGUE)
def product_image_add(product_id: int) -> Answer:
    upload = request.files.get("image")
    try:
        stored = ports.images().keep(current_user.site_id, upload.read() if upload else b"")
        with transaction():
            product = images.add(ports.clock(), *_subject(product_id), stored, request.form.get("alt", ""), _actor())
    except Invalid as error:
        return _images(product_of(*_subject(product_id)), FieldErrors(error))
    return _images(product)


@bp.post(f"{IMAGE}/describe")
@requires(Permission.MANAGE_CATALOGUE)
def product_image_describe(product_id: int, image_id: int) -> Answer:
    alt = request.form.get("alt", "")
    try:
        with transaction():
            product = images.describe(ports.clock(), *_subject(product_id), image_id, alt, _actor())
    except Invalid as error:
        return _images(product_of(*_subject(product_id)), FieldErrors(error))
    return _images(product)


@bp.post(f"{IMAGE}/move")
@requires(Permission.MANAGE_CATALOGUE)
def product_image_move(product_id: int, image_id: int) -> Answer:
    steps = -1 if request.form.get("to") == "front" else 1
    with transaction():
        product = images.move(ports.clock(), *_subject(product_id), image_id, steps, _actor())
    return _images(product)


@bp.post(f"{IMAGE}/remove")
@requires(Permission.MANAGE_CATALOGUE)
def product_image_remove(product_id: int, image_id: int) -> Answer:
    with transaction():
        product = images.remove(ports.clock(), *_subject(product_id), image_id, _actor())
    return _images(product)


def _subject(product_id: int) -> tuple[int, int]:
    return current_user.site_id, product_id


def _actor() -> str:
    actor: str = current_user.display_name
    return actor


def _images(product: Product, errors: FieldErrors | None = None) -> Answer:
    """With JavaScript the list of pictures; without it the editor, or the reason on a page of its own."""
    if wants_fragment():
        removed = request.endpoint == "admin.product_image_remove"
        context = {"product": product, "errors": errors or FieldErrors(), "moved_focus": removed}
        fragment = render_template("admin/products/_images.html", **context)
        return fragment, errors.status if errors else 200
    if errors:
        raise Invalid(errors.problems)
    return redirect(url_for("admin.product_edit", product_id=product.id, _anchor="images"))

"""The pictures of a product: each change is saved at once and answered with the list of pictures."""

from __future__ import annotations

from flask import make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.callers import current_author
from app.domain.catalogue import product_images
from app.domain.catalogue.models import Product
from app.domain.catalogue.product_images import UploadSummary
from app.domain.catalogue.products import product_of
from app.domain.shared.problems import Invalid
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

IMAGES = "/catalogue/product/<int(max=2147483647):product_id>/images"
IMAGE = f"{IMAGES}/<int(max=2147483647):image_id>"
GONE = ("admin.product_image_remove", "admin.product_image_dismiss")
Answer = str | Response | tuple[str, int]


@bp.post(IMAGES)
@requires(Permission.MANAGE_CATALOGUE)
def product_image_add(product_id: int) -> Answer:
    """Receive a picture, which a worker draws anew; until then it is shown as being prepared."""
    upload = request.files.get("image")
    name = (upload.filename if upload else None) or "picture"
    try:
        data = upload.read() if upload else b""
        with product_images.receive_upload(ports.images(), current_user.site_id, data) as file, transaction():
            alt, machine = request.form.get("alt", ""), ports.machine_of_uploads()
            product_images.request_upload(current_author(), product_id, file, name, alt, machine)
    except Invalid as error:
        return _images(product_of(current_user.site_id, product_id), FieldErrors(error))
    return _images(product_of(current_user.site_id, product_id), status=202)


@bp.get(f"{IMAGES}/uploads")
@requires(Permission.MANAGE_CATALOGUE)
def product_image_uploads(product_id: int) -> Answer:
    """Show the unfinished uploads; all pictures once fewer are unfinished than the page shows (`awaited`)."""
    product = product_of(current_user.site_id, product_id)
    uploads = picture_uploads_of(product)
    awaited = sum(upload.is_unfinished for upload in uploads)
    if not wants_fragment() or request.args.get("awaited") != str(awaited):
        return _images(product)
    return render_template("admin/products/_image_uploads.html", product=product, uploads=uploads)


@bp.post(f"{IMAGES}/uploads/<upload_id>/dismiss")
@requires(Permission.MANAGE_CATALOGUE)
def product_image_dismiss(product_id: int, upload_id: str) -> Answer:
    with transaction():
        product = product_images.dismiss_upload(current_user.site_id, product_id, upload_id)
    return _images(product)


@bp.post(f"{IMAGE}/describe")
@requires(Permission.MANAGE_CATALOGUE)
def product_image_describe(product_id: int, image_id: int) -> Answer:
    alt = request.form.get("alt", "")
    try:
        with transaction():
            product = product_images.describe(current_author(), product_id, image_id, alt)
    except Invalid as error:
        return _images(product_of(current_user.site_id, product_id), FieldErrors(error))
    return _images(product)


@bp.post(f"{IMAGE}/move")
@requires(Permission.MANAGE_CATALOGUE)
def product_image_move(product_id: int, image_id: int) -> Answer:
    steps = -1 if request.form.get("to") == "front" else 1
    with transaction():
        product = product_images.move(current_author(), product_id, image_id, steps)
    return _images(product)


@bp.post(f"{IMAGE}/remove")
@requires(Permission.MANAGE_CATALOGUE)
def product_image_remove(product_id: int, image_id: int) -> Answer:
    with transaction():
        product = product_images.remove(current_author(), product_id, image_id)
    return _images(product)


@bp.app_template_global("picture_uploads_of")
def picture_uploads_of(product: Product) -> list[UploadSummary]:
    return product_images.uploads_of(ports.clock(), product.site_id, product.id)


def _images(product: Product, errors: FieldErrors | None = None, status: int = 200) -> Answer:
    """Show the pictures: with JavaScript their list; without it the editor, or the reason on a page of its own."""
    if wants_fragment():
        context = {"product": product, "errors": errors or FieldErrors(), "moved_focus": request.endpoint in GONE}
        fragment = render_template("admin/products/_images.html", **context)
        answer = make_response(fragment, errors.status if errors else status)
        answer.headers["HX-Retarget"], answer.headers["HX-Reswap"] = "#images", _swap()
        return answer
    if errors:
        raise Invalid(errors.problems)
    return redirect(url_for("admin.product_edit", product_id=product.id, _anchor="images"))


def _swap() -> str:
    """Return how the list takes the place of the one before. What comes by itself, or while the next description is
    typed, leaves the fields as they are; a button that moved finds its focus again in a new list alone."""
    is_pressed = request.endpoint in ("admin.product_image_move", *GONE)
    return "outerHTML" if is_pressed else "outerMorph"

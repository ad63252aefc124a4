"""Template filters and functions for money and addresses of the catalogue."""

from __future__ import annotations

from flask import url_for
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.shell import shell
from app.domain.catalogue.image_store import small
from app.domain.shared.money import format_money

bp.add_app_template_filter(format_money, "money")


@bp.app_template_global("no_errors")
def no_errors() -> FieldErrors:
    """Return the errors of a form that was not sent yet."""
    return FieldErrors()


@bp.app_template_global("picture_url")
def picture_url(file: str, size: str = "") -> str:
    """Return the address of a stored picture of the current site; `size` "small" for lists."""
    return url_for("media.picture", site_id=current_user.site_id, file=small(file) if size == "small" else file)


@bp.app_template_global("in_shop")
def in_shop(path: str) -> str:
    """Return the address at which shoppers see a path of the current site."""
    return shell().shop_url.rstrip("/") + path

"""The admin's blueprint, on which the views of each section register beside their code, and the requests that may be
larger than all others."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, request
from werkzeug.exceptions import RequestEntityTooLarge

from app import ports
from app.blueprints.json_body import LARGEST_TREE
from app.domain.bundles.archive import LARGEST_UPLOAD as LARGEST_BUNDLE
from app.domain.catalogue.pictures import LARGEST_UPLOAD
from app.domain.seo.landing.rules import MOST_OVERRIDES, MOST_RULES
from app.web.tokens import current_signer, holder_of_permit

bp = Blueprint("admin", __name__, url_prefix="/admin")


ROOM_FOR_FIELDS = 64 * 1024  # Bytes of an upload's form besides the picture.
# A form takes up to nine bytes for a letter, and the longest text has 100,000 of them.
LARGEST_TEXTS = 1024 * 1024
# As much as the web server takes: a form has the name of every field, and its letters take more bytes than in JSON.
LARGEST_RULE_FORM = 9 * 1024 * 1024
MOST_RULE_FIELDS = MOST_RULES * MOST_OVERRIDES * 10  # An override has six; the rest is room for one list too long.
TAKES_FILES = ("admin.bundle_upload", "admin.products_import_upload")
TAKES_PICTURES = ("admin.product_image_add", "admin.category_picture_set")
TAKES_APPEARANCE = {f"admin.appearance_{act}" for act in ("save", "arrange", "preview")}
LARGEST_PICTURES = 8 * 1024 * 1024  # Bytes of all pictures that are chosen in one form, of 5 MB each at most.
TAKES_TREES = ("admin.taxonomy_structure", "admin.taxonomy_impact")
TAKES_RULES = ("admin.category_landing_save", "admin.tree_landing_save")
TAKES_TEXTS = {f"admin.{kind}_{act}" for kind in ("product", "page", "collection") for act in ("create", "save")}
TAKES_TEXTS |= {"admin.taxonomy_draft", "admin.taxonomy_attribute"}  # Up to 1,000 values of an attribute.
TAKES_TEXTS |= {"admin.search_table_import_look", "admin.search_table_import_apply"}
TAKES_TEXTS |= {"admin.judgement_table_import_look", "admin.judgement_table_import_apply", "admin.judged_searches_add"}
TAKES_TEXTS |= {"admin.seo_redirects_import_look", "admin.seo_redirects_import_apply"}
TAKES_TEXTS.add("admin.search_settings_save")  # Up to 600 words, and once more those with which the form was opened.


@bp.url_value_preprocessor
def _raise_limits(endpoint: str | None, values: dict[str, Any] | None) -> None:
    """Raise the limits of the request's body for endpoints that take more, before anything reads the form."""
    if endpoint in TAKES_FILES and _is_permitted(str((values or {}).get("permit"))):
        request.max_content_length = LARGEST_BUNDLE + ROOM_FOR_FIELDS
    elif endpoint in TAKES_PICTURES:
        request.max_content_length = LARGEST_UPLOAD + ROOM_FOR_FIELDS
    elif endpoint in TAKES_APPEARANCE:
        request.max_content_length = LARGEST_PICTURES + ROOM_FOR_FIELDS
    elif endpoint in TAKES_TREES:
        request.max_content_length = LARGEST_TREE
    elif endpoint in TAKES_RULES:
        request.max_content_length = request.max_form_memory_size = LARGEST_RULE_FORM
        request.max_form_parts = MOST_RULE_FIELDS
        _refuse_more_fields(MOST_RULE_FIELDS)
    elif endpoint in TAKES_TEXTS or endpoint == "admin.product_taxonomy_refill":  # Sends the whole product form.
        request.max_content_length = request.max_form_memory_size = LARGEST_TEXTS


def _refuse_more_fields(most: int) -> None:
    """Refuse a form of more fields before it is parsed: the library limits their number in multipart forms alone, and
    millions of empty ones fit into a large body. Raises RequestEntityTooLarge."""
    if request.mimetype == "application/x-www-form-urlencoded" and request.get_data().count(b"&") >= most:
        raise RequestEntityTooLarge(f"A form here has at most {most:,} fields.")


def _is_permitted(permit: str) -> bool:
    """Whether a permit is valid. Without it the web server has taken nothing of a large body."""
    return holder_of_permit(current_signer(), permit, ports.clock().now()) is not None

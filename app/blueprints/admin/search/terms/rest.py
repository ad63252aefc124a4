"""Search terms as JSON."""

from __future__ import annotations

from flask import jsonify, request
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body
from app.domain.catalogue import terms
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.catalogue.terms import TermRow, find_with_terms, product_with_terms
from app.domain.shared.schema import Items, Record
from app.permissions import Permission, requires
from app.transaction import transaction

TERMS = Record(terms=Items(required=True))
PRODUCT = "/search/terms/rest/<int(max=2147483647):product_id>"


@bp.get("/search/terms/rest/products")
@requires(Permission.MANAGE_SEARCH)
def search_terms_products() -> Response:
    words = request.args.get("q", "")[:LONGEST_WORDS].replace("\0", "")
    return jsonify({"products": [_view(row) for row in find_with_terms(current_user.site_id, words)]})


@bp.put(PRODUCT)
@requires(Permission.MANAGE_SEARCH)
def search_terms_replace(product_id: int) -> Response:
    sent = _sent_terms(product_id)
    with transaction():
        stored = terms.replace_terms(current_author(), product_id, sent)
    return jsonify({"productId": str(product_id), "terms": stored})


@bp.post(f"{PRODUCT}/add")
@requires(Permission.MANAGE_SEARCH)
def search_terms_more(product_id: int) -> Response:
    sent = _sent_terms(product_id)
    with transaction():
        stored = terms.add_terms(current_author(), product_id, sent)
    return jsonify({"productId": str(product_id), "terms": stored})


def _sent_terms(product_id: int) -> list[object]:
    """Return the sent terms. Raises NotFound, before the body is read, for an unknown product and for one of another
    site."""
    product_with_terms(current_user.site_id, product_id)
    terms: list[object] = json_body(TERMS)["terms"]
    return terms


def _view(row: TermRow) -> dict[str, object]:
    return {
        "id": str(row.id),
        "sku": row.sku,
        "name": row.name,
        "seoName": row.seo_name,
        "searchTerms": row.terms,
    }

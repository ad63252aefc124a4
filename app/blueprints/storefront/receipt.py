"""The receipt of a card payment, for every holder of its link."""

from __future__ import annotations

from werkzeug.wrappers import Response

from app.blueprints.receipt_links import transaction_of_link
from app.blueprints.storefront.basket import private
from app.blueprints.storefront.blueprint import bp, current_shop
from app.domain.pos.receipt_content import receipt_rows
from app.domain.pos.receipts import NO_RECEIPT, receipt_of
from app.domain.shared.problems import NotFound
from app.permissions import public


@bp.get("/r/<token>")
@public
def receipt(token: str) -> Response:
    site_id = current_shop().site_id
    transaction_id = transaction_of_link(site_id, token)
    if transaction_id is None:
        raise NotFound(NO_RECEIPT)
    shown = receipt_of(site_id, transaction_id)
    answer = private("storefront/receipt.html", receipt=shown, rows=receipt_rows(shown), items=0)
    answer.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    answer.headers["Referrer-Policy"] = "no-referrer"  # The link opens the receipt: no other site learns it.
    return answer

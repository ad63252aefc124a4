"""The receipt of a payment: shown to the customer, or sent by email."""

from __future__ import annotations

from flask import request
from flask_login import current_user

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.catalogue_display import in_shop
from app.blueprints.admin.pos.transaction import TRANSACTION, Answer, done, refused
from app.blueprints.author import current_author
from app.blueprints.receipt_links import qr_code, receipt_path
from app.blueprints.recipient_key import recipient_key
from app.domain.pos.receipts import request_mail
from app.domain.shared.problems import Invalid, TooManyRequests
from app.permissions import Permission, requires
from app.transaction import transaction

bp.add_app_template_global(qr_code, "qr_code")


@bp.app_template_global("receipt_url")
def receipt_url(transaction_id: str) -> str:
    """Return the address of a receipt in the shop of the current user."""
    address = in_shop(receipt_path(current_user.site_id, transaction_id))
    return address if "://" in address else f"{request.scheme}://{request.host}{address}"


@bp.post(f"{TRANSACTION}/receipt")
@requires(Permission.MANAGE_POS)
def pos_send_receipt(transaction_id: str) -> Answer:
    try:
        with transaction():
            link = receipt_url(transaction_id)
            request_mail(current_author(), transaction_id, request.form.get("email", ""), link, recipient_key())
    except Invalid as invalid:
        return refused(transaction_id, invalid)
    except TooManyRequests as error:
        return done(transaction_id, error.message, "bad")
    return done(transaction_id, "The receipt is on its way. The address is forgotten once it is sent.")

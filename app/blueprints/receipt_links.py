"""Links to receipts and their pictures, for every surface that shows one."""

from __future__ import annotations

from io import BytesIO

import segno
from markupsafe import Markup

from app.web.tokens import current_signer, receipt_token, transaction_of_receipt


def receipt_path(site_id: int, transaction_id: str) -> str:
    return f"/r/{receipt_token(current_signer(), site_id, transaction_id)}"


def transaction_of_link(site_id: int, token: str) -> str | None:
    """Return the id of the transaction of a link; None for a token that is not the site's."""
    return transaction_of_receipt(current_signer(), site_id, token)


def qr_code(address: str) -> Markup:
    """Return the QR code of an address as SVG, without styles or scripts, for a page or as an image of its own.
    It takes the size of the place where it stands."""
    drawn, code = BytesIO(), segno.make(address, error="m", micro=False)
    code.save(drawn, kind="svg", xmldecl=False, nl=False, dark="#000", light="#fff", border=2, omitsize=True)
    return Markup(drawn.getvalue().decode())

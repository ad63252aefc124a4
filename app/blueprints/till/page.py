"""The one page of the till."""

from __future__ import annotations

from flask import render_template

from app.blueprints.till.blueprint import bp
from app.web.permissions import public

STYLES = (
    "till/till.css",
    "till/around.css",
    "till/cash.css",
    "till/order.css",
    "till/payment.css",
)


@bp.get("")
@bp.get("/<path:screen>")
@public
def page(screen: str = "") -> str:
    """Show the app, which reads from the address which screen is meant. It holds nothing of the shop: who may see what
    is decided by /v1."""
    return render_template("till/page.html", styles=STYLES)

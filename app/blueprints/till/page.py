"""The pages of the till: the app, and the display that customers see."""

from __future__ import annotations

from flask import render_template

from app.blueprints.till.blueprint import bp
from app.web.permissions import public

STYLES = (
    "till/till.css",
    "till/forms.css",
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


@bp.get("/display")
@public
def display() -> str:
    """Show the customer's display, which follows the till in the same browser and knows nothing by itself."""
    return render_template("till/display.html")

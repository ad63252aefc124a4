"""Differences between the shop and the payment processor, until an admin resolved them or both agree again."""

from __future__ import annotations

from flask import flash, redirect, render_template, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.author import current_author
from app.domain.pos import ledger
from app.domain.pos.ledger_comparison import DifferenceKind
from app.permissions import Permission, requires
from app.transaction import transaction


@bp.get("/pos/differences")
@requires(Permission.MANAGE_POS)
def pos_differences() -> str:
    found = ledger.unsettled_differences(current_user.site_id)
    labels = {kind.value: kind.label for kind in DifferenceKind}
    return render_template("admin/pos/differences/page.html", found=found, labels=labels)


@bp.post("/pos/differences/<int(max=2147483647):difference_id>/settle")
@requires(Permission.MANAGE_POS)
def pos_settle_difference(difference_id: int) -> Response:
    with transaction():
        ledger.settle_difference(current_author(), difference_id)
    flash("Settled. The activity log says by whom.", "good")
    return redirect(url_for("admin.pos_differences"))

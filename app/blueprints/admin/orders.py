"""Orders: who collects what, and what became of it."""

from __future__ import annotations

from collections.abc import Callable

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.author import current_author
from app.domain.orders import queries, status_changes
from app.domain.orders.listing import OVERDUE_AFTER, OrderList
from app.domain.orders.purge import CONTACT_KEPT, CONTACT_KEPT_AT_MOST
from app.domain.orders.status_changes import StatusChange
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.sites.sites import time_zone_of
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

ORDER = "/orders/<order_id>"


@bp.get("/orders")
@requires(Permission.MANAGE_ORDERS)
def orders_list() -> Response:
    site_id, filters = current_user.site_id, OrderList.read(request.args)
    template = "admin/orders/_results.html" if wants_fragment() else "admin/orders/list.html"
    found, counts = queries.orders(ports.clock(), site_id, filters), queries.counts(ports.clock(), site_id)
    context = {"found": found, "counts": counts, "asked": filters, "overdue_days": OVERDUE_AFTER.days}
    return make_response(render_template(template, **context))


@bp.get(ORDER)
@requires(Permission.MANAGE_ORDERS)
def order_page(order_id: str) -> str:
    site_id, clock = current_user.site_id, ports.clock()
    order = status_changes.order_of(site_id, order_id)
    context = {
        "order": order,
        "happenings": queries.history(site_id, order_id),
        "time_zone": time_zone_of(site_id),
        "is_overdue": queries.is_overdue(clock, order),
        "can_reopen": status_changes.can_reopen(order, clock),
        "days_kept": CONTACT_KEPT.days,
        "years_kept": CONTACT_KEPT_AT_MOST.days // 365,
    }
    return render_template("admin/orders/order.html", **context)


@bp.post(f"{ORDER}/collect")
@requires(Permission.MANAGE_ORDERS)
def order_collect(order_id: str) -> Response:
    return _change(order_id, status_changes.collect, "is collected and paid", "was collected already")


@bp.post(f"{ORDER}/reopen")
@requires(Permission.MANAGE_ORDERS)
def order_reopen(order_id: str) -> Response:
    return _change(order_id, status_changes.reopen, "is to hand over again", "is to hand over already")


@bp.post(f"{ORDER}/cancel")
@requires(Permission.MANAGE_ORDERS)
def order_cancel(order_id: str) -> Response:
    return _change(order_id, status_changes.cancel, "is cancelled", "was cancelled already")


def _change(order_id: str, change: Callable[[Author, str], StatusChange], done: str, unchanged: str) -> Response:
    try:
        with transaction():
            made = change(current_author(), order_id)
    except Conflict as error:
        flash(error.message, "warn")
    else:
        if made.not_returned:
            names = ", ".join(made.not_returned)
            flash(
                f"Not counted back into stock: {names}. It is not in the catalogue any more, is not counted now, or is "
                "sold in variants now. What lies in the shop, please add to the stock where it belongs.",
                "warn",
            )
        flash(f"Order {made.number} {done if made.changed else unchanged}.", "good")
    return redirect(url_for("admin.order_page", order_id=order_id))

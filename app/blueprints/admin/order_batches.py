"""What staff do with the orders that they ticked in the list: mark them as ready, and print their packing slips."""

from __future__ import annotations

from collections.abc import Sequence

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.callers import current_author
from app.domain.delivery.rates import format_weight
from app.domain.orders.batches import BatchResult, mark_all_ready, orders_to_pack
from app.domain.orders.listing import OrderList
from app.domain.pos.order_payments import payment_summaries
from app.domain.shared.problems import Invalid
from app.domain.shared.text import numbered
from app.domain.sites.sites import time_zone_of
from app.transaction import transaction
from app.web.permissions import Permission, requires


@bp.post("/orders/ready")
@requires(Permission.MANAGE_ORDERS)
def orders_ready() -> Response:
    """Mark the ticked orders as ready, and return to the list as it was."""
    try:
        with transaction():
            result = mark_all_ready(current_author(), request.form.getlist("order"), "by_email" in request.form)
    except Invalid as invalid:
        flash(invalid.problems[0].message, "bad")
    else:
        _flash_result(result)
    return _to_list()


@bp.post("/orders/packing-slips")
@requires(Permission.MANAGE_ORDERS)
def orders_packing_slips_choose() -> Response:
    """Redirect from the ticks of the list to the page of their packing slips, which can be loaded again."""
    try:
        orders, _ = orders_to_pack(current_user.site_id, request.form.getlist("order"))
    except Invalid as invalid:
        flash(invalid.problems[0].message, "bad")
        return _to_list()
    if not orders:
        flash("None of these orders is to be packed.", "warn")
        return _to_list()
    return redirect(url_for("admin.orders_packing_slips", order=request.form.getlist("order")))


@bp.get("/orders/packing-slips")
@requires(Permission.MANAGE_ORDERS)
def orders_packing_slips() -> str:
    """Return the packing slips of the orders that the address names, each to be printed on a page of its own."""
    site_id = current_user.site_id
    orders, reasons = orders_to_pack(site_id, request.args.getlist("order"))
    return render_template(
        "admin/order_batches/packing_slips.html",
        orders=orders,
        reasons=reasons,
        summaries=payment_summaries(site_id, {order.id: order.total if order.paid_at else None for order in orders}),
        weights={order.id: format_weight(order.delivery_weight) for order in orders},
        time_zone=time_zone_of(site_id),
    )


def _to_list() -> Response:
    filters = OrderList.read(request.args)
    return redirect(f"{url_for('admin.orders_list')}?{filters.query(page=filters.page)}")


def _flash_result(result: BatchResult) -> None:
    if result.changed:
        flash(f"{numbered(len(result.changed), 'order')} marked ready: {_joined(result.changed)}.", "good")
    if result.unchanged:
        flash(f"Ready already: {_joined(result.unchanged)}.", "good")
    if result.reasons:
        flash(f"{numbered(len(result.reasons), 'order')} left unchanged. {' '.join(result.reasons)}", "warn")


def _joined(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))

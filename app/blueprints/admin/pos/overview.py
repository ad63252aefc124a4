"""The till today: figures beside last week's, who works, and what needs attention; and the differences between the shop
and the payment processor, until an admin resolved them or both agree again."""

from __future__ import annotations

from flask import current_app, flash, redirect, render_template, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.charts import Chart, line_chart
from app.blueprints.callers import current_author
from app.domain.pos import ledger, reports
from app.domain.pos.ledger import count_unsettled
from app.domain.pos.ledger_comparison import DifferenceKind
from app.domain.pos.report_figures import HOURS, change_in_percent
from app.domain.pos.reports import Today
from app.domain.shared.money import format_money
from app.domain.sites.settings import settings_of
from app.transaction import transaction
from app.web.permissions import Permission, requires

HOUR_NAMES = [f"{hour:02}:00" for hour in range(HOURS)]
bp.add_app_template_global(change_in_percent, "change_in_percent")


@bp.get("/pos")
@requires(Permission.MANAGE_POS)
def pos_overview() -> str:
    site_id, clock = current_user.site_id, ports.clock()
    board = reports.figures_of_today(clock, site_id)
    return render_template(
        "admin/pos/overview/page.html",
        board=board,
        chart=takings_chart(board),
        attention=reports.count_attention(site_id),
        differences=count_unsettled(site_id),
        is_on=settings_of(site_id)["posEnabled"],
        has_agents=reports.has_agents(site_id),
        takes_payments=ports.payment_processor().name != "none",
        known=current_app.view_functions,
    )


def takings_chart(board: Today) -> Chart:
    """Return the takings by hour up to the present one, with the whole of the same weekday a week ago."""
    weekday = f"{board.day_before:%A} a week ago"
    hours = board.hours[: board.hour + 1]
    return line_chart(
        HOUR_NAMES, hours, board.hours_before, lambda n: format_money(n, board.currency), weekday, is_so_far=True
    )


@bp.get("/pos/differences")
@requires(Permission.MANAGE_POS)
def pos_differences() -> str:
    found = ledger.unsettled_differences(current_user.site_id)
    labels = {kind.value: kind.label for kind in DifferenceKind}
    return render_template("admin/pos/overview/differences.html", found=found, labels=labels)


@bp.post("/pos/differences/<int(max=2147483647):difference_id>/settle")
@requires(Permission.MANAGE_POS)
def pos_settle_difference(difference_id: int) -> Response:
    with transaction():
        ledger.settle_difference(current_author(), difference_id)
    flash("Settled. The activity log says by whom.", "good")
    return redirect(url_for("admin.pos_differences"))

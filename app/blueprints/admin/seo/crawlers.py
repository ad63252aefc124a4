"""The report of crawler visits to pages that are not indexable, with remedies."""

from __future__ import annotations

from collections.abc import Callable

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import flash_with_undo
from app.blueprints.callers import current_author
from app.domain.merchandising.shop import read_shop
from app.domain.seo import settings
from app.domain.seo.crawler_hits import PERIODS, crawler_report, names_in_addresses
from app.domain.shared.problems import Invalid
from app.transaction import transaction
from app.web.permissions import Permission, allowed, requires


@bp.get("/seo/crawlers")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_crawlers() -> str:
    days = _chosen_days(request.args.get("days", ""))
    filters = settings.filter_parameters(read_shop(current_user.site_id))
    found = crawler_report(ports.clock(), current_user.site_id, days, filters)
    may_decide = allowed(current_user.roles, Permission.MANAGE_SETTINGS)
    return render_template("admin/seo/crawlers/page.html", report=found, periods=PERIODS, may_decide=may_decide)


@bp.post("/seo/crawlers/tracking")
@requires(Permission.MANAGE_SETTINGS)
def seo_crawlers_tracking() -> Response:
    """Treat `parameter` as one that only tracks visitors; with `undo` no more."""
    name, is_undone = _posted_parameter()
    known = settings.filter_parameters(read_shop(current_user.site_id))
    done = f"“{name}” counts as a filter again." if is_undone else f"“{name}” is now treated as tracking."
    return _save_decision(
        done, lambda: settings.treat_as_tracking(current_author(), name, known, is_tracking=not is_undone)
    )


@bp.post("/seo/crawlers/skipped")
@requires(Permission.MANAGE_SETTINGS)
def seo_crawlers_skipped() -> Response:
    """Add `parameter` to those whose addresses robots.txt disallows for bots; with `undo` remove it."""
    name, is_undone = _posted_parameter()
    done = f"Bots may crawl addresses with “{name}” again." if is_undone else f"robots.txt asks bots to skip “{name}”."

    def decide() -> bool:
        names = names_in_addresses(name)
        return any([settings.skip_in_robots(current_author(), one, is_skipped=not is_undone) for one in names])

    return _save_decision(done, decide)


def _save_decision(done: str, decide: Callable[[], bool]) -> Response:
    try:
        with transaction():
            changed = decide()
    except Invalid as invalid:
        flash(" ".join(problem.message for problem in invalid.problems), "bad")
    else:
        _flash_decision(done, changed)
    return redirect(url_for("admin.seo_crawlers", days=_chosen_days(request.form.get("days", ""))))


def _flash_decision(done: str, changed: bool) -> None:
    """Flash a decision with its Undo, which decides the other way."""
    if not changed:
        flash("No changes to save.", "good")
        return
    name, is_undone = _posted_parameter()
    fields = {"parameter": name, "days": request.form.get("days", "")}
    flash_with_undo(done, request.path, **fields, **({} if is_undone else {"undo": "1"}))


def _posted_parameter() -> tuple[str, bool]:
    return request.form.get("parameter", "").strip(), "undo" in request.form


def _chosen_days(text: str) -> int:
    return next((days for days in PERIODS if str(days) == text), PERIODS[1])

"""Golden searches: the page on which they are listed, edited and checked."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number, sent_revision
from app.blueprints.admin.shell import flash_undoable
from app.blueprints.callers import current_author
from app.domain.catalogue import queries
from app.domain.relevance import golden
from app.domain.relevance.golden import Expectation, GoldenState
from app.domain.search.engine import SearchUnavailable
from app.domain.shared.problems import Conflict, Invalid
from app.operations.work_context import work_context
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

GOLDEN = "/search/golden/<int(max=2147483647):golden_id>"
NO_ERRORS = FieldErrors()
BLANK = Expectation("", "")
Answer = str | Response | tuple[str, int]


@bp.get("/search/golden")
@requires(Permission.MANAGE_SEARCH)
def search_golden() -> Answer:
    """Show the golden searches. `edit` names the row that is a form; `q` and `sku` begin a new golden search."""
    draft = Expectation(request.args.get("q", "")[: golden.LONGEST_QUERY], request.args.get("sku", "")[:64])
    return _shown(draft, editing=sent_number(request.args.get("edit", "")))


@bp.post("/search/golden")
@requires(Permission.MANAGE_SEARCH)
def search_golden_add() -> Answer:
    sent = _sent()
    try:
        with transaction():
            added = golden.add(current_author(), sent).id
    except (Invalid, Conflict) as error:
        return _refused(error, sent)
    stored = golden.expectation_of(golden.golden_of(current_user.site_id, added))
    return _done(f"Added: {stored}.", added, undoes=added)


@bp.post(GOLDEN)
@requires(Permission.MANAGE_SEARCH)
def search_golden_save(golden_id: int) -> Answer:
    sent, revision = _sent(), sent_revision(request.form)
    try:
        with transaction():
            changed = golden.change(current_author(), golden_id, revision, sent)
    except (Invalid, Conflict) as error:
        return _refused(error, sent, golden_id)
    return _done("Saved." if changed else "No changes to save.", golden_id, undoes=golden_id if changed else None)


@bp.post(f"{GOLDEN}/delete")
@requires(Permission.MANAGE_SEARCH)
def search_golden_delete(golden_id: int) -> Answer:
    with transaction():
        deleted = golden.delete(current_author(), golden_id)
    return _done(f"Deleted: {deleted}.", undoes=golden_id)


@bp.post("/search/golden/check")
@requires(Permission.MANAGE_SEARCH)
def search_golden_check() -> Answer:
    try:
        number = golden.check_goldens(work_context(), current_user.site_id)
    except SearchUnavailable as unavailable:
        flash(unavailable.message, "bad")
    else:
        flash(f"Checked {number:,} golden search{'' if number == 1 else 'es'}.", "good")
    return _shown() if wants_fragment() else redirect(url_for("admin.search_golden"))


@bp.app_template_global("golden_state_of_site")
def golden_state_of_site() -> GoldenState:
    """Return the state for the Overview, which includes the card of golden searches."""
    return golden.golden_state(current_user.site_id)


def _sent() -> Expectation:
    """Return the golden search of the form. The product may be typed by words of its name that no other product has."""
    form = request.form
    sku = form.get("sku", "").strip()[:200]
    found = queries.find_products(current_user.site_id, sku, 2) if sku else []
    if len(found) == 1:
        sku = found[0].sku
    return Expectation(form.get("query", ""), sku, sent_number(form.get("within", "").strip()))


def _done(message: str, check: int | None = None, undoes: int | None = None) -> Answer:
    """Show the list after a save. The golden search `check` is checked at once, unless search does not answer; `undoes`
    is the one whose change can be undone."""
    if check is not None:
        with suppress(SearchUnavailable):
            golden.check_goldens(work_context(), current_user.site_id, only=check)
    address = url_for("admin.search_golden")
    if undoes is None:
        flash(message, "good")
    else:
        flash_undoable(message, "golden_search", undoes, address)
    return _shown(changed=check) if wants_fragment() else redirect(address)


def _refused(error: Invalid | Conflict, draft: Expectation, golden_id: int | None = None) -> Answer:
    errors = FieldErrors(error)
    return _shown(draft, errors, golden_id), errors.status


def _shown(
    draft: Expectation = BLANK,
    errors: FieldErrors = NO_ERRORS,
    editing: int | None = None,
    changed: int | None = None,
) -> str:
    """Show the golden searches. `draft` fills the form of the row `editing`, or where there is none that of a new
    one."""
    template = "admin/search/golden/_golden.html" if wants_fragment() else "admin/search/golden/page.html"
    render = partial(render_template, template, errors=errors, changed=changed)
    rows = golden.golden_searches(current_user.site_id)
    return render(rows=rows, draft=draft, editing=editing, furthest=golden.FURTHEST, fragment=wants_fragment())

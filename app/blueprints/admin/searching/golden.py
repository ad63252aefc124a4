"""Golden searches: the page on which they are kept, and how they do."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_id, sent_revision
from app.domain.catalogue import queries
from app.domain.search.engine import SearchUnavailable
from app.domain.search.index.indexing import Indexing
from app.domain.search.trying import golden, golden_check
from app.domain.search.trying.golden import GoldenDraft, GoldenState
from app.domain.shared.problems import Conflict, Invalid
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

GOLDEN = "/search/golden/<int(max=2147483647):golden_id>"
NO_ERRORS = FieldErrors()
BLANK = GoldenDraft("", "")
Answer = str | Response | tuple[str, int]


@bp.get("/search/golden")
@requires(Permission.MANAGE_SEARCH)
def search_golden() -> Answer:
    """`edit` names the row that is a form; `q` and `sku` begin a new golden search."""
    draft = GoldenDraft(request.args.get("q", "")[: golden.LONGEST_QUERY], request.args.get("sku", "")[:64])
    return _shown(draft, editing=sent_id(request.args.get("edit", "")))


@bp.post("/search/golden")
@requires(Permission.MANAGE_SEARCH)
def search_golden_add() -> Answer:
    draft = _sent()
    try:
        with transaction():
            added = golden.add(ports.clock(), current_user.site_id, draft, current_user.display_name).id
    except (Invalid, Conflict) as error:
        return _refused(error, draft)
    return _done(f"Added: {golden.told(_stored(added))}.", added)


@bp.post(GOLDEN)
@requires(Permission.MANAGE_SEARCH)
def search_golden_save(golden_id: int) -> Answer:
    draft, revision = _sent(), sent_revision(request.form)
    try:
        with transaction():
            changed = golden.change(
                ports.clock(), current_user.site_id, golden_id, revision, draft, current_user.display_name
            )
    except (Invalid, Conflict) as error:
        return _refused(error, draft, golden_id)
    return _done("Saved." if changed else "Nothing had changed.", golden_id)


@bp.post(f"{GOLDEN}/delete")
@requires(Permission.MANAGE_SEARCH)
def search_golden_delete(golden_id: int) -> Answer:
    with transaction():
        told = golden.delete(ports.clock(), current_user.site_id, golden_id, current_user.display_name)
    return _done(f"Deleted: {told}.")


@bp.post("/search/golden/check")
@requires(Permission.MANAGE_SEARCH)
def search_golden_check() -> Answer:
    try:
        number = golden_check.check(_means(), current_user.site_id)
    except SearchUnavailable as unavailable:
        flash(unavailable.message, "bad")
    else:
        flash(f"Checked {number:,} golden search{'' if number == 1 else 'es'}.", "good")
    return _shown() if wants_fragment() else redirect(url_for("admin.search_golden"))


@bp.app_template_global("golden_state_of_site")
def golden_state_of_site() -> GoldenState:
    """For the Overview, which includes the card of golden searches."""
    return golden.golden_state(current_user.site_id)


def _sent() -> GoldenDraft:
    """The product may be typed by its name: one that alone has these words in it is meant."""
    form = request.form
    sku = form.get("sku", "").strip()[:200]
    found = queries.find_products(current_user.site_id, sku, 2) if sku else []
    if len(found) == 1:
        sku = found[0].sku
    return GoldenDraft(form.get("query", ""), sku, sent_id(form.get("within", "").strip()))


def _stored(golden_id: int) -> GoldenDraft:
    return GoldenDraft.of_record(golden.record(golden.golden_of(current_user.site_id, golden_id)))


def _done(told: str, check: int | None = None) -> Answer:
    """What was just saved is checked at once; search that is away is no reason to fail."""
    if check is not None:
        with suppress(SearchUnavailable):
            golden_check.check(_means(), current_user.site_id, only=check)
    flash(told, "good")
    return _shown(changed=check) if wants_fragment() else redirect(url_for("admin.search_golden"))


def _means() -> Indexing:
    return Indexing(ports.search_engine(), ports.clock(), transaction)


def _refused(error: Invalid | Conflict, draft: GoldenDraft, golden_id: int | None = None) -> Answer:
    errors = FieldErrors(error)
    return _shown(draft, errors, golden_id), errors.status


def _shown(
    draft: GoldenDraft = BLANK,
    errors: FieldErrors = NO_ERRORS,
    editing: int | None = None,
    changed: int | None = None,
) -> str:
    """`draft` fills the form of the row `editing`, or where there is none that of a new one."""
    template = "_golden.html" if wants_fragment() else "golden.html"
    render = partial(render_template, f"admin/search/golden/{template}", errors=errors, changed=changed)
    rows = golden.golden_searches(current_user.site_id)
    return render(rows=rows, draft=draft, editing=editing, furthest=golden.FURTHEST, fragment=wants_fragment())

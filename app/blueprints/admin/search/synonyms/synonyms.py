"""Synonyms: the list with its suggestions, and the page of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import flash, jsonify, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_number, sent_revision
from app.blueprints.admin.search.synonyms.form import SynonymForm
from app.blueprints.admin.undo import flash_undoable
from app.blueprints.author import current_author
from app.domain.relevance import publishing, synonyms
from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_definition import LIVE, StatusFilter, SynonymList
from app.domain.relevance.synonym_mining import describe_evidence
from app.domain.search.serving import versions
from app.domain.shared.problems import Conflict, Invalid
from app.errors import wants_json
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

SYNONYM = "/search/synonyms/<int(max=2147483647):synonym_id>"
NO_ERRORS = FieldErrors()
Answer = str | AnyResponse

bp.add_app_template_filter(describe_evidence, "describe_evidence")


@bp.get("/search/synonyms")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms() -> Answer:
    """Show the list of synonyms. `word` begins a new synonym for a word. As JSON the list is of every status unless the
    address names one."""
    if wants_json():
        return _json(SynonymList.read(request.args, StatusFilter.ANY))
    listing = SynonymList.read(request.args)
    if wants_fragment():
        return _results(listing)
    form = SynonymForm.about(request.args["word"]) if "word" in request.args else None
    return _page(listing, form)


@bp.get("/search/synonyms/new")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_new() -> Answer:
    form = SynonymForm.about(request.args.get("word", ""))
    if wants_fragment():
        return _form(form)
    return _page(SynonymList.read(request.args), form)


@bp.post("/search/synonyms")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_add() -> Answer:
    form = SynonymForm.typed(request.form)
    try:
        with transaction():
            synonym = synonyms.add(current_author(), form.group())
            added = synonym.id
    except (Invalid, Conflict) as error:
        return _refused(form, None, FieldErrors(error))
    return _done("Added. Shoppers' searches use it within seconds.", added, undoes=added)


@bp.get(SYNONYM)
@requires(Permission.MANAGE_SEARCH)
def search_synonym(synonym_id: int) -> Answer:
    """Show the row of a synonym as a form for htmx, else the page about it."""
    synonym = synonyms.synonym_of(current_user.site_id, synonym_id)
    if wants_fragment():
        return _open_row(SynonymForm.of(synonym), synonym, "form")
    return _about(synonym, SynonymForm.of(synonym))


@bp.post(SYNONYM)
@requires(Permission.MANAGE_SEARCH)
def search_synonym_save(synonym_id: int) -> Answer:
    """Save the form: a live synonym is changed, a suggestion is accepted as it was edited."""
    synonym, form = synonyms.synonym_of(current_user.site_id, synonym_id), SynonymForm.typed(request.form)
    act: Callable[..., object] = synonyms.change if synonym.status == LIVE else synonyms.accept
    try:
        with transaction():
            changed = act(current_author(), synonym_id, form.revision, form.group())
    except (Invalid, Conflict) as error:
        return _refused(form, synonyms.synonym_of(current_user.site_id, synonym_id), FieldErrors(error))
    if not changed:
        return _done("No changes to save.", synonym_id)
    return _done("Saved. Shoppers' searches use it within seconds.", synonym_id, undoes=synonym_id)


@bp.post(f"{SYNONYM}/accept")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_accept(synonym_id: int) -> Answer:
    synonym = synonyms.synonym_of(current_user.site_id, synonym_id)
    try:
        with transaction():
            synonyms.accept(current_author(), synonym_id, sent_revision(request.form))
    except Invalid as invalid:
        return _refused(SynonymForm.of(synonym), synonym, FieldErrors(invalid))
    return _done("Accepted. Shoppers' searches use it within seconds.", synonym_id, undoes=synonym_id)


@bp.post(f"{SYNONYM}/reject")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_reject(synonym_id: int) -> Answer:
    with transaction():
        synonyms.reject(current_author(), synonym_id, sent_revision(request.form))
    return _done("Rejected. It will not be suggested again.", undoes=synonym_id)


@bp.post("/search/synonyms/reject")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_reject_shown() -> Answer:
    """Reject the suggestions that the page shows. `shown` is sent for each of them: its id and revision, as in 12:1."""
    pairs = [text.partition(":")[::2] for text in request.form.getlist("shown")]
    shown = {sent_number(one) or 0: sent_number(revision) or 0 for one, revision in pairs}
    with transaction():
        rejected = synonyms.reject_shown(current_author(), shown)
    if rejected < len(shown):
        return _done(f"Rejected {rejected} of {len(shown)}. The others had changed since you looked.")
    return _done("Rejected. They will not be suggested again.")


@bp.get(f"{SYNONYM}/delete")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_ask_delete(synonym_id: int) -> Answer:
    """Show the changes that deleting makes, and the button that does it."""
    synonym = synonyms.synonym_of(current_user.site_id, synonym_id)
    if wants_fragment():
        return _open_row(SynonymForm.of(synonym), synonym, "delete")
    return _about(synonym, SynonymForm.of(synonym), deleting=True)


@bp.post(f"{SYNONYM}/delete")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_delete(synonym_id: int) -> Answer:
    with transaction():
        written = synonyms.delete(current_author(), synonym_id, sent_revision(request.form))
    return _done(f"Deleted {written}.", undoes=synonym_id)


@bp.post("/search/synonyms/resync")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_resync() -> Answer:
    with transaction():
        publishing.publish(ports.clock(), current_user.site_id)
    return _done("All saved synonyms and rules are live; every part of the shop has them within two seconds.")


def _json(listing: SynonymList) -> AnyResponse:
    state = versions.serving_state(current_user.site_id)
    found = synonyms.find_synonyms(current_user.site_id, listing, state)
    return jsonify(
        {
            "items": [synonym.as_json(state) for synonym in found.items],
            "pageNumber": found.page_number,
            "pageSize": found.page_size,
            "totalItems": found.total_items,
            "totalPages": found.total_pages,
        }
    )


def _list_context(listing: SynonymList, marked: int | None = None) -> dict[str, Any]:
    page = synonyms.synonym_page(current_user.site_id, listing)
    return {"page": page, "listing": listing, "marked": marked, "fragment": wants_fragment()}


def _results(listing: SynonymList, marked: int | None = None, saved: bool = False) -> str:
    return render_template("admin/search/synonyms/_results.html", saved=saved, **_list_context(listing, marked))


def _page(listing: SynonymList, form: SynonymForm | None, errors: FieldErrors = NO_ERRORS) -> AnyResponse:
    context = _list_context(listing) | {"form": form, "errors": errors, "synonym": None, "saved": False}
    page = render_template("admin/search/synonyms/list.html", **context)
    return make_response(page, errors.status if errors else 200)


def _form(form: SynonymForm, synonym: Synonym | None = None, errors: FieldErrors = NO_ERRORS) -> AnyResponse:
    context = {"form": form, "synonym": synonym, "errors": errors, "listing": SynonymList.read(request.args)}
    page = render_template("admin/search/synonyms/_form.html", **context)
    return make_response(page, errors.status if errors else 200)


def _open_row(form: SynonymForm, synonym: Synonym, part: str) -> str:
    context = {"form": form, "synonym": synonym, "errors": NO_ERRORS, "listing": SynonymList.read(request.args)}
    return render_template("admin/search/synonyms/_open.html", part=part, **context)


def _about(synonym: Synonym, form: SynonymForm, errors: FieldErrors = NO_ERRORS, deleting: bool = False) -> AnyResponse:
    state = versions.serving_state(current_user.site_id)
    context = {"synonym": synonym, "form": form, "errors": errors, "deleting": deleting, "listing": SynonymList()}
    page = render_template("admin/search/synonyms/about.html", synced=synonym.is_synced(state), **context)
    return make_response(page, errors.status if errors else 200)


def _refused(form: SynonymForm, synonym: Synonym | None, errors: FieldErrors) -> Answer:
    """Show the typed form again, over the revision that is stored now, so that saving it again replaces that."""
    if synonym is not None and errors.is_stale:
        form = form.on(synonym.revision)
    if wants_fragment():
        return _form(form, synonym, errors)
    return _page(SynonymList(), form, errors) if synonym is None else _about(synonym, form, errors)


def _done(message: str, marked: int | None = None, undoes: int | None = None) -> Answer:
    """Show the list as it was, with the changed row marked. `undoes` is the synonym whose change can be undone."""
    listing = SynonymList.read(request.args)
    address = f"{url_for('admin.search_synonyms')}?{listing.query(page=listing.page)}".rstrip("?")
    if undoes is None:
        flash(message, "good")
    else:
        flash_undoable(message, "synonym", undoes, address)
    return _results(listing, marked, saved=True) if wants_fragment() else redirect(address)

"""Synonyms: the list with its suggestions, the page of one, the search for more, their JSON (contracts: Synonyms)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from flask import flash, jsonify, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number, sent_revision
from app.blueprints.admin.shell import flash_undoable
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body, revision_in_address
from app.domain.relevance import publishing, synonym_suggestions, synonyms
from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_definition import AI, LIVE, StatusFilter, SynonymList
from app.domain.relevance.synonym_mining import describe_evidence
from app.domain.relevance.synonym_suggestions import SuggestionSummary
from app.domain.search.serving import configuration
from app.domain.search.serving.synonyms import LONGEST_WORD, SynonymGroup, SynonymType
from app.domain.search.serving.synonyms import SYNONYM as SYNONYM_FIELDS
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.record_fields import TypedForm
from app.domain.shared.schema import Record, Whole
from app.transaction import transaction
from app.web.errors import wants_json
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

SYNONYM = "/search/synonyms/<int(max=2147483647):synonym_id>"
TEXTS = SynonymGroup.text_names()
NO_ERRORS = FieldErrors()
Answer = str | Response
REST = "/search/synonyms/rest"
REST_ONE = f"{REST}/<int(max=2147483647):synonym_id>"
REVISION = Whole(required=True)
CHANGE, DECIDE = Record(**SYNONYM_FIELDS.fields, revision=REVISION), Record(revision=REVISION)

bp.add_app_template_filter(describe_evidence, "describe_evidence")


@dataclass(frozen=True, slots=True)
class SynonymForm:
    """The form of a synonym. `texts` are those of its fields, by the names under which they are sent; the root counts
    only for the type that has one, so that it survives a change of type and back. `revision` 0 is a synonym that is not
    saved yet."""

    type: SynonymType
    texts: Mapping[str, str]
    revision: int = 0

    @classmethod
    def about(cls, word: str) -> SynonymForm:
        """Return the form of a new synonym for a word that shoppers search: the word is its root."""
        word = " ".join(word[:LONGEST_WORD].split())
        kind = SynonymType.ONE_WAY if word else SynonymType.EQUIVALENT
        return cls(kind, {**dict.fromkeys(TEXTS, ""), "root": word})

    @classmethod
    def of(cls, synonym: Synonym) -> SynonymForm:
        group = synonym.group
        return cls(group.type, group.as_typed(), synonym.revision)

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> SynonymForm:
        kind = next((kind for kind in SynonymType if kind.value == sent.get("type")), SynonymType.EQUIVALENT)
        return cls(kind, {name: sent.get(name, "") for name in TEXTS}, sent_revision(sent))

    def group(self) -> SynonymGroup:
        group = SynonymGroup(type=self.type, **SynonymGroup.read_typed(TypedForm(self.texts)))
        return group if self.type.has_root else replace(group, root=None)

    def on(self, revision: int) -> SynonymForm:
        """Return the typed form, to be saved over another revision."""
        return replace(self, revision=revision)


@bp.get("/search/synonyms")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms() -> Answer:
    """Show the list of synonyms. `word` begins a new synonym for a word. As JSON the list is of every status unless the
    address names one."""
    if wants_json():
        return _list_json(SynonymList.read(request.args, StatusFilter.ANY))
    listing = SynonymList.read(request.args)
    if wants_fragment():
        return _show_results(listing)
    form = SynonymForm.about(request.args["word"]) if "word" in request.args else None
    return _show_page(listing, form)


@bp.get("/search/synonyms/new")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_new() -> Answer:
    form = SynonymForm.about(request.args.get("word", ""))
    if wants_fragment():
        return _show_form(form)
    return _show_page(SynonymList.read(request.args), form)


@bp.post("/search/synonyms")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_add() -> Answer:
    form = SynonymForm.typed(request.form)
    try:
        with transaction():
            synonym = synonyms.add(current_author(), form.group())
            added = synonym.id
    except (Invalid, Conflict) as error:
        return _show_refused(form, None, FieldErrors(error))
    return _show_saved("Added. Shoppers' searches use it within seconds.", added, undoes=added)


@bp.get(SYNONYM)
@requires(Permission.MANAGE_SEARCH)
def search_synonym(synonym_id: int) -> Answer:
    """Show the row of a synonym as a form for htmx, else the page about it."""
    synonym = synonyms.synonym_of(current_user.site_id, synonym_id)
    if wants_fragment():
        return _show_open_row(SynonymForm.of(synonym), synonym, "form")
    return _show_synonym(synonym, SynonymForm.of(synonym))


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
        return _show_refused(form, synonyms.synonym_of(current_user.site_id, synonym_id), FieldErrors(error))
    if not changed:
        return _show_saved("No changes to save.", synonym_id)
    return _show_saved("Saved. Shoppers' searches use it within seconds.", synonym_id, undoes=synonym_id)


@bp.post(f"{SYNONYM}/accept")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_accept(synonym_id: int) -> Answer:
    synonym = synonyms.synonym_of(current_user.site_id, synonym_id)
    try:
        with transaction():
            synonyms.accept(current_author(), synonym_id, sent_revision(request.form))
    except Invalid as invalid:
        return _show_refused(SynonymForm.of(synonym), synonym, FieldErrors(invalid))
    return _show_saved("Accepted. Shoppers' searches use it within seconds.", synonym_id, undoes=synonym_id)


@bp.post(f"{SYNONYM}/reject")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_reject(synonym_id: int) -> Answer:
    with transaction():
        synonyms.reject(current_author(), synonym_id, sent_revision(request.form))
    return _show_saved("Rejected. It will not be suggested again.", undoes=synonym_id)


@bp.post("/search/synonyms/reject")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_reject_shown() -> Answer:
    """Reject the suggestions that the page shows. `shown` is sent for each of them: its id and revision, as in 12:1."""
    pairs = [text.partition(":")[::2] for text in request.form.getlist("shown")]
    shown = {sent_number(one) or 0: sent_number(revision) or 0 for one, revision in pairs}
    with transaction():
        rejected = synonyms.reject_shown(current_author(), shown)
    if rejected < len(shown):
        return _show_saved(f"Rejected {rejected} of {len(shown)}. The others had changed since you looked.")
    return _show_saved("Rejected. They will not be suggested again.")


@bp.get(f"{SYNONYM}/delete")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_confirm_delete(synonym_id: int) -> Answer:
    """Show the changes that deleting makes, and the button that does it."""
    synonym = synonyms.synonym_of(current_user.site_id, synonym_id)
    if wants_fragment():
        return _show_open_row(SynonymForm.of(synonym), synonym, "delete")
    return _show_synonym(synonym, SynonymForm.of(synonym), deleting=True)


@bp.post(f"{SYNONYM}/delete")
@requires(Permission.MANAGE_SEARCH)
def search_synonym_delete(synonym_id: int) -> Answer:
    with transaction():
        written = synonyms.delete(current_author(), synonym_id, sent_revision(request.form))
    return _show_saved(f"Deleted {written}.", undoes=synonym_id)


@bp.post("/search/synonyms/resync")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_resync() -> Answer:
    with transaction():
        publishing.publish(ports.clock(), current_user.site_id)
    return _show_saved("All saved synonyms and rules are live; every part of the shop has them within two seconds.")


def _list_json(listing: SynonymList) -> Response:
    state = configuration.serving_state(current_user.site_id)
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


def _show_results(listing: SynonymList, marked: int | None = None, saved: bool = False) -> str:
    return render_template("admin/search/synonyms/_results.html", saved=saved, **_list_context(listing, marked))


def _show_page(listing: SynonymList, form: SynonymForm | None, errors: FieldErrors = NO_ERRORS) -> Response:
    context = _list_context(listing) | {"form": form, "errors": errors, "synonym": None, "saved": False}
    page = render_template("admin/search/synonyms/list.html", **context)
    return make_response(page, errors.status if errors else 200)


def _show_form(form: SynonymForm, synonym: Synonym | None = None, errors: FieldErrors = NO_ERRORS) -> Response:
    context = {"form": form, "synonym": synonym, "errors": errors, "listing": SynonymList.read(request.args)}
    page = render_template("admin/search/synonyms/_form.html", **context)
    return make_response(page, errors.status if errors else 200)


def _show_open_row(form: SynonymForm, synonym: Synonym, part: str) -> str:
    context = {"form": form, "synonym": synonym, "errors": NO_ERRORS, "listing": SynonymList.read(request.args)}
    return render_template("admin/search/synonyms/_open.html", part=part, **context)


def _show_synonym(
    synonym: Synonym, form: SynonymForm, errors: FieldErrors = NO_ERRORS, deleting: bool = False
) -> Response:
    state = configuration.serving_state(current_user.site_id)
    context = {"synonym": synonym, "form": form, "errors": errors, "deleting": deleting, "listing": SynonymList()}
    page = render_template("admin/search/synonyms/about.html", synced=synonym.is_synced(state), **context)
    return make_response(page, errors.status if errors else 200)


def _show_refused(form: SynonymForm, synonym: Synonym | None, errors: FieldErrors) -> Answer:
    """Show the typed form again, over the revision that is stored now, so that saving it again replaces that."""
    if synonym is not None and errors.is_stale:
        form = form.on(synonym.revision)
    if wants_fragment():
        return _show_form(form, synonym, errors)
    return _show_page(SynonymList(), form, errors) if synonym is None else _show_synonym(synonym, form, errors)


def _show_saved(message: str, marked: int | None = None, undoes: int | None = None) -> Answer:
    """Show the list as it was, with the changed row marked. `undoes` is the synonym whose change can be undone."""
    listing = SynonymList.read(request.args)
    address = f"{url_for('admin.search_synonyms')}?{listing.query(page=listing.page)}".rstrip("?")
    if undoes is None:
        flash(message, "good")
    else:
        flash_undoable(message, "synonym", undoes, address)
    return _show_results(listing, marked, saved=True) if wants_fragment() else redirect(address)


@bp.post("/search/synonyms/suggest")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_suggest() -> str | Response:
    with transaction():
        synonym_suggestions.request_run(current_author())
    if not wants_fragment():
        return redirect(url_for("admin.search_synonyms"))
    return render_template("admin/search/synonyms/_suggest.html")


@bp.get("/search/synonyms/suggest")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_suggesting() -> str:
    """Show the progress of a search for suggestions; the page polls it while one is under way. New suggestions wait for
    a press, since the user may be editing the list."""
    return render_template("admin/search/synonyms/_suggest.html", offers_list=True)


@bp.app_template_global("suggestion_run")
def suggestion_run() -> SuggestionSummary | None:
    return synonym_suggestions.latest_run(ports.clock(), current_user.site_id)


@bp.app_template_global("asks_ai")
def asks_ai() -> bool:
    """Whether a language model is set up on this server."""
    return any(source.name == AI for source in ports.suggestion_sources())


@bp.post(REST)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_add() -> Response:
    sent = SynonymGroup.of_json(json_body(SYNONYM_FIELDS))
    with transaction():
        synonym_id = synonyms.add(current_author(), sent).id
    answer = _synonym_json(synonym_id)
    answer.status_code = 201
    answer.headers["Location"] = url_for("admin.search_synonyms_rest_one", synonym_id=synonym_id)
    return answer


@bp.get(REST_ONE)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_one(synonym_id: int) -> Response:
    return _synonym_json(synonym_id)


@bp.put(REST_ONE)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_change(synonym_id: int) -> Response:
    _own_synonym(synonym_id)
    body = json_body(CHANGE)
    with transaction():
        synonyms.change(current_author(), synonym_id, body["revision"], SynonymGroup.of_json(body))
    return _synonym_json(synonym_id)


@bp.delete(REST_ONE)
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_delete(synonym_id: int) -> Response:
    """Delete a synonym. `revision` stands in the body or in the address."""
    _own_synonym(synonym_id)
    revision = json_body(DECIDE)["revision"] if request.content_length else revision_in_address()
    with transaction():
        synonyms.delete(current_author(), synonym_id, revision)
    return Response(status=204)


@bp.post(f"{REST_ONE}/accept")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_accept(synonym_id: int) -> Response:
    """Accept a suggestion as it is, or with other words where the body has them."""
    _own_synonym(synonym_id)
    is_edited = isinstance(request.get_json(), dict) and len(request.get_json()) > 1
    body = json_body(CHANGE if is_edited else DECIDE)
    edited = SynonymGroup.of_json(body) if is_edited else None
    with transaction():
        synonyms.accept(current_author(), synonym_id, body["revision"], edited)
    return _synonym_json(synonym_id)


@bp.post(f"{REST_ONE}/reject")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_rest_reject(synonym_id: int) -> Response:
    _own_synonym(synonym_id)
    revision = json_body(DECIDE)["revision"]
    with transaction():
        synonyms.reject(current_author(), synonym_id, revision)
    return _synonym_json(synonym_id)


def _own_synonym(synonym_id: int) -> Synonym:
    """Return the synonym. Raises NotFound for one of another site, before the body is read."""
    return synonyms.synonym_of(current_user.site_id, synonym_id)


def _synonym_json(synonym_id: int) -> Response:
    return jsonify(_own_synonym(synonym_id).as_json(configuration.serving_state(current_user.site_id)))

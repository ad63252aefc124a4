"""The settings of the Search section: its own page with the list of filters, and the ranking settings, whose effect is
previewed before they are saved, as a form and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from flask import current_app, flash, jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, changes_since, shown_settings
from app.blueprints.admin.shell import flash_undoable
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body
from app.domain.orders.sales import products_with_sales
from app.domain.search import ranking_settings, settings
from app.domain.search.engine import IndexName
from app.domain.search.ranking_settings import RANKING as RANKING_FIELDS
from app.domain.search.ranking_settings import of_json, ranking_of
from app.domain.search.sentence_model import state_of
from app.domain.search.settings import MOST_FILTERS, SearchSettings, cleaned_words
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.shared.problems import Invalid
from app.domain.shared.schema import camel_case
from app.domain.shared.text import split_list
from app.domain.sites.setting_keys import SettingKey
from app.domain.sites.settings import settings_of
from app.transaction import transaction
from app.web.errors import wants_json
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

NO_ERRORS = FieldErrors()
RANKING = "/search/ranking/settings"
# Boxes without a hidden field that says "off".
LONE_BOXES = ("content_search", "tracking", "click_tracking", "hold_golden")


@dataclass(frozen=True, slots=True)
class SearchSettingsForm:
    """The form of the search settings. `shown` are those with which it was opened, as JSON."""

    settings: SearchSettings
    chosen: str = ""
    shown: str = ""

    @classmethod
    def of(cls, stored: SearchSettings) -> SearchSettingsForm:
        return cls(stored, shown=shown_settings(settings.PAGE.stored_form(stored)))

    @classmethod
    def typed(cls, sent: MultiDict[str, str], stored: SearchSettings) -> SearchSettingsForm:
        """Return what was typed. A browser leaves out an empty list of filters and some unchecked boxes; any other
        field that was not sent, such as by a program or a form of an earlier version, keeps its stored value."""
        sent_values = {
            each.name: _sent_value(each, sent, getattr(stored, each.name)) for each in settings.PAGE.settings
        }
        return cls(SearchSettings(**sent_values), sent.get("addFilter", ""), sent.get("shown", ""))

    def changes(self) -> dict[str, object]:
        """Return the settings that were changed in the form, in their stored form."""
        return changes_since(self.shown, settings.PAGE.stored_form(self.settings))

    def after(self, intent: str) -> SearchSettingsForm:
        """Return the form after a button of the filters: `add`, `remove:2`, `up:2` or `down:2`."""
        action, _, number = intent.partition(":")
        filters = list(self.settings.filters)
        place = int(number) if number.isascii() and number.isdigit() and len(number) < 4 else -1
        if action == "add" and self.chosen and self.chosen not in filters:
            filters.append(self.chosen)
        elif 0 <= place < len(filters):
            _move_filter(filters, action, place)
        return SearchSettingsForm(replace(self.settings, filters=tuple(filters)), shown=self.shown)


def _sent_value(setting: SettingKey, sent: MultiDict[str, str], stored: Any) -> Any:
    """Return what the form says of a setting, which sends its field under the name in JSON. Where that is missing it is
    off in a box of LONE_BOXES, and else as it is stored."""
    name = camel_case(setting.name)
    if setting.name == "filters":
        return tuple(dict.fromkeys(sent.getlist("filter")))[: MOST_FILTERS * 2]
    if setting.kind is bool and setting.name in LONE_BOXES:
        return name in sent
    if name not in sent:
        return stored
    if setting.kind is bool:
        return sent.getlist(name) != ["off"]
    if setting.choices:
        return type(stored)(sent[name]) if sent[name] in setting.choices else stored
    return cleaned_words(split_list(sent[name]))


def _move_filter(filters: list[str], action: str, place: int) -> None:
    name = filters.pop(place)
    if action == "up":
        filters.insert(max(0, place - 1), name)
    elif action == "down":
        filters.insert(place + 1, name)
    elif action != "remove":
        filters.insert(place, name)


@bp.get("/settings/search")
@requires(Permission.MANAGE_SEARCH)
def search_settings() -> str:
    return _show_settings(SearchSettingsForm.of(settings.stored_settings(current_user.site_id)))


@bp.post("/settings/search")
@requires(Permission.MANAGE_SEARCH)
def search_settings_save() -> str | Response | tuple[str, int]:
    form = SearchSettingsForm.typed(request.form, settings.stored_settings(current_user.site_id))
    if intent := request.form.get("intent"):
        form = form.after(intent)  # The changed list of filters; nothing is saved.
        if not wants_fragment():
            return _show_settings(form)
        return render_template("admin/search/settings/_filters.html", form=form, errors=NO_ERRORS, **_choices())
    try:
        with transaction():
            saved = settings.change(current_author(), form.changes())
    except Invalid as invalid:
        return _show_settings(form, FieldErrors(invalid)), 400
    address = url_for("admin.search_settings")
    if saved.changed:
        flash_undoable(f"Saved: {', '.join(saved.changed)}.", "settings", "search", address)
    else:
        flash("No changes to save.", "good")
    if saved.content_search_came_on:
        flash("Rebuild pages and collections on the Overview, so that search holds all of them.", "plain")
    return redirect(address)


def _show_settings(form: SearchSettingsForm, errors: FieldErrors = NO_ERRORS) -> str:
    engine = ports.search_engine()
    return render_template(
        "admin/search/settings/page.html",
        form=form,
        errors=errors,
        days_kept=KEEP_WORDS.days,
        engine_name=current_app.config["SHOP"].search_engine,
        products=engine.status(current_user.site_id, IndexName.PRODUCTS),
        content=engine.status(current_user.site_id, IndexName.CONTENT),
        model=state_of(ports.sentence_model()),
        **_choices(),
    )


def _choices() -> dict[str, object]:
    return {"choices": settings.filter_choices(current_user.site_id), "most": settings.MOST_FILTERS}


@bp.get(RANKING)
@requires(Permission.MANAGE_SEARCH)
def search_ranking_settings() -> str | Response:
    """Show the settings as a page or as JSON, by the kind of request."""
    stored = ranking_of(settings_of(current_user.site_id))
    if wants_json():
        return jsonify(stored.as_json())
    return _show_ranking(stored.as_json(), shown_settings(ranking_settings.stored_form(stored)))


@bp.post(RANKING)
@requires(Permission.MANAGE_SEARCH)
def search_ranking_settings_save() -> Response | tuple[str, int]:
    sent, shown = {name: request.form.get(name, "") for name in RANKING_FIELDS.fields}, request.form.get("shown", "")
    try:
        saved = _save_ranking(changes_since(shown, ranking_settings.stored_form(of_json(RANKING_FIELDS.load(sent)))))
    except Invalid as invalid:
        return _show_ranking(sent, shown, FieldErrors(invalid)), 400
    address = url_for("admin.search_ranking_settings")
    if saved.changed:
        flash_undoable(f"Saved: {', '.join(saved.changed)}. Live within two seconds.", "settings", "search", address)
    else:
        flash("No changes to save.", "good")
    return redirect(address)


@bp.put(RANKING)
@requires(Permission.MANAGE_SEARCH)
def search_ranking_settings_change() -> Response:
    """Replace all of the settings with those of the JSON body."""
    wanted = of_json(json_body(RANKING_FIELDS))
    _save_ranking(ranking_settings.stored_form(wanted))
    return jsonify(wanted.as_json())


def _save_ranking(values: Mapping[str, object]) -> settings.SavedSettings:
    with transaction():
        return settings.change_ranking(current_author(), values)


def _show_ranking(form: dict[str, str], shown: str, errors: FieldErrors | None = None) -> str:
    return render_template(
        "admin/search/settings/ranking.html",
        form=form,
        shown=shown,
        errors=errors or FieldErrors(),
        sold=products_with_sales(current_user.site_id),
    )

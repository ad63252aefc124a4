"""appearance.json, in and out: the shop's appearance by its declaration, its pictures as names of files in media/."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.domain.appearance.appearances import read_sent, save_appearance, saved_appearance
from app.domain.appearance.declaration import Appearance
from app.domain.appearance.fields import PictureField
from app.domain.appearance.sections import Section
from app.domain.bundles.archive import MEDIA
from app.domain.bundles.bundle_pictures import keep_picture
from app.domain.bundles.import_task import ImportTask
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import DeclaredRecord, fields_of
from app.domain.shared.schema import type_name

FILE = "appearance.json"
KIND, PARTS = "appearance", "parts of the appearance"


def appearance_document(site_id: int) -> dict[str, Any]:
    """Return the appearance of a site; empty where it has none of its own, which an import leaves as it is."""
    saved = saved_appearance(site_id)
    if not saved.revision:
        return {}
    return _with_pictures(saved.value.as_json(), lambda picture, _: f"{MEDIA}{picture['file']}")


def appearance_files(site_id: int) -> list[str]:
    """Return the files of the pictures of an appearance."""
    return saved_appearance(site_id).value.files


def import_appearance(task: ImportTask) -> None:
    """Import the appearance. A field that the file leaves out stays as it is, and so does one whose picture is refused;
    a section whose picture is refused comes without it."""
    document = task.documents.get(FILE)
    if document is None or not document.content:
        return
    counts = task.report.of(KIND)
    refused: list[Problem] = []
    try:
        with task.writing():
            sent = _with_pictures(document.content, lambda name, at: _kept(task, name, at, refused))
            places = {problem.pointer for problem in refused}
            known = saved_appearance(task.site_id).value
            wanted = read_sent(known.as_json() | {key: sent[key] for key in sent if f"#/{key}" not in places})
            is_changed = wanted != known
            if is_changed and not task.dry_run:
                save_appearance(task.author, None, wanted)
        counts.note("changed" if is_changed else "unchanged", "appearance")
        for problem in refused:
            task.refuse(PARTS, document, [problem])
    except Invalid as invalid:
        task.refuse(KIND, document, [*refused, *invalid.problems])


def _kept(task: ImportTask, name: object, at: str, problems: list[Problem]) -> Any:
    """Return a picture of the bundle as JSON of the record, None with a problem for one that cannot be taken. Raises
    Invalid for what is no text: only a file of the bundle is a picture of this shop."""
    if not isinstance(name, str):
        raise Invalid.one("wrong_type", f"Here must be a text, not {type_name(name)}.", at)
    try:
        stored = keep_picture(task, name)
    except Invalid as refused:
        problems += [Problem(one.code, one.message, at) for one in refused.problems]
        return None
    return {"file": stored.file, "width": stored.width, "height": stored.height}


def _with_pictures(values: dict[str, Any], change: Callable[[Any, str], Any]) -> dict[str, Any]:
    """Return the values of an appearance as JSON, each picture in it, with its place, changed."""
    changed = _changed_pictures(values, Appearance, "#", change)
    sections = values.get("sections")
    if isinstance(sections, list):
        changed["sections"] = [
            _changed_pictures(each, Section, f"#/sections/{place}", change) if isinstance(each, dict) else each
            for place, each in enumerate(sections)
        ]
    return changed


def _changed_pictures(
    values: dict[str, Any], record: type[DeclaredRecord], at: str, change: Callable[[Any, str], Any]
) -> dict[str, Any]:
    keys = [each.key for each in fields_of(record) if isinstance(each, PictureField)]
    return values | {key: change(values[key], f"{at}/{key}") for key in keys if values.get(key) is not None}

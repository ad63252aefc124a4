"""The form of a shop's appearance: read as JSON of the record's declaration, changed by its buttons, and shown with
what was typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from werkzeug.datastructures import FileStorage, MultiDict

from app.blueprints.admin.forms import sent_revision
from app.domain.appearance.appearances import SavedAppearance, read_sent
from app.domain.appearance.declaration import Appearance
from app.domain.appearance.fields import LinksField, PictureField, typed_picture
from app.domain.appearance.sections import MOST_SECTIONS, Section, SectionKind, SectionsField
from app.domain.catalogue.pictures import StoredImage
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import DeclaredRecord, fields_of

Keep = Callable[[bytes], StoredImage]
Values = dict[str, Any]


@dataclass(slots=True)
class AppearanceForm:
    """The form: `values` as JSON of the record, whether valid or not. `is_changed`: a button changed it, and nothing is
    saved yet. `problems` are those of files that were sent."""

    values: Values
    revision: int
    is_changed: bool = False
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def of(cls, saved: SavedAppearance) -> AppearanceForm:
        return cls(saved.value.as_json(), saved.revision)

    @classmethod
    def read(cls, sent: MultiDict[str, str], files: MultiDict[str, FileStorage], keep: Keep) -> AppearanceForm:
        """Read a form; files that were chosen in it are kept as pictures."""
        form = cls(_read_record(Appearance, sent, ""), sent_revision(sent))
        form.values["sections"] = _read_sections(sent)
        for name, upload in files.items():
            if name.startswith("upload/") and upload.filename:
                form._take_upload(name.removeprefix("upload/"), upload, keep)
        return form

    def _take_upload(self, path: str, upload: FileStorage, keep: Keep) -> None:
        holder, key = self._holder(path)
        if holder is None:
            return
        try:
            stored = keep(upload.read())
        except Invalid as invalid:
            self.problems += [Problem(one.code, one.message, f"#/{path}") for one in invalid.problems]
            return
        holder[key] = {"file": stored.file, "width": stored.width, "height": stored.height}

    def _holder(self, path: str) -> tuple[Values | None, str]:
        """Return the record that has the picture of a path, such as `logo` or `sections/2/picture`, and its name there;
        None for a path of none."""
        first, *rest = path.split("/")
        if not rest:
            return (self.values if first in _pictures_of(Appearance) else None), first
        sections = self.values["sections"]
        place = int(rest[0]) if len(rest) == 2 and rest[0].isdecimal() and len(rest[0]) < 4 else len(sections)
        return (sections[place] if place < len(sections) and rest[-1] == "picture" else None), rest[-1]

    def arrange(self, act: str, kind: str) -> None:
        """Change the form by one of its buttons: `up:2`, `down:2`, `remove:2`, `add` a section of a kind, `clear:logo`.
        Anything else, such as `upload`, changes nothing more than the files that were sent."""
        self.is_changed = True
        name, _, argument = act.partition(":")
        sections = self.values["sections"]
        if name == "add" and kind in tuple(SectionKind) and len(sections) < MOST_SECTIONS:
            sections.append(Section(SectionKind(kind)).as_json())
        elif name == "clear":
            holder, key = self._holder(argument)
            if holder is not None:
                holder[key] = None
        elif name in ("up", "down", "remove") and argument.isdecimal() and len(argument) < 4:
            _move(sections, int(argument), name)

    def checked(self, is_stored: Callable[[str], bool]) -> Appearance:
        """Return the appearance. Raises Invalid with every problem, also for a picture that was chosen more than a day
        ago and is not stored any more."""
        if self.problems:
            raise Invalid(self.problems)
        wanted = read_sent(self.values)
        message = "This picture is no longer stored. Choose it again."
        gone = [
            Problem("picture_gone", message, f"#/{path}")
            for path, picture in wanted.pictures
            if not is_stored(picture.file)
        ]
        if gone:
            raise Invalid(gone)
        return wanted

    def readable(self, otherwise: Appearance) -> Appearance:
        """Return the appearance of what is valid, for a preview: fields with problems are as in `otherwise`, sections
        with problems are left out."""
        values, stored = dict(self.values), otherwise.as_json()
        for _ in range(len(values)):
            try:
                return read_sent(values)
            except Invalid as invalid:
                steps = [problem.pointer.split("/")[1:3] for problem in invalid.problems]
            broken = {int(step[1]) for step in steps if step[0] == "sections" and len(step) == 2}
            for key in {step[0] for step in steps if step[0] != "sections" or len(step) == 1}:
                values[key] = stored[key]
            values["sections"] = [each for place, each in enumerate(values["sections"]) if place not in broken]
        return otherwise


def _move(sections: list[Values], place: int, act: str) -> None:
    if place >= len(sections):
        return
    section = sections.pop(place)
    if act != "remove":
        sections.insert(max(0, place - 1) if act == "up" else place + 1, section)


def _read_record(record: type[DeclaredRecord], sent: Mapping[str, str], path: str) -> Values:
    values: Values = {}
    for each in fields_of(record):
        text = sent.get(f"{path}{each.key}")
        if text is None or isinstance(each, SectionsField):
            continue
        if isinstance(each, PictureField):
            values[each.key] = typed_picture(text)
        elif isinstance(each, LinksField):
            values[each.key] = [line.strip() for line in text.splitlines() if line.strip()]
        else:
            values[each.key] = text
    return values


def _read_sections(sent: Mapping[str, str]) -> list[Values]:
    sections = []
    for place in range(MOST_SECTIONS):
        path = f"sections/{place}/"
        if f"{path}kind" not in sent:
            break
        values = _read_record(Section, sent, path)
        if f"{path}products" in sent:  # A rule that is none is refused as it was sent.
            rule, _, value = sent[f"{path}products"].partition(":")
            values |= {"rule": rule, "ruleValue": value}
        sections.append(Section(SectionKind.TEXT).as_json() | values)
    return sections


def _pictures_of(record: type[DeclaredRecord]) -> Iterable[str]:
    return [each.key for each in fields_of(record) if isinstance(each, PictureField)]

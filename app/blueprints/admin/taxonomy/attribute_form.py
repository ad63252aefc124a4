"""The form of one attribute of a taxonomy: what was typed, kept as text, and the edit of the draft that it means.

The allowed values are rows, of which two can be merged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import sent_number
from app.domain.shared.problems import Invalid, Problem
from app.domain.taxonomy.editor.attribute_edits import (
    AddAttribute,
    ChangeAttribute,
    DeleteAttribute,
    MoveAttribute,
    OverrideAttribute,
    PastedValues,
    RenameElsewhere,
    read_pasted_values,
)
from app.domain.taxonomy.editor.level_edits import Edit
from app.domain.taxonomy.tree import Attribute, AttributeType
from app.domain.taxonomy.validation.rules import MOST_VALUES
from app.domain.taxonomy.validation.structure import check_structure
from app.domain.taxonomy.values import NUMBER, with_unit

Rows = tuple["ValueRow", ...]
NEW = "new"
UNSAVED = re.compile(r"new-a[0-9]+")
TEXTS = ("name", "attributeId", "type", "unit", "helpText", "displayLabel")
MERGE = ("mergeFrom", "mergeInto")  # What is chosen for the button that merges two values.
BOUNDS = ("minLength", "maxLength", "minValue", "maxValue")
RULES = (*BOUNDS, "pattern", "errorMessage")
LENGTHS = frozenset(("minLength", "maxLength"))
RULES_OF = {
    AttributeType.STRING: ("minLength", "maxLength", "pattern", "errorMessage"),
    AttributeType.NUMBER: ("minValue", "maxValue", "errorMessage"),
}
PLAIN_WORDS = {
    ("min_greater_than_max", "minLength"): "The minimum length is greater than the maximum.",
    ("min_greater_than_max", "minValue"): "The minimum is greater than the maximum.",
    ("name_missing", "name"): "Give the attribute a name.",
    ("values_missing", "newValues"): "A choice needs at least one value. Write them here, one a line.",
}
AT = "#/rootLevels/0/attributes/0/"
MOST_ROWS = MOST_VALUES + 200  # Room to take some out again. Each is a kilobyte and a half of the page.


@dataclass(frozen=True, slots=True)
class ValueRow:
    """An allowed value as typed. `was` is the value that products hold, blank for one that is new; `merged` are further
    values that products hold and that become this one."""

    text: str
    was: str = ""
    merged: tuple[str, ...] = ()

    @property
    def is_renamed(self) -> bool:
        return bool(self.was) and self.text.strip() != self.was

    @property
    def is_blank(self) -> bool:
        return not self.text.strip() and not self.held

    @property
    def held(self) -> tuple[str, ...]:
        """The values of products that this row stands for."""
        return (*([self.was] if self.was else []), *self.merged)

    @property
    def key(self) -> str:
        """The name of the row in choices, which stays while its text is edited."""
        return self.was or self.text.strip()


def merge_rows(rows: Rows, value: str, into: str) -> Rows:
    """Return the rows with one value, given by its key, merged into another. Raises Invalid for unknown values and for
    the same one twice."""
    gone = next((row for row in rows if row.key == value), None)
    stays = next((row for row in rows if row.key == into), None)
    if gone is None or stays is None:
        raise Invalid.one(
            "unknown_value", "Choose one of the values.", "#/mergeFrom" if gone is None else "#/mergeInto"
        )
    if gone is stays:
        raise Invalid.one("same_value", "Choose another value than the one that is merged.", "#/mergeInto")
    whole = replace(stays, merged=(*stays.merged, *gone.held))
    return tuple(whole if row is stays else row for row in rows if row is not gone)


def unmerge_row(rows: Rows, value: str) -> Rows:
    """Return the rows with a value that was merged as a row of its own again."""
    found: list[ValueRow] = []
    for row in rows:
        if value in row.merged:
            others = tuple(other for other in row.merged if other != value)
            found += [replace(row, merged=others), ValueRow(value, value)]
        else:
            found.append(row)
    return tuple(found)


def is_unsaved(attribute_id: str) -> bool:
    """Whether an id stands for an attribute that was added in the draft."""
    return UNSAVED.fullmatch(attribute_id) is not None


@dataclass(frozen=True, slots=True)
class AttributeForm:
    """The form of an attribute. It keeps all fields as text, so that no input is lost. `attribute_id` is blank for a
    new attribute, whose id may be given by hand in `texts`. `removed` are values that were taken out in the form and
    can be put back."""

    texts: Mapping[str, str]
    attribute_id: str = ""
    mandatory: bool = False
    on_product_page: bool = True
    rows: tuple[ValueRow, ...] = ()
    removed: tuple[str, ...] = ()
    new_values: str = ""
    pasted: PastedValues | None = field(default=None, compare=False)

    @classmethod
    def blank(cls) -> AttributeForm:
        return cls(dict.fromkeys((*TEXTS, *RULES, *MERGE), "") | {"type": AttributeType.SINGLE_SELECT.value})

    @classmethod
    def of(cls, attribute: Attribute, stored: Collection[str] = ()) -> AttributeForm:
        """Return the form of an attribute of the draft. `stored` are the saved values, which products may hold."""
        fields = attribute.as_json()
        rules, renamed = attribute.validation.as_json(), attribute.renamed_values
        return cls(
            texts=dict.fromkeys(MERGE, "")
            | {name: str(fields.get(name) or "") for name in TEXTS}
            | {name: _rule_text(rules.get(name)) for name in RULES},
            attribute_id=attribute.id,
            mandatory=attribute.mandatory,
            on_product_page=attribute.display_on_product_page,
            rows=tuple(
                ValueRow(
                    value,
                    was if (was := renamed.get(value, value)) in stored else "",
                    tuple(gone for gone, into in attribute.merged_values.items() if into == value),
                )
                for value in attribute.allowed_values
            ),
        )

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> AttributeForm:
        """Return the sent form. Raises Invalid for more rows than the form could have had."""
        lists = (sent.getlist(name) for name in ("value", "valueWas", "valueMerged", "valueGone"))
        values, were, merged, gone = lists
        _check_row_count(max(len(values), len(were), len(merged), len(gone)))
        were += [""] * (len(values) - len(were))
        merged += [""] * (len(values) - len(merged))
        return cls(
            texts={name: sent.get(name, "") for name in (*TEXTS, *RULES, *MERGE)},
            attribute_id=sent.get("attribute", ""),
            mandatory="mandatory" in sent,
            on_product_page="displayOnProductPage" in sent,
            rows=tuple(
                ValueRow(text, was, tuple(line for line in lines.replace("\r", "").split("\n") if line))
                for text, was, lines in zip(values, were, merged, strict=False)
            ),
            removed=tuple(gone),
            new_values=sent.get("newValues", ""),
        )

    @property
    def type(self) -> AttributeType:
        sent = self.texts["type"]
        return AttributeType(sent) if sent in AttributeType.__members__ else AttributeType.STRING

    @property
    def is_stored(self) -> bool:
        """Whether the attribute was saved, so that products may hold values of it."""
        return bool(self.attribute_id) and not is_unsaved(self.attribute_id)

    @property
    def is_new(self) -> bool:
        return not self.attribute_id

    @property
    def label(self) -> str:
        """The label of the attribute on product pages."""
        return self.texts["displayLabel"].strip() or self.texts["name"].strip()

    @property
    def sample(self) -> str:
        """A value as product pages might show it."""
        if self.type.is_choice:
            values = [row.text.strip() for row in self.rows if row.text.strip()] or ["A value"]
            return ", ".join(values[:2]) if self.type is AttributeType.MULTI_SELECT else values[0]
        if self.type is AttributeType.NUMBER:
            number = self.texts["maxValue"].strip() or self.texts["minValue"].strip() or "42"
            return with_unit(number, self.texts["unit"].strip())
        return "Yes" if self.type is AttributeType.BOOLEAN else "What the product says"

    @property
    def has_unit(self) -> bool:
        return self.type is AttributeType.NUMBER

    def asks(self, rule: str) -> bool:
        """Whether the form asks for a rule, since it means something for the type."""
        return rule in RULES_OF.get(self.type, ())

    def after(self, intent: str) -> AttributeForm:
        """The form after one of its buttons, such as `up:2`. An unknown one changes nothing. Raises Invalid for more
        values than it can show."""
        action, _, place = intent.partition(":")
        if action == "unmerge":
            return replace(self, rows=unmerge_row(self.rows, place))
        made = _ACTIONS.get(action)
        return made(self, sent_number(place)) if made else self

    def attribute(self) -> dict[str, Any]:
        """The attribute in the draft's form. Raises Invalid with every problem at its field."""
        problems: list[Problem] = []
        form = self._with_waiting_merge(problems)._with_waiting_values(problems)
        rows = [row for row in form.rows if not row.is_blank] if form.type.is_choice else []
        found = form._texts() | form._values(rows)
        rules = {name: value for name in RULES_OF.get(form.type, ()) if (value := form._rule(name, problems)) != ""}
        if form.mandatory:
            rules["mandatory"] = True
        if rules:
            found["validation"] = rules
        places = [place for place, row in enumerate(form.rows) if not row.is_blank]
        problems += [*_duplicates(form.rows), *_structure_problems(found, self.attribute_id, places)]
        if problems:
            raise Invalid(problems)
        return found

    def _texts(self) -> dict[str, Any]:
        names = ("name", "helpText", "displayLabel", *(("unit",) if self.has_unit else ()))
        texts = {name: self.texts[name].strip() for name in names}
        return {name: text for name, text in texts.items() if text or name == "name"} | {
            "attributeId": self.attribute_id or self.texts["attributeId"].strip(),
            "type": self.texts["type"],
            "displayOnProductPage": self.on_product_page,
        }

    def _values(self, rows: list[ValueRow]) -> dict[str, Any]:
        if not rows:
            return {}
        renamed = {row.text.strip(): row.was for row in rows if row.is_renamed}
        merged = {gone: row.text.strip() for row in rows for gone in row.merged}
        return {
            "allowedValues": [row.text.strip() for row in rows],
            "renamedValues": renamed,
            "mergedValues": merged,
        }

    def _rule(self, name: str, problems: list[Problem]) -> str | float:
        text = self.texts[name].strip()
        if name not in BOUNDS or not text:
            return text
        if name in LENGTHS and sent_number(text) is None:
            problems.append(Problem("invalid_number", f"“{text[:40]}” is not a whole number.", f"#/{name}"))
            return ""
        if not NUMBER.fullmatch(text):
            problems.append(Problem("invalid_number", f"“{text[:40]}” is not a number.", f"#/{name}"))
            return ""
        number = float(text)
        return int(number) if number.is_integer() else number

    def _with_waiting_merge(self, problems: list[Problem]) -> AttributeForm:
        """Return the form with two values merged that were chosen for that and not merged yet."""
        if not (self.type.is_choice and all(self.texts[name] for name in MERGE)):
            return self
        try:
            return self.after("merge")
        except Invalid as invalid:
            problems += invalid.problems
            return self

    def _with_waiting_values(self, problems: list[Problem]) -> AttributeForm:
        """Return the form with the values added that were written into the box and not added yet."""
        if not self.type.is_choice or not self.new_values.strip():
            return self
        form = self.after("paste")
        if form.new_values and form.pasted:
            reasons = " ".join(f"“{line[:80]}” {reason}" for line, reason in form.pasted.refused[:3])
            problems.append(Problem("cannot_be_added", reasons, "#/newValues"))
        return form


def _duplicates(rows: tuple[ValueRow, ...]) -> Iterator[Problem]:
    """Yield a problem for each value that two rows have: renaming does not make one value of two, merging does."""
    seen: set[str] = set()
    for place, row in enumerate(rows):
        text = row.text.strip()
        if text in seen:
            message = f"There is a value “{text[:80]}” already. To make one of two, merge them."
            yield Problem("duplicate_value", message, f"#/value/{place}")
        if text:
            seen.add(text)


def _structure_problems(attribute: dict[str, Any], known_id: str, places: list[int]) -> list[Problem]:
    """Return the problems that a save of the structure would report for this attribute, by the form's fields. `places`
    are the rows of the values."""
    sent = {name: value for name, value in attribute.items() if name not in ("renamedValues", "mergedValues")}
    level = {"levelId": "level", "name": "Level", "attributes": [sent]}
    checked = check_structure([level], [known_id] if known_id else [])
    return [_at_field(problem, places) for problem in checked.problems]


def _at_field(problem: Problem, places: list[int]) -> Problem:
    path = problem.pointer.removeprefix(AT).removeprefix("validation/")
    if path == "allowedValues":
        path = "newValues"
    elif path.startswith("allowedValues/"):
        path = f"value/{places[int(path.rpartition('/')[2])]}"
    message = PLAIN_WORDS.get((problem.code, path), problem.message)
    return Problem(problem.code, message, f"#/{path}")


def _check_row_count(values: int) -> None:
    if values > MOST_ROWS:
        message = f"An attribute has at most {MOST_VALUES:,} values; these would be {values:,}."
        raise Invalid.one("too_many_values", message, "#/newValues")


def _rule_text(value: Any) -> str:
    return repr(value).removesuffix(".0") if isinstance(value, int | float) else str(value or "")


def _swap_rows(form: AttributeForm, place: int | None, by: int) -> AttributeForm:
    rows = list(form.rows)
    if place is None or not (0 <= place < len(rows) and 0 <= place + by < len(rows)):
        return form
    rows[place], rows[place + by] = rows[place + by], rows[place]
    return replace(form, rows=tuple(rows))


def _remove_row(form: AttributeForm, place: int | None) -> AttributeForm:
    if place is None or place >= len(form.rows):
        return form
    rows = (*form.rows[:place], *form.rows[place + 1 :])
    return replace(form, rows=rows, removed=(*form.removed, *form.rows[place].held))


def _merge_chosen_rows(form: AttributeForm, _: int | None) -> AttributeForm:
    rows = merge_rows(form.rows, form.texts["mergeFrom"], form.texts["mergeInto"])
    return replace(form, rows=rows, texts={**form.texts, **dict.fromkeys(MERGE, "")})


def _restore_row(form: AttributeForm, place: int | None) -> AttributeForm:
    if place is None or place >= len(form.removed):
        return form
    was = form.removed[place]
    removed = (*form.removed[:place], *form.removed[place + 1 :])
    return replace(form, rows=(*form.rows, ValueRow(was, was)), removed=removed)


def _add_pasted(form: AttributeForm, split_at_commas: bool = False) -> AttributeForm:
    """Return the form with the pasted values as rows. One that was just taken out is put back, so that products keep
    it."""
    found = read_pasted_values(form.new_values, [row.text for row in form.rows], split_at_commas)
    _check_row_count(len(form.rows) + len(found.values))
    gone = set(form.removed)
    rows = tuple(ValueRow(value, value if value in gone else "") for value in found.values)
    removed = tuple(value for value in form.removed if value not in found.values)
    return replace(form, rows=(*form.rows, *rows), removed=removed, new_values=found.rest, pasted=found)


_ACTIONS: Mapping[str, Callable[[AttributeForm, int | None], AttributeForm]] = {
    "up": lambda form, place: _swap_rows(form, place, -1),
    "down": lambda form, place: _swap_rows(form, place, 1),
    "remove": _remove_row,
    "restore": _restore_row,
    "merge": _merge_chosen_rows,
    "paste": lambda form, _: _add_pasted(form),
    "split": lambda form, _: _add_pasted(form, split_at_commas=True),
    "sort": lambda form, _: replace(form, rows=tuple(sorted(form.rows, key=lambda row: row.text.casefold()))),
}


def attribute_edit(sent: MultiDict[str, str]) -> Edit:
    """Return the edit that a form of the panel requests: `edit` names it. Raises Invalid, with pointers to the fields
    of the attribute's form."""
    made = _EDITS.get(sent.get("edit", ""))
    if made is None:
        raise Invalid.one("unknown_edit", "Unknown action. Reload the page.", "#/edit")
    return made(sent, sent.get("level", ""), sent.get("attribute", ""))


def _position(sent: MultiDict[str, str]) -> int:
    position = sent_number(sent.get("position", ""))
    if position is None:
        raise Invalid.one("invalid_number", "Enter the place to move it to.", "#/position")
    return position


_EDITS: Mapping[str, Callable[[MultiDict[str, str], str, str], Edit]] = {
    "attribute.add": lambda sent, level, _: AddAttribute(level, AttributeForm.typed(sent).attribute()),
    "attribute.change": lambda sent, level, own: ChangeAttribute(level, own, AttributeForm.typed(sent).attribute()),
    "attribute.move": lambda sent, level, own: MoveAttribute(level, own, _position(sent)),
    "attribute.delete": lambda _, level, own: DeleteAttribute(level, own),
    "attribute.renameElsewhere": lambda sent, level, own: RenameElsewhere(
        level, own, sent.get("value", ""), sent.get("renamed", "")
    ),
    "attribute.override": lambda _, level, own: OverrideAttribute(level, own),
}

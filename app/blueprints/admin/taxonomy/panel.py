"""The editor's panel of one level: its words, its attributes, those it inherits, and the form of the attribute that is
open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flask import request
from werkzeug.datastructures import MultiDict

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.taxonomy.attribute_form import NEW, AttributeForm, ValueRow
from app.domain.shared.problems import DomainError, Invalid, Problem
from app.domain.shared.text import numbered
from app.domain.taxonomy.editor.drafts import Editing
from app.domain.taxonomy.editor.warnings import SplitValue, TypeConflict, split_values, type_conflicts
from app.domain.taxonomy.impact import NO_STORED_VALUES, StoredValues, stored_values
from app.domain.taxonomy.tree import Attribute, AttributeType, Level, TaxonomyTree
from app.domain.taxonomy.values import COMMON_UNITS, with_unit

TYPE_NAMES = {
    AttributeType.SINGLE_SELECT: "Single choice",
    AttributeType.MULTI_SELECT: "Multiple choice",
    AttributeType.STRING: "Text",
    AttributeType.NUMBER: "Number",
    AttributeType.BOOLEAN: "Yes or no",
}
TYPE_HELP = {
    AttributeType.SINGLE_SELECT: "A product has one of the values. Shoppers can filter by them.",
    AttributeType.MULTI_SELECT: "A product has any number of the values. Shoppers can filter by them.",
    AttributeType.STRING: "Free text, such as a model name.",
    AttributeType.NUMBER: "A number, such as a weight; shoppers compare it.",
    AttributeType.BOOLEAN: "Yes or no, such as “waterproof”.",
}
NO_ERRORS = FieldErrors()


@dataclass(frozen=True, slots=True)
class ShownAttribute:
    """An attribute as a row. `level_id` is where it is defined; `other` the name of the level whose definition it
    replaces (of an own one) or by whose it is replaced (of an inherited one)."""

    attribute: Attribute
    level_id: str
    level_name: str
    other: str | None = None
    renamed: int = 0
    merged: int = 0

    @property
    def type_name(self) -> str:
        return TYPE_NAMES[self.attribute.type]

    @property
    def summary(self) -> str:
        return ", ".join(_summarise(self.attribute))


@dataclass(frozen=True, slots=True)
class Panel:
    """The panel of one level. `form` is the open attribute's, `typed` what was typed into the level's own form when
    that was refused."""

    level_id: str | None
    level: Level | None
    way: Sequence[Level]
    own: Sequence[ShownAttribute]
    inherited: Sequence[ShownAttribute]
    form: AttributeForm | None
    held: StoredValues
    errors: FieldErrors
    typed: Mapping[str, str]

    @property
    def stored(self) -> ShownAttribute | None:
        """The open attribute as the draft has it; None for a new one."""
        return next((shown for shown in self.own if self.form and shown.attribute.id == self.form.attribute_id), None)

    @property
    def changes_kind(self) -> bool:
        """Whether another type was chosen while products hold values, which may not fit it."""
        if self.form is None or self.stored is None:
            return False
        return self.held.products > 0 and self.form.type is not self.stored.attribute.type

    @property
    def merge_choices(self) -> list[tuple[str, str]]:
        """The values that can be merged, each with the number of products that hold it."""
        rows = [row for row in self.form.rows if not row.is_blank] if self.form else []
        return [("", "Choose a value"), *((row.key, self._with_products(row)) for row in rows)]

    def _with_products(self, row: ValueRow) -> str:
        products = sum(map(self.held.of, row.held))
        return f"{row.text} ({numbered(products, 'product')})" if products else row.text

    @property
    def losing(self) -> int:
        """Return the number of products that hold one of the values that were taken out; one that holds several counts
        for each."""
        return sum(self.held.of(value) for value in self.form.removed) if self.form else 0


def panel_of(
    editing: Editing,
    level_id: str | None,
    typed: MultiDict[str, str] | None = None,
    error: DomainError | None = None,
    form: AttributeForm | None = None,
) -> Panel:
    """Return the panel of a level, an empty one for an unknown level. `typed` and `error` are a form of the panel that
    was refused. Otherwise the address names the open attribute (`attribute`); after an edit none is open, except one
    that just got a definition of its own."""
    level = editing.levels.get(level_id) if level_id else None
    if level is None or level_id is None:
        return Panel(None, None, (), (), (), None, NO_STORED_VALUES, _errors(error), typed or {})
    form = form or _open_form(editing, level, typed)
    return Panel(
        level_id=level_id,
        level=level,
        way=editing.tree.path(level_id)[:-1],
        own=list(_own_attributes(editing.tree, level)),
        inherited=list(_inherited_attributes(editing.tree, level)),
        form=form,
        held=_count_stored_values(editing, level_id, form),
        errors=_errors(error),
        typed=typed if typed is not None and form is None else {},
    )


def _open_form(editing: Editing, level: Level, typed: MultiDict[str, str] | None) -> AttributeForm | None:
    if typed is not None and typed.get("edit") in ("attribute.add", "attribute.change"):
        return _typed_form(typed)
    attribute_id = request.args.get("attribute", "")
    if request.method != "GET":
        overrides = typed is None and request.form.get("edit") == "attribute.override"
        attribute_id = request.form.get("attribute", "") if overrides else ""
    if attribute_id == NEW:
        return AttributeForm.blank()
    attribute = level.attribute(attribute_id)
    return AttributeForm.of(attribute, _stored_values(editing, attribute_id)) if attribute else None


def _typed_form(typed: MultiDict[str, str]) -> AttributeForm | None:
    """Return the typed form; None for one too long to be shown."""
    try:
        return AttributeForm.typed(typed)
    except Invalid:
        return None


def _stored_values(editing: Editing, attribute_id: str) -> set[str]:
    """Return the stored values of all definitions with this id: one that replaces an inherited one takes over its
    products."""
    stored = editing.base.attributes_by_id().get(attribute_id, ())
    return {value for definition in stored for value in definition.allowed_values}


def _errors(error: DomainError | None) -> FieldErrors:
    return FieldErrors(error) if error else NO_ERRORS


def _count_stored_values(editing: Editing, level_id: str, form: AttributeForm | None) -> StoredValues:
    if form is None or not form.is_stored:
        return NO_STORED_VALUES
    taxonomy = editing.taxonomy
    return stored_values(taxonomy.site_id, taxonomy.id, editing.tree, level_id, form.attribute_id)


def _own_attributes(tree: TaxonomyTree, level: Level) -> Iterator[ShownAttribute]:
    above = tree.path(level.id)[-2::-1]
    for attribute in level.attributes:
        replaced = next((found.name for found in above if found.attribute(attribute.id)), None)
        changed = len(attribute.renamed_values), len(attribute.merged_values)
        yield ShownAttribute(attribute, level.id, level.name, replaced, *changed)


def _inherited_attributes(tree: TaxonomyTree, level: Level) -> Iterator[ShownAttribute]:
    """Yield the inherited attributes from the root down. The nearest of several definitions applies; the others name
    the level whose definition replaces them."""
    way = tree.path(level.id)
    for place, above in enumerate(way[:-1]):
        for attribute in above.attributes:
            nearer = [found.name for found in way[place + 1 :] if found.attribute(attribute.id)]
            yield ShownAttribute(attribute, above.id, above.name, nearer[-1] if nearer else None)


def _summarise(attribute: Attribute) -> Iterator[str]:
    rules = attribute.validation
    if attribute.type.is_choice:
        number = len(attribute.allowed_values)
        yield "1 value" if number == 1 else f"{number:,} values"
    if values := _bounds(rules.min_value, rules.max_value):
        yield with_unit(values, attribute.unit)
    elif attribute.unit:
        yield f"in {attribute.unit}"
    if lengths := _bounds(rules.min_length, rules.max_length):
        yield f"{lengths} characters"
    if rules.pattern:
        yield "follows a pattern"


def _bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    if low is not None:
        return f"at least {low:,}"
    return f"at most {high:,}" if high is not None else ""


@bp.app_template_global("common_units")
def common_units() -> tuple[str, ...]:
    return COMMON_UNITS


@bp.app_template_global("attribute_types")
def attribute_types() -> list[tuple[str, str, str]]:
    """Return (value, name, help) in the order in which people want them."""
    return [(kind.value, name, TYPE_HELP[kind]) for kind, name in TYPE_NAMES.items()]


@bp.app_template_global("type_name")
def type_name(stored: str) -> str:
    return TYPE_NAMES.get(AttributeType.__members__.get(stored), stored)  # type: ignore[arg-type]


@bp.app_template_global("taxonomy_type_conflicts")
def taxonomy_type_conflicts(editing: Editing) -> Sequence[TypeConflict]:
    return type_conflicts(editing.tree, editing.base)


@bp.app_template_global("taxonomy_split_values")
def taxonomy_split_values(editing: Editing) -> Sequence[SplitValue]:
    return split_values(editing.tree, editing.base)


@bp.app_template_global("problem_field")
def problem_field(problem: Problem) -> str:
    """The id of the field of the panel at which a problem of the tree is to be fixed."""
    _, attribute, place = problem.pointer.partition("/attributes/")
    if not attribute:
        last = problem.pointer.rpartition("/")[2]
        if f"/otherNames/{last}" in problem.pointer:
            return "f-otherNames"
        return f"f-{last}" if last in ("name", "description") else "panel"
    field = place.partition("/")[2].removeprefix("validation/")
    if field.startswith("allowedValues"):
        return f"f-value-{field.rpartition('/')[2]}" if "/" in field else "f-newValues"
    return f"f-{field}" if field else "panel"

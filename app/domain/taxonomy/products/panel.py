"""The classification of a product in the product form: an input for each attribute of its level, what stands in it,
what is wrong with that, and what the level leaves behind. Values are texts here, as inputs send them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree
from app.domain.taxonomy.values import (
    NOTHING_STORED,
    DroppedValue,
    check_values,
    completeness,
    is_empty,
    missing_attributes,
    with_unit,
)

Texts = Mapping[str, Sequence[str]]  # By attribute id; several texts are the choices of a multi-select.

MOST_IN_A_MENU = 30  # From more choices than these people pick by typing.
LONG_LINE = 80
MOST_PLACES = 15
NOT_APPLICABLE = "The level does not have this attribute."


class InputKind(StrEnum):
    """The kind of input. FINDER is one choice of many, found by typing; YES_NO can also be not set."""

    LINE = "line"
    LINES = "lines"
    NUMBER = "number"
    YES_NO = "yes-no"
    MENU = "menu"
    FINDER = "finder"
    TICKS = "ticks"


@dataclass(frozen=True, slots=True)
class AttributeInput:
    """The input of an attribute. `inherited_from` names the level above that defines the attribute, if one does;
    `problems` say why its texts would not be kept."""

    attribute: Attribute
    texts: tuple[str, ...]
    inherited_from: str | None
    problems: tuple[str, ...]
    is_missing: bool

    @property
    def text(self) -> str:
        return ", ".join(self.texts)

    @property
    def control(self) -> InputKind:
        return _control(self.attribute, self.text)

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed values, then the other values that the product holds."""
        allowed = self.attribute.allowed_values
        return (*allowed, *(text for text in self.texts if text and text not in allowed))

    @property
    def hint(self) -> str:
        """The rules of the attribute, in a few words."""
        return value_hint(self.attribute)


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A value that the level has no attribute for."""

    attribute_id: str
    label: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A value that a save did not keep. `has_input`: its attribute still has one. `stays` is what the product still
    has in its place, empty for nothing."""

    attribute_id: str
    label: str
    text: str
    reason: str
    has_input: bool
    stays: str = ""


@dataclass(frozen=True, slots=True)
class ProductPanel:
    """The classification of a product in its form. `level_path` is the path to the level, empty for none;
    `level_is_gone` where the taxonomy no longer has it. `score` is the completeness in per cent that the texts would
    give, None without a level."""

    level_id: str
    level_path: str
    level_is_gone: bool
    inputs: tuple[AttributeInput, ...]
    left_behind: tuple[LeftBehind, ...]
    score: int | None

    @property
    def missing(self) -> list[AttributeInput]:
        return [one for one in self.inputs if one.is_missing]


def product_panel(
    tree: TaxonomyTree, level_id: str, texts: Texts, stored: Mapping[str, Any] = NOTHING_STORED
) -> ProductPanel:
    """Return the panel for a level and the texts that were typed or are stored. An unknown level has no inputs:
    everything is left behind, and nothing is lost before a save. Where a typed value is invalid, the `stored` one
    counts, since it stays."""
    attributes = tree.applicable_attributes(level_id)
    values = raw_values(attributes, texts)
    kept, dropped = check_values(attributes, values, stored)
    gaps = {attribute.id for attribute in missing_attributes(attributes, kept)}
    sources = {attribute.id: level.name for level in tree.path(level_id)[:-1] for attribute in level.attributes}
    own = {attribute.id for level in tree.path(level_id)[-1:] for attribute in level.attributes}
    return ProductPanel(
        level_id=level_id,
        level_path=path_label(tree, level_id),
        level_is_gone=bool(level_id) and level_id not in tree.levels,
        inputs=tuple(
            AttributeInput(
                attribute=attribute,
                texts=_in_current_words(attribute, texts.get(attribute.id, ())),
                inherited_from=None if attribute.id in own else sources.get(attribute.id),
                problems=tuple(one.reason for one in dropped if one.attribute_id == attribute.id),
                is_missing=attribute.id in gaps,
            )
            for attribute in attributes.values()
        ),
        left_behind=tuple(
            LeftBehind(name, attribute_label(tree, name), tuple(texts[name]))
            for name in values
            if name not in attributes
        ),
        score=completeness(attributes, kept) if level_id in tree.levels else None,
    )


def _in_current_words(attribute: Attribute, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of an input. A value that was renamed just now has its new word there."""
    if not attribute.former:
        return tuple(texts)
    return tuple(dict.fromkeys(attribute.choice(text) or text for text in texts))


def path_label(tree: TaxonomyTree, level_id: str) -> str:
    """Return the names on the path to a level, “Camping › Tents”; empty for an unknown level."""
    return " › ".join(level.name for level in tree.path(level_id))


def attribute_label(tree: TaxonomyTree, attribute_id: str) -> str:
    """Return the attribute's first name in the taxonomy, or the bare id where no level has it any more."""
    definitions = tree.attributes_by_id().get(attribute_id)
    return definitions[0].name if definitions else attribute_id


def stored_texts(values: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the stored values of a product as the texts of inputs, valid or not."""
    return {
        name: tuple(_text(item) for item in (value if isinstance(value, list) else [value]))
        for name, value in values.items()
        if not is_empty(value)
    }


def raw_values(attributes: Mapping[str, Attribute], texts: Texts) -> dict[str, str | list[str]]:
    """Return the values that inputs sent, in the form in which values are checked; blank ones are left out."""
    filled = {name: [text for text in found if text.strip()] for name, found in texts.items()}
    return {name: _raw_value(attributes.get(name), found) for name, found in filled.items() if found}


def dropped_values(tree: TaxonomyTree, level_id: str | None, dropped: Sequence[DroppedValue]) -> tuple[Dropped, ...]:
    """Return the values that a save did not keep, with labels and reasons in words."""
    attributes = tree.applicable_attributes(level_id or "")
    return tuple(
        Dropped(
            attribute_id=one.attribute_id,
            label=known.name
            if (known := attributes.get(one.attribute_id))
            else attribute_label(tree, one.attribute_id),
            text=_join_texts(one.value),
            reason=NOT_APPLICABLE if one.code == "not_applicable" else one.reason,
            has_input=one.attribute_id in attributes,
            stays="" if one.stays is None else _join_texts(one.stays),
        )
        for one in dropped
    )


def _join_texts(value: Any) -> str:
    return ", ".join(_text(item) for item in (value if isinstance(value, list) else [value]))


def _raw_value(attribute: Attribute | None, found: list[str]) -> str | list[str]:
    if attribute is not None and attribute.type is AttributeType.MULTI_SELECT:
        return found
    return found[0] if len(found) == 1 else found


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # Never with an exponent or with more places than an input's number may have.
        text = format(Decimal(repr(value)), "f")
        whole, _, places = text.partition(".")
        return f"{whole}.{places[:MOST_PLACES]}".removesuffix(".0").removesuffix(".")
    return str(value)


def _control(attribute: Attribute, text: str) -> InputKind:
    match attribute.type:
        case AttributeType.NUMBER:
            return InputKind.NUMBER
        case AttributeType.BOOLEAN:
            return InputKind.YES_NO
        case AttributeType.MULTI_SELECT:
            return InputKind.TICKS
        case AttributeType.SINGLE_SELECT:
            return InputKind.MENU if len(attribute.allowed_values) <= MOST_IN_A_MENU else InputKind.FINDER
    is_long = "\n" in text or len(text) > LONG_LINE or (attribute.validation.max_length or 0) > 2 * LONG_LINE
    return InputKind.LINES if is_long else InputKind.LINE


def value_hint(attribute: Attribute) -> str:
    rules = attribute.validation
    if attribute.type is AttributeType.NUMBER:
        return with_unit(_between(rules.min_value, rules.max_value, ""), attribute.unit)
    if attribute.type is not AttributeType.STRING:
        return ""
    lengths = _between(rules.min_length, rules.max_length, " characters")
    form = f"In the form {rules.pattern}" if rules.pattern and not rules.error_message else ""
    parts = [part for part in (lengths, rules.error_message if rules.pattern else None, form) if part]
    return ". ".join(part.rstrip(".") for part in parts) + "." if parts else ""


def _between(low: float | None, high: float | None, unit: str) -> str:
    if low is not None and high is not None:
        return f"{_text(low)} to {_text(high)}{unit}"
    if low is not None:
        return f"At least {_text(low)}{unit}"
    return f"At most {_text(high)}{unit}" if high is not None else ""

"""Attribute values that a product may hold: coerced to the attribute's type, then checked one by one. Pure.

A value that breaks a rule is dropped and reported; the rest is kept, and where no given value of an attribute is valid,
its stored one stays. A choice that differs from an allowed value only in case or outer spaces takes its spelling, and
the former word of a renamed one becomes the new word. In a multi-select each value is checked by itself.

Completeness and what fits of an archived classification follow from the checked values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import re2

from app.domain.shared.text import UNPRINTABLE_IN_BLOCK
from app.domain.taxonomy.renames import replace_words
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree

LONGEST_UNIT = 20
COMMON_UNITS = (
    *("mm", "cm", "m", "km", "in", "ft"),
    *("mg", "g", "kg", "t", "oz", "lb"),
    *("ml", "cl", "l", "fl oz"),
    *("cm²", "m²", "cm³", "m³"),
    *("°C", "°F", "%", "°"),
    *("s", "min", "h", "days", "months", "years"),
    *("V", "A", "mAh", "W", "kW", "Wh", "kWh"),
    *("Hz", "kHz", "MHz", "GHz", "rpm"),
    *("MB", "GB", "TB", "MP", "px", "dpi", "Mbit/s"),
    *("lm", "lx", "dB", "bar", "psi", "N", "Nm", "km/h", "mph", "g/m²", "den"),
)
ATTACHED = frozenset(("%", "°", "′", "″"))  # Written without a space before them.
LONGEST_PATTERN = 200
# Merchandisers write patterns, so they are run by an engine that no pattern can hang.
MEMORY = 1 << 17  # Bytes that one compiled pattern may take, which also bounds the time to compile it: 2 ms.
TOO_LARGE = "pattern too large"
LONGEST_VALUE = 10_000
LARGEST_NUMBER = 1e15
NUMBER = re.compile(r"[+-]?(?:[0-9]{1,16}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})", re.ASCII)
WORDS_FOR_TRUE = frozenset(("true", "yes", "on", "1"))
WORDS_FOR_FALSE = frozenset(("false", "no", "off", "0"))
Value = str | int | float | bool | list[str]
NOTHING_STORED: Mapping[str, Any] = {}


def with_unit(number: str, unit: str | None) -> str:
    """Return a number, already in words, with its unit: "450 g", "50%", "450" for none."""
    if not unit or not number:
        return number
    return f"{number}{unit}" if unit in ATTACHED else f"{number} {unit}"


def pattern_problem(pattern: str) -> str | None:
    """Return the reason why a pattern cannot be used, or None."""
    if len(pattern) > LONGEST_PATTERN:
        return f"The pattern has {len(pattern)} characters; at most {LONGEST_PATTERN} fit."
    try:
        _compile(pattern)
    except UnicodeEncodeError:
        return "The pattern holds characters that no text has."
    except re2.error as error:
        reason = error.args[0] if error.args else "it does not compile"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        if text.startswith(TOO_LARGE):
            return "The pattern is too large. Leave how long a value may be to minLength and maxLength."
        return f"The pattern cannot be used: {text}."
    return None


def matches_whole(pattern: str, value: str) -> bool:
    """Whether a pattern matches the whole value; True for a pattern that was stored under wider limits and cannot be
    compiled any more."""
    try:
        return _compile(pattern).fullmatch(value) is not None
    except re2.error:
        return True


@lru_cache(maxsize=128)
def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)


@dataclass(frozen=True, slots=True)
class DroppedValue:
    """A value that was not kept. `code` is a stable word, `reason` a sentence for people; `stays` is the stored value
    that stays in its place, None where none does."""

    attribute_id: str
    value: Any
    code: str
    reason: str
    stays: Value | None = None


class _InvalidValue(Exception):
    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def check_values(
    attributes: Mapping[str, Attribute], raw: Mapping[str, Any], stored: Mapping[str, Any] = NOTHING_STORED
) -> tuple[dict[str, Value], list[DroppedValue]]:
    """Return the values that are kept, by attribute id, and those that were dropped, each with the reason. `attributes`
    are those that apply to the product's level. Empty values (None, "" and []) are neither. `stored` are the values
    that the product holds: one that is still right stays where nothing that was given in its place is kept."""
    kept, dropped = _keep_or_drop(attributes, raw)
    replaced = {
        one.attribute_id: stored[one.attribute_id]
        for one in dropped
        if one.attribute_id in stored and one.attribute_id not in kept and not _holds(stored[one.attribute_id], one)
    }
    if not replaced:
        return kept, dropped
    staying, _ = _keep_or_drop(attributes, replaced)
    return kept | staying, [replace(one, stays=staying.get(one.attribute_id)) for one in dropped]


def _holds(stored: Any, dropped: DroppedValue) -> bool:
    """Whether the dropped value is the stored one itself, or one of several stored ones."""
    return bool(stored == dropped.value or (isinstance(stored, list) and dropped.value in stored))


def _keep_or_drop(
    attributes: Mapping[str, Attribute], raw: Mapping[str, Any]
) -> tuple[dict[str, Value], list[DroppedValue]]:
    kept: dict[str, Value] = {}
    dropped: list[DroppedValue] = []
    for attribute_id, given in raw.items():
        attribute = attributes.get(attribute_id)
        if attribute is None:
            reason = "No attribute of this id holds for the product’s level."
            dropped.append(DroppedValue(attribute_id, given, "not_applicable", reason))
        elif not is_empty(given):
            _check(attribute, given, kept, dropped)
    return kept, dropped


def in_current_words(attributes: Mapping[str, Attribute], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a product with renamed ones in their new words, since the task that renames them may not
    have reached the product yet. `attributes` are those of its level: for another level the word may mean nothing."""
    return {
        attribute_id: _in_current_words(attributes[attribute_id], value) if attribute_id in attributes else value
        for attribute_id, value in values.items()
    }


def _in_current_words(attribute: Attribute, value: Any) -> Any:
    if not attribute.former:
        return value
    return replace_words(value, {word: attribute.choice(word) or word for word in attribute.former})


def is_empty(value: Any) -> bool:
    """Whether a value is empty; 0 and False are not."""
    return value is None or (isinstance(value, str) and not value.strip()) or value == []


def _check(attribute: Attribute, given: Any, kept: dict[str, Value], dropped: list[DroppedValue]) -> None:
    if attribute.type is AttributeType.MULTI_SELECT:
        chosen = _check_choices(attribute, given, dropped)
        if chosen:
            kept[attribute.id] = chosen
        return
    try:
        kept[attribute.id] = _CHECKS[attribute.type](attribute, given)
    except _InvalidValue as invalid:
        dropped.append(DroppedValue(attribute.id, given, invalid.code, invalid.reason))


def _check_choices(attribute: Attribute, given: Any, dropped: list[DroppedValue]) -> list[str]:
    chosen: dict[str, None] = {}
    for item in _items(attribute, given):
        try:
            chosen[_choice(attribute, item)] = None
        except _InvalidValue as invalid:
            dropped.append(DroppedValue(attribute.id, item, invalid.code, invalid.reason))
    return list(chosen)


def _items(attribute: Attribute, given: Any) -> Iterator[Any]:
    """Return the items of a multi-select's value. A single text is split at commas, which no allowed value contains."""
    if isinstance(given, str):
        given = given.split(",")
    elif not isinstance(given, list):
        given = [given]
    return (item for item in given if not is_empty(item))


def _choice(attribute: Attribute, given: Any) -> str:
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    text = _number_text(given) if _is_number(given) else given
    if not isinstance(text, str):
        raise _InvalidValue("wrong_type", f"{attribute.name} takes one of its values, as text.")
    text = text.strip()
    allowed = attribute.choice(text)
    if allowed is None:
        raise _InvalidValue("not_allowed", f"{attribute.name} has no value “{text[:80]}”.")
    return allowed


def _number(attribute: Attribute, given: Any) -> int | float:
    if isinstance(given, str) and NUMBER.fullmatch(given.strip()):
        given = float(given.strip())
    if not _is_number(given):
        raise _InvalidValue("wrong_type", f"{attribute.name} takes a number.")
    if not abs(given) <= LARGEST_NUMBER:  # Nor is NaN; a whole number may be too large for a float.
        raise _InvalidValue("out_of_range", f"{attribute.name} takes a number within ±10¹⁵.")
    low, high = attribute.validation.min_value, attribute.validation.max_value
    if low is not None and given < low:
        raise _broken_rule(attribute, "too_small", f"{attribute.name} must be at least {_bound(attribute, low)}.")
    if high is not None and given > high:
        raise _broken_rule(attribute, "too_large", f"{attribute.name} must be at most {_bound(attribute, high)}.")
    return int(given) if given == int(given) else float(given)


def _bound(attribute: Attribute, number: float) -> str:
    return with_unit(_number_text(number), attribute.unit)


def _boolean(attribute: Attribute, given: Any) -> bool:
    if isinstance(given, bool):
        return given
    word = str(given).strip().casefold() if isinstance(given, str | int) else ""
    if word in WORDS_FOR_TRUE:
        return True
    if word in WORDS_FOR_FALSE:
        return False
    raise _InvalidValue("wrong_type", f"{attribute.name} takes yes or no.")


def _string(attribute: Attribute, given: Any) -> str:
    text = _number_text(given) if _is_number(given) else given
    if not isinstance(text, str):
        raise _InvalidValue("wrong_type", f"{attribute.name} takes a text.")
    text = text.strip()
    _check_length(attribute, text)
    if UNPRINTABLE_IN_BLOCK.search(text):
        raise _InvalidValue("unprintable", f"{attribute.name} contains characters that cannot be shown.")
    pattern = attribute.validation.pattern
    if pattern and not matches_whole(pattern, text):
        raise _broken_rule(attribute, "pattern", f"{attribute.name} does not have the form that is asked for.")
    return text


def _check_length(attribute: Attribute, text: str) -> None:
    rules = attribute.validation
    longest = LONGEST_VALUE if rules.max_length is None else min(rules.max_length, LONGEST_VALUE)
    if rules.min_length is not None and len(text) < rules.min_length:
        raise _broken_rule(attribute, "too_short", f"{attribute.name} needs at least {rules.min_length} characters.")
    if len(text) > longest:
        raise _broken_rule(attribute, "too_long", f"{attribute.name} takes at most {longest:,} characters.")


def _broken_rule(attribute: Attribute, code: str, reason: str) -> _InvalidValue:
    """Return the refusal for a broken rule, with the taxonomy's own message where it has one."""
    return _InvalidValue(code, attribute.validation.error_message or reason)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number_text(number: int | float) -> str:
    return str(int(number)) if isinstance(number, float) and number.is_integer() else str(number)


def value_texts(value: Value) -> list[str]:
    """The value as the texts by which products are counted and filtered: "true", "2.5", each choice."""
    if isinstance(value, list):
        return value
    if isinstance(value, bool):
        return ["true" if value else "false"]
    return [value if isinstance(value, str) else _number_text(value)]


_CHECKS: Mapping[AttributeType, Callable[[Attribute, Any], Value]] = {
    AttributeType.STRING: _string,
    AttributeType.NUMBER: _number,
    AttributeType.BOOLEAN: _boolean,
    AttributeType.SINGLE_SELECT: _choice,
}


def completeness(attributes: Mapping[str, Attribute], values: Mapping[str, Any]) -> int:
    """Return how many per cent of the mandatory ones among the applicable attributes have a valid value, rounded down;
    100 when none is mandatory. Products without a level have no completeness: the caller stores None for them."""
    mandatory = [attribute for attribute in attributes.values() if attribute.mandatory]
    if not mandatory:
        return 100
    return 100 * (len(mandatory) - len(missing_attributes(attributes, values))) // len(mandatory)


def missing_attributes(attributes: Mapping[str, Attribute], values: Mapping[str, Any]) -> list[Attribute]:
    """The mandatory attributes without a valid value, in the order of the level's form."""
    valid, _ = check_values(attributes, values)
    return [attribute for attribute in attributes.values() if attribute.mandatory and attribute.id not in valid]


@dataclass(frozen=True, slots=True)
class RestoredClassification:
    """The classification that a product gets back: `level_id`, valid `values` and its completeness in per cent. `left`
    is the slot afterwards, with the values that fit no more; None when nothing is left. `dropped` has the reasons why
    they do not fit."""

    level_id: str
    values: dict[str, Value]
    score: int
    left: dict[str, Any] | None
    dropped: tuple[DroppedValue, ...] = field(default=())

    @property
    def left_values(self) -> dict[str, Any]:
        return {} if self.left is None else dict(self.left["attributes"])


def restore_from_slot(tree: TaxonomyTree, slot: Mapping[str, Any]) -> RestoredClassification | None:
    """Return the classification that a product's archive slot restores, which it had when another taxonomy became
    active; None when the tree has no level of the slot's id: then all stays in the slot. It does not matter from which
    taxonomy the slot is, since a copy that was worked over keeps the ids of its levels."""
    level_id, archived = slot.get("levelId"), slot.get("attributes") or {}
    if not isinstance(level_id, str) or level_id not in tree.levels:
        return None
    attributes = tree.applicable_attributes(level_id)
    values, dropped = check_values(attributes, archived)
    left_values = _values_left(archived, dropped)
    left = {**slot, "attributes": left_values} if left_values else None
    return RestoredClassification(level_id, values, completeness(attributes, values), left, tuple(dropped))


def _values_left(archived: Mapping[str, Any], dropped: list[DroppedValue]) -> dict[str, Any]:
    """Return the archived values that were dropped; of a multi-select only the dropped ones."""
    left: dict[str, Any] = {}
    for value in dropped:
        if isinstance(archived[value.attribute_id], list) and not isinstance(value.value, list):
            left.setdefault(value.attribute_id, []).append(value.value)
        else:
            left[value.attribute_id] = archived[value.attribute_id]
    return left

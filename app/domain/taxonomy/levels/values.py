"""Attribute values that a product may hold: coerced to the attribute's type, then checked one by one.

A value that breaks a rule is dropped and reported; the rest is kept, and where no given value of an attribute is valid,
its stored one stays. A choice that differs from an allowed value only in case or outer spaces takes its spelling, and
the former word of a renamed one becomes the new word. In a multi-select each value is checked by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.domain.shared.text import UNPRINTABLE_IN_BLOCK
from app.domain.taxonomy.levels.attribute import Attribute, AttributeType
from app.domain.taxonomy.levels.patterns import matches_whole
from app.domain.taxonomy.levels.renamed_words import in_other_words
from app.domain.taxonomy.levels.units import with_unit

LONGEST_VALUE = 10_000
LARGEST_NUMBER = 1e15
NUMBER = re.compile(r"[+-]?(?:[0-9]{1,16}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})", re.ASCII)
WORDS_FOR_TRUE = frozenset(("true", "yes", "on", "1"))
WORDS_FOR_FALSE = frozenset(("false", "no", "off", "0"))

Value = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class DroppedValue:
    """A value that was not kept. `code` is a stable word, `reason` a sentence for people; `stays` is the stored value
    that stays in its place, None where none does."""

    attribute_id: str
    value: Any
    code: str
    reason: str
    stays: Value | None = None


NOTHING_STORED: Mapping[str, Any] = {}


class _Refused(Exception):
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
    kept, dropped = _checked(attributes, raw)
    replaced = {
        one.attribute_id: stored[one.attribute_id]
        for one in dropped
        if one.attribute_id in stored and one.attribute_id not in kept and not _holds(stored[one.attribute_id], one)
    }
    if not replaced:
        return kept, dropped
    staying, _ = _checked(attributes, replaced)
    return kept | staying, [replace(one, stays=staying.get(one.attribute_id)) for one in dropped]


def _holds(stored: Any, dropped: DroppedValue) -> bool:
    """Whether the dropped value is the stored one itself, or one of several stored ones."""
    return bool(stored == dropped.value or (isinstance(stored, list) and dropped.value in stored))


def _checked(
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
    return in_other_words(value, {word: attribute.choice(word) or word for word in attribute.former})


def is_empty(value: Any) -> bool:
    """Whether a value is empty; 0 and False are not."""
    return value is None or (isinstance(value, str) and not value.strip()) or value == []


def _check(attribute: Attribute, given: Any, kept: dict[str, Value], dropped: list[DroppedValue]) -> None:
    if attribute.type is AttributeType.MULTI_SELECT:
        chosen = _chosen(attribute, given, dropped)
        if chosen:
            kept[attribute.id] = chosen
        return
    try:
        kept[attribute.id] = _CHECKS[attribute.type](attribute, given)
    except _Refused as refused:
        dropped.append(DroppedValue(attribute.id, given, refused.code, refused.reason))


def _chosen(attribute: Attribute, given: Any, dropped: list[DroppedValue]) -> list[str]:
    chosen: dict[str, None] = {}
    for item in _items(attribute, given):
        try:
            chosen[_choice(attribute, item)] = None
        except _Refused as refused:
            dropped.append(DroppedValue(attribute.id, item, refused.code, refused.reason))
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
        raise _Refused("wrong_type", f"{attribute.name} takes one of its values, as text.")
    text = text.strip()
    allowed = attribute.choice(text)
    if allowed is None:
        raise _Refused("not_allowed", f"{attribute.name} has no value “{text[:80]}”.")
    return allowed


def _number(attribute: Attribute, given: Any) -> int | float:
    if isinstance(given, str) and NUMBER.fullmatch(given.strip()):
        given = float(given.strip())
    if not _is_number(given):
        raise _Refused("wrong_type", f"{attribute.name} takes a number.")
    if not abs(given) <= LARGEST_NUMBER:  # Nor is NaN; a whole number may be too large for a float.
        raise _Refused("out_of_range", f"{attribute.name} takes a number within ±10¹⁵.")
    low, high = attribute.validation.min_value, attribute.validation.max_value
    if low is not None and given < low:
        raise _own(attribute, "too_small", f"{attribute.name} must be at least {_bound(attribute, low)}.")
    if high is not None and given > high:
        raise _own(attribute, "too_large", f"{attribute.name} must be at most {_bound(attribute, high)}.")
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
    raise _Refused("wrong_type", f"{attribute.name} takes yes or no.")


def _string(attribute: Attribute, given: Any) -> str:
    text = _number_text(given) if _is_number(given) else given
    if not isinstance(text, str):
        raise _Refused("wrong_type", f"{attribute.name} takes a text.")
    text = text.strip()
    _check_length(attribute, text)
    if UNPRINTABLE_IN_BLOCK.search(text):
        raise _Refused("unprintable", f"{attribute.name} contains characters that cannot be shown.")
    pattern = attribute.validation.pattern
    if pattern and not matches_whole(pattern, text):
        raise _own(attribute, "pattern", f"{attribute.name} does not have the form that is asked for.")
    return text


def _check_length(attribute: Attribute, text: str) -> None:
    rules = attribute.validation
    longest = LONGEST_VALUE if rules.max_length is None else min(rules.max_length, LONGEST_VALUE)
    if rules.min_length is not None and len(text) < rules.min_length:
        raise _own(attribute, "too_short", f"{attribute.name} needs at least {rules.min_length} characters.")
    if len(text) > longest:
        raise _own(attribute, "too_long", f"{attribute.name} takes at most {longest:,} characters.")


def _own(attribute: Attribute, code: str, reason: str) -> _Refused:
    """Return the refusal for a broken rule, with the taxonomy's own message where it has one."""
    return _Refused(code, attribute.validation.error_message or reason)


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

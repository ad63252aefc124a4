"""Typed attributes of a level, with rules for their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class AttributeType(StrEnum):
    STRING = "STRING"
    NUMBER = "NUMBER"
    BOOLEAN = "BOOLEAN"
    SINGLE_SELECT = "SINGLE_SELECT"
    MULTI_SELECT = "MULTI_SELECT"

    @property
    def is_choice(self) -> bool:
        return self in (AttributeType.SINGLE_SELECT, AttributeType.MULTI_SELECT)

    @property
    def has_named_values(self) -> bool:
        """Whether the values are names that a page can be about, which yes, no and numbers are not."""
        return self not in (AttributeType.BOOLEAN, AttributeType.NUMBER)


@dataclass(frozen=True, slots=True)
class Validation:
    """Bounds of a value. Lengths count code points; `pattern` (RE2) must match the whole value."""

    mandatory: bool = False
    min_length: int | None = None
    max_length: int | None = None
    min_value: float | None = None
    max_value: float | None = None
    pattern: str | None = None
    error_message: str | None = None

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Validation:
        return cls(
            mandatory=bool(stored.get("mandatory")),
            min_length=stored.get("minLength"),
            max_length=stored.get("maxLength"),
            min_value=stored.get("minValue"),
            max_value=stored.get("maxValue"),
            pattern=stored.get("pattern"),
            error_message=stored.get("errorMessage"),
        )


NO_RULES = Validation()


@dataclass(frozen=True, slots=True)
class Attribute:
    """A typed attribute. `allowed_values` holds the choices of a choice attribute in their order and is empty for the
    others. `display_label` takes the place of the name on product pages, `unit` is that of a number. `former` maps
    former words of its choices to the present ones; only a tree for classifying has it
    (app/domain/taxonomy/products/former_words.py)."""

    id: str
    name: str
    type: AttributeType
    allowed_values: tuple[str, ...] = ()
    validation: Validation = NO_RULES
    display_on_product_page: bool = False
    display_label: str | None = None
    display_order: int = 0
    help_text: str | None = None
    unit: str | None = None
    former: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def label(self) -> str:
        return self.display_label or self.name

    @property
    def mandatory(self) -> bool:
        return self.validation.mandatory

    def choice(self, text: str) -> str | None:
        """Return the allowed value that a text means, in its own spelling; None for no allowed value. An allowed value
        means itself, even where it was the former word of another."""
        if text in self.allowed_values:
            return text
        return self._spelled(text, self.allowed_values) or self._renamed(text)

    def _renamed(self, text: str) -> str | None:
        if not self.former:
            return None
        former = text if text in self.former else self._spelled(text, self.former)
        renamed = self.former[former] if former is not None else None
        return renamed if renamed in self.allowed_values else None

    @staticmethod
    def _spelled(text: str, words: Iterable[str]) -> str | None:
        folded = text.casefold()
        return next((word for word in words if word.casefold() == folded), None)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Attribute:
        """Read an attribute from the stored form, which has the specification's field names."""
        return cls(
            id=stored["attributeId"],
            name=stored["name"],
            type=AttributeType(stored["type"]),
            allowed_values=tuple(stored.get("allowedValues") or ()),
            validation=Validation.read(rules) if (rules := stored.get("validation")) else NO_RULES,
            display_on_product_page=bool(stored.get("displayOnProductPage")),
            display_label=stored.get("displayLabel"),
            display_order=stored.get("displayOrder") or 0,
            help_text=stored.get("helpText"),
            unit=stored.get("unit"),
        )

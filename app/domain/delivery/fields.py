"""The kinds of fields that delivery alone has: amounts, countries, the steps of a rate. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from app.domain.delivery.countries import NAMES, in_order
from app.domain.shared.money import LARGEST
from app.domain.shared.problems import Problem
from app.domain.shared.record_fields import ListField, RecordField
from app.domain.shared.schema import Many, Record, Strict, Whole

MOST_STEPS = 12
STEP = Record(upTo=Whole(allow_none=True), price=Whole(required=True))


@dataclass(frozen=True, slots=True)
class WholeField(RecordField):
    """A whole number from `least` to LARGEST, or None where the record's default is None."""

    json_type: ClassVar[Any] = int | None
    least: int = 0
    is_nullable: bool = False

    def schema(self) -> Strict:
        return Whole(allow_none=True)

    def problems(self, value: int | None) -> list[Problem]:
        if (value is None and self.is_nullable) or (value is not None and self.least <= value <= LARGEST):
            return []
        message = f"The {self.label} must be from {self.least:,} to {LARGEST:,}."
        return [Problem("out_of_range", message, f"#/{self.key}")]


@dataclass(frozen=True, slots=True)
class CountriesField(ListField):
    """Codes of countries, by the names of these."""

    def tidy(self, value: tuple[str, ...]) -> tuple[str, ...]:
        codes = [code.strip().upper() for code in value]
        return (*in_order(codes), *dict.fromkeys(code for code in codes if code not in NAMES))

    def problems(self, value: tuple[str, ...]) -> list[Problem]:
        pointer = f"#/{self.key}"
        if not value:
            return [Problem("required", "Choose at least one country.", pointer)]
        unknown = [code for code in value if code not in NAMES]
        if not unknown:
            return []
        message = f"“{unknown[0][:40]}” is no country’s code; codes are those of ISO 3166-1, such as GB."
        return [Problem("unknown_country", message, pointer)]


@dataclass(frozen=True, slots=True)
class RateStep:
    """A step of a rate: the price in minor units up to a weight in grams or a value in minor units, that included;
    None has no end."""

    up_to: int | None
    price: int


@dataclass(frozen=True, slots=True)
class StepsField(RecordField):
    """The steps of a rate, the smallest first."""

    json_type: ClassVar[Any] = list[dict[str, int | None]]

    def schema(self) -> Strict:
        return Many(STEP, MOST_STEPS)

    def of_json(self, raw: Sequence[Mapping[str, Any]]) -> tuple[RateStep, ...]:
        return tuple(RateStep(step.get("upTo"), step["price"]) for step in raw)

    def as_json(self, value: tuple[RateStep, ...]) -> list[dict[str, int | None]]:
        return [{"upTo": step.up_to, "price": step.price} for step in value]

    def problems(self, value: tuple[RateStep, ...]) -> list[Problem]:
        found = []
        for place, step in enumerate(value):
            at = f"#/{self.key}/{place}"
            if not 0 <= step.price <= LARGEST:
                found.append(Problem("out_of_range", "A price of delivery must not be negative.", f"{at}/price"))
            if step.up_to is None and place < len(value) - 1:
                found.append(Problem("not_last", "Only the last step may be without an end.", f"{at}/upTo"))
            elif step.up_to is not None and not 0 < step.up_to <= LARGEST:
                found.append(Problem("out_of_range", "A step must end above zero.", f"{at}/upTo"))
            elif place and not _follows(value[place - 1], step):
                found.append(Problem("not_ascending", "Each step must end above the one before.", f"{at}/upTo"))
        return found

    def describe(self, raw: Sequence[Mapping[str, Any]] | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: list(raw or ())}


def _follows(before: RateStep, step: RateStep) -> bool:
    return step.up_to is None or before.up_to is None or step.up_to > before.up_to

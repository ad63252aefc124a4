"""What the delivery of a shop consists of, declared once: form, stored record, bundle, activity log and undo read the
declaration. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, ClassVar
from zoneinfo import ZoneInfo

from app.domain.delivery.countries import describe_countries, in_order
from app.domain.delivery.fields import CountriesField, RateStep, StepsField, WholeField
from app.domain.shared.money import format_money
from app.domain.shared.problems import Problem
from app.domain.shared.record_fields import (
    BlockField,
    ChoiceField,
    DeclaredRecord,
    RecordField,
    SwitchField,
    TextField,
    fields_of,
)
from app.domain.shared.schema import Many, Strict

MOST_METHODS = 12
LONGEST_METHOD = 60
LONGEST_DAYS = 80
LONGEST_INSTRUCTIONS = 1_000
DEFAULT_WEIGHT = 500  # Grams.


class RateKind(StrEnum):
    """What the price of a method depends on."""

    FLAT = "flat"
    WEIGHT = "weight"
    VALUE = "value"


class DeliveryPayment(StrEnum):
    """How an order that is delivered is paid: to whoever brings it, or by bank transfer before it is sent."""

    ON_DELIVERY = "onDelivery"
    IN_ADVANCE = "inAdvance"


class WeightUnit(StrEnum):
    GRAMS = "g"
    KILOGRAMS = "kg"
    OUNCES = "oz"
    POUNDS = "lb"


RATE_LABELS: Mapping[RateKind, str] = {
    RateKind.FLAT: "One price",
    RateKind.WEIGHT: "By weight",
    RateKind.VALUE: "By value of the goods",
}
PAYMENT_LABELS: Mapping[DeliveryPayment, str] = {
    DeliveryPayment.IN_ADVANCE: "In advance, by bank transfer",
    DeliveryPayment.ON_DELIVERY: "On delivery",
}
GRAMS: Mapping[WeightUnit, float] = {
    WeightUnit.GRAMS: 1,
    WeightUnit.KILOGRAMS: 1_000,
    WeightUnit.OUNCES: 28.349523125,
    WeightUnit.POUNDS: 453.59237,
}


@dataclass(frozen=True, slots=True)
class DeliveryMethod(DeclaredRecord):
    """A method of delivery; its name is unlike that of every other. `steps` are of weights or values; a flat rate has
    one without end. From goods of `free_from` on, in minor units, it costs nothing; None: it always costs."""

    name: Annotated[str, TextField("name", longest=LONGEST_METHOD, is_required=True)]
    rate: Annotated[RateKind, ChoiceField("rate", choices=tuple(RateKind), kind=RateKind)] = RateKind.FLAT
    steps: Annotated[tuple[RateStep, ...], StepsField("steps")] = ()
    free_from: Annotated[int | None, WholeField("value from which it is free", least=1, is_nullable=True)] = None
    countries: Annotated[tuple[str, ...], CountriesField("countries")] = ()
    days: Annotated[str, TextField("expected time", longest=LONGEST_DAYS)] = ""
    payment: Annotated[
        DeliveryPayment, ChoiceField("payment", choices=tuple(DeliveryPayment), kind=DeliveryPayment)
    ] = DeliveryPayment.IN_ADVANCE

    @property
    def is_paid_in_advance(self) -> bool:
        return self.payment is DeliveryPayment.IN_ADVANCE

    @property
    def is_free(self) -> bool:
        """Whether it costs nothing, whatever is delivered."""
        return not any(step.price for step in self.steps)

    @property
    def free_above(self) -> int | None:
        """The value of goods above which the last step of a rate by value costs nothing; None where it is not so."""
        is_so = self.rate is RateKind.VALUE and len(self.steps) > 1 and not self.steps[-1].price
        return self.steps[-2].up_to if is_so else None

    @property
    def least_price(self) -> int:
        """The lowest price of its steps, but for the last one where that is free, of which `free_above` tells."""
        steps = self.steps if self.free_above is None else self.steps[:-1]
        return min(step.price for step in steps)


def method_problems(method: DeliveryMethod) -> list[Problem]:
    """Return the problems of a method that is tidied, as pointers of its own."""
    found = [problem for each in fields_of(DeliveryMethod) for problem in each.problems(getattr(method, each.name))]
    steps = method.steps
    if not steps:
        found.append(Problem("required", "Enter what delivery costs.", "#/steps/0/price"))
    elif method.rate is RateKind.FLAT and (len(steps) > 1 or steps[0].up_to is not None):
        found.append(Problem("flat_rate", "A rate of one price has one step, without an end.", "#/steps"))
    if method.rate is RateKind.WEIGHT:
        for place, (before, step) in enumerate(pairwise(steps), start=1):
            if step.price < before.price:
                message = "What weighs more must not cost less than the step before."
                found.append(Problem("falling_price", message, f"#/steps/{place}/price"))
    return found


@dataclass(frozen=True, slots=True)
class MethodsField(RecordField):
    """The methods of delivery in the order in which shoppers see them."""

    json_type: ClassVar[Any] = list[dict[str, Any]]

    def schema(self) -> Strict:
        return Many(DeliveryMethod.schema(), MOST_METHODS)

    def of_json(self, raw: Sequence[Mapping[str, Any]]) -> tuple[DeliveryMethod, ...]:
        return tuple(map(DeliveryMethod.of_json, raw))

    def as_json(self, value: tuple[DeliveryMethod, ...]) -> list[dict[str, Any]]:
        return [method.as_json() for method in value]

    def tidy(self, value: tuple[DeliveryMethod, ...]) -> tuple[DeliveryMethod, ...]:
        return tuple(method.tidied() for method in value)

    def problems(self, value: tuple[DeliveryMethod, ...]) -> list[Problem]:
        if len(value) > MOST_METHODS:
            message = f"There may be {MOST_METHODS} methods of delivery at most."
            return [Problem("too_many", message, f"#/{self.key}")]
        found, names = [], set()
        for place, method in enumerate(value):
            at = f"#/{self.key}/{place}"
            found += [replace(one, pointer=at + one.pointer.removeprefix("#")) for one in method_problems(method)]
            if method.name.casefold() in names:
                found.append(Problem("repeated_name", f"There is another method “{method.name}”.", f"{at}/name"))
            names.add(method.name.casefold())
        return found

    def describe(self, raw: Sequence[Mapping[str, Any]] | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: [method.get("name") for method in raw or ()]}


@dataclass(frozen=True, slots=True)
class Delivery(DeclaredRecord):
    """How what is ordered reaches its shopper; a new shop offers collection alone. `weight_attribute` is the id of the
    attribute that holds the weight of a product, in `weight_unit`; a product without one counts `default_weight`, in
    grams. `payment_instructions` say how to pay in advance."""

    collection: Annotated[bool, SwitchField("no collection")] = True
    methods: Annotated[tuple[DeliveryMethod, ...], MethodsField("methods of delivery")] = ()
    weight_attribute: Annotated[str, TextField("attribute of the weight", longest=100)] = ""
    weight_unit: Annotated[
        WeightUnit, ChoiceField("unit of the weight", choices=tuple(WeightUnit), kind=WeightUnit)
    ] = WeightUnit.GRAMS
    default_weight: Annotated[int, WholeField("weight of other products", least=1)] = DEFAULT_WEIGHT
    payment_instructions: Annotated[str, BlockField("payment instructions", longest=LONGEST_INSTRUCTIONS)] = ""

    def method(self, name: str) -> DeliveryMethod | None:
        return next((method for method in self.methods if method.name == name), None)

    @property
    def countries(self) -> tuple[str, ...]:
        """The countries to which any method delivers."""
        return in_order(code for method in self.methods for code in method.countries)

    @property
    def cheapest(self) -> DeliveryMethod | None:
        """The method with the lowest price; None without methods."""
        return min(self.methods, key=lambda method: method.least_price, default=None)

    @property
    def weighs(self) -> bool:
        """Whether any price depends on the weight."""
        return any(method.rate is RateKind.WEIGHT for method in self.methods)


COLLECTION_ONLY = Delivery()


def delivery_problems(delivery: Delivery) -> list[Problem]:
    """Return all problems of what is tidied."""
    found = [problem for each in fields_of(Delivery) for problem in each.problems(getattr(delivery, each.name))]
    return [*found, *_further_problems(delivery)]


def _further_problems(delivery: Delivery) -> Iterator[Problem]:
    if not delivery.collection and not delivery.methods:
        message = "Without collection and without a method of delivery, nothing could be ordered."
        yield Problem("nothing_offered", message, "#/collection")
    if not delivery.payment_instructions and any(method.is_paid_in_advance for method in delivery.methods):
        message = "Say how to pay in advance: the account, and what to name with the transfer."
        yield Problem("required", message, "#/paymentInstructions")


def describe_delivery(delivery: Delivery, currency: str) -> dict[str, str]:
    """Return what is offered in words, for the activity log: each method under its name."""
    weight = f"{delivery.weight_attribute} in {delivery.weight_unit}" if delivery.weight_attribute else "none"
    return {
        "collection": "yes" if delivery.collection else "no",
        "weight from": f"{weight}, else {delivery.default_weight} g",
        "payment instructions": delivery.payment_instructions,
        **{f"method {method.name}": _describe_method(method, currency) for method in delivery.methods},
    }


def _describe_method(method: DeliveryMethod, currency: str) -> str:
    free = f", free from {format_money(method.free_from, currency)}" if method.free_from else ""
    parts = (
        f"{', '.join(_describe_step(method.rate, step, currency) for step in method.steps)}{free}",
        f"to {describe_countries(method.countries)}",
        method.days,
        PAYMENT_LABELS[method.payment].lower(),
    )
    return "; ".join(filter(None, parts))


def _describe_step(rate: RateKind, step: RateStep, currency: str) -> str:
    price = format_money(step.price, currency)
    if rate is RateKind.FLAT:
        return price
    if step.up_to is None:
        return f"above that {price}"
    end = f"{step.up_to} g" if rate is RateKind.WEIGHT else format_money(step.up_to, currency)
    return f"up to {end} {price}"
